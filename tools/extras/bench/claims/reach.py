"""How the gradient of the answer fades with the distance: `heed probe RUN reach`, its bands and its picture."""
import json
import math
import statistics

from claims.pages import CONFIGS
from claims.recall import UNIFORM

# Means over eight distances of the gradient's norm, as shares of the first: so many words before the question.
BANDS = {"near": range(1, 9), "middle": range(29, 37), "far": range(57, 65)}
BEHIND = 2  # tokens that are no such word: the question and the end of the text
WHEN = {"as_drawn": "before training", "trained": "after training"}
COLOURS = (("#2564cf", "#7fa8ff"), ("#b0560a", "#f2a05c"), ("#1f7a49", "#6cc796"), ("#b3188f", "#f27ad6"), ("#6d6a63", "#9b978d"))
LEAST = 1e-6  # where the picture ends
LINES = ["".join(f".heed .c{i}{{stroke:{pair[dark]}}}" for i, pair in enumerate(COLOURS)) for dark in (0, 1)]
STYLE = f"""<style>
.heed .paper{{fill:#fbfaf7}}.heed text{{fill:#1d1c1a}}.heed .line{{stroke:#cfcabd}}{LINES[0]}
@media (prefers-color-scheme:dark){{.heed .paper{{fill:#161513}}.heed text{{fill:#ece9e2}}.heed .line{{stroke:#4a463e}}{LINES[1]}}}
</style>"""


def bands(heed, run):
    """{band: its share} and the norms by distance, 0 being the word before the question."""
    norms = json.loads(heed("probe", run, "reach", "--examples", UNIFORM, "--json"))["gradient_norm"][BEHIND:]
    means = {name: statistics.mean(norms[k] for k in distances) for name, distances in BANDS.items()}
    return {name: mean / means["near"] for name, mean in means.items()}, norms


def pen(i):
    """Of the line of model i: its colour, and dashes once all colours were used."""
    return f'fill="none" stroke-width="2" class="c{i % len(COLOURS)}"' + (' stroke-dasharray="6 4"' if i >= len(COLOURS) else "")


def panel(title, curves, x):
    """A plot with a logarithmic axis, its left edge at x. curves: {name: norms}, each relative to its near band."""
    width, height, top = 330, 220, 40
    at = lambda k, share: (x + 40 + k / 66 * width, top + math.log10(min(2, max(LEAST, share)) / 2) / math.log10(LEAST / 2) * height)
    out = [f'<text x="{x + 40}" y="22" font-size="15" font-weight="600">{title}</text>']
    for power in range(0, -7, -2):
        y = at(0, 10.0**power)[1]
        out.append(f'<path class="line" d="M{x + 40} {y:.1f}h{width}"/><text x="{x + 34}" y="{y + 4:.1f}" text-anchor="end">'
                   f'{"1" if power == 0 else f"1e{power}"}</text>')
    out += [f'<text x="{at(k, 1)[0]:.1f}" y="{top + height + 20}" text-anchor="middle">{k}</text>' for k in (0, 16, 32, 48, 64)]
    for i, (_, norms) in enumerate(curves.items()):
        near = statistics.mean(norms[k] for k in BANDS["near"])
        points = " ".join("{:.1f},{:.1f}".format(*at(k, norms[k] / near)) for k in range(len(norms)))
        out.append(f'<polyline points="{points}" {pen(i)}/>')
    return out, x + 40 + width + 20, top + height + 30


def legend(names, x, y):
    out = []
    for i, name in enumerate(names):
        place = y + 24 * i
        out.append(f'<path d="M{x} {place}h26" {pen(i)}/><text x="{x + 34}" y="{place + 4}">{name}</text>')
    return out


def draw(results):
    """Writes the picture. results: {name on it: a result for each seed}. Curves are geometric means over the seeds."""
    def curve(runs, when):
        return [math.exp(statistics.mean(math.log(max(norm, 1e-30)) for norm in of))
                for of in zip(*(run[f"norms_{when}"] for run in runs))]

    x, body = 16, []
    for when, title in WHEN.items():
        part, x, bottom = panel(title, {name: curve(runs, when) for name, runs in results.items()}, x)
        body += part
    body += legend(results, x, 60)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x + 230} {bottom}" width="{x + 230}" height="{bottom}" '
           'font-family="sans-serif" font-size="13" class="heed" role="img" aria-label="The gradient by distance, a line a model">',
           STYLE, f'<rect width="{x + 230}" height="{bottom}" rx="8" class="paper"/>', *body, "</svg>"]
    (CONFIGS / "pictures/reach.svg").write_text("\n".join(svg) + "\n")
