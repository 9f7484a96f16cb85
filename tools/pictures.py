"""The pictures of the READMEs, made from runs.

    python3 tools/pictures.py [--heed build/release/heed] [--runs runs/pictures]

Trains the configs below, unless the folder of runs has them already, and writes configs/pictures/*.svg (forming.svg
moves), the map in configs/README.md as a terminal shows it, and, where there is a Chromium, pictures of a report, of an induction head as
it forms and of `heed explain`. Two minutes a config at most, on two cores; needs nothing but Python.
"""
import argparse
import functools
import html
import json
import pathlib
import re
import subprocess
import sys

from browser import Browser, find_browser

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURES = ROOT / "configs/pictures"
BEGIN, END = "<!-- maps: tools/pictures.py -->", "<!-- end of maps -->"

PRINTED = ("negation", 0, "Attention is not too shabby")  # config, layer, prompt
DRAWN = {  # title: config, layer, prompt; side by side in attention.svg
    "copy": ("copy", "decoder_blocks.0.cross_att", "7 3 3 21 0 14"),
    "reverse": ("reverse", "decoder_blocks.0.cross_att", "7 3 3 21 0 14"),
    "translate": ("reorder_translation", "decoder_blocks.1.cross_att", "Kannst du mir helfen diesen Satz zu übersetzen"),
}
MASKS = [("causal", ""), ("window: 3", ", window: 3"), ("window: 3, sinks: 1", ", window: 3, sinks: 1"),
         ("alibi, one of 4 heads", ", alibi: true")]  # in masks.svg: title, fields of multi_head_attention
EVALUATIONS = 12  # per run, to show how attention develops


def heed(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"heed {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def train(program, runs, config, evaluations=EVALUATIONS, steps=None):
    """The run of a config; of its first steps alone, if they are given."""
    run = runs / (f"{config}_{steps}" if steps else config)
    if not (run / "checkpoints").is_dir():
        print(f"training {config} ...", flush=True)
        path, = (path for folder in ("configs", "*/extras/*/configs") for path in ROOT.glob(f"{folder}/{config}.yaml"))
        steps = steps or int(re.search(r"(?m)^ +steps: (\d+)", path.read_text())[1])
        settings = [f"train.steps={steps}", f"eval.every={steps // evaluations}"]
        heed(program, "train", path, "--out", run, *(part for one in settings for part in ("--set", one)))
    return run


def terminal_map(program, runs):
    """For configs/README.md: the command and the map that it prints, of one layer."""
    config, layer, prompt = PRINTED
    shown = heed(program, "inspect", train(program, runs, config), "--attention", "--layer", layer, "--prompt", prompt)
    return f"\n```\n$ heed inspect runs/{config} --attention --layer {layer} --prompt '{prompt}'\n{shown}```"


def mean_map(program, run, layer, prompt):
    """Queries, keys, and the weights of a layer, the mean over its heads."""
    read = json.loads(heed(program, "inspect", run, "--attention", "--prompt", prompt, "--json"))
    found = next(one for one in read["layers"] if one["layer"] == layer)
    heads = found["weights"]
    weights = [[sum(head[t][s] for head in heads) / len(heads) for s in range(len(found["keys"]))]
               for t in range(len(found["queries"]))]
    return found["queries"], found["keys"], weights


# Those of tools/extras/report/pages/svg.cpp: as the reader's, light or dark.
STYLE = """<style>
.heed .paper{fill:#fbfaf7}.heed text{fill:#1d1c1a}.heed .field{fill:#f3f1ea}.heed .w{fill:#22211f}.heed .line{stroke:#cfcabd}
@media (prefers-color-scheme:dark){.heed .paper{fill:#161513}.heed text{fill:#ece9e2}.heed .field{fill:#232220}.heed .w{fill:#f4efe4}.heed .line{stroke:#4a463e}}
</style>
<pattern id="later" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="line" d="M0 0v6"/></pattern>"""


def panel(title, queries, keys, weights, x, hides=False):
    """One heat map as SVG, its upper left corner at x, and where the next may begin. hides: a weight of 0 is hidden by a mask."""
    cell, top, left, gap = 24, 120, 84, 36
    text = lambda at, more, words: f'<text {at} {more}>{html.escape(words)}</text>'
    out = [text(f'x="{x + left}" y="22"', 'font-size="15" font-weight="600"', title)]
    for s, key in enumerate(keys):
        place = x + left + (s + 0.65) * cell
        out.append(text(f'transform="translate({place:g},{top - 6}) rotate(-90)"', "", key))
    for t, (query, row) in enumerate(zip(queries, weights)):
        out.append(text(f'x="{x + left - 6}" y="{top + (t + 0.67) * cell:g}"', 'text-anchor="end"', query))
        for s, w in enumerate(row):
            cell_at = f'<rect x="{x + left + s * cell}" y="{top + t * cell}" width="{cell}" height="{cell}"'
            out.append(f'{cell_at} fill="url(#later)"/>' if hides and w == 0 else f'{cell_at} class="field"/>')
            out += [f'{cell_at} class="w" opacity="{w:.3g}"/>'] if w >= 0.005 else []
    return out, x + left + len(keys) * cell + gap, top + len(queries) * cell


def write_strip(name, label, panels):
    """Writes panels, each a function of its x, side by side as configs/pictures/NAME."""
    x, height, body = 16, 0, []
    for draw in panels:
        part, x, bottom = draw(x)
        body += part
        height = max(height, bottom + 16)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x} {height}" width="{x}" height="{height}" '
           f'font-family="sans-serif" font-size="13" class="heed" role="img" aria-label="{label}">', STYLE,
           f'<rect width="{x}" height="{height}" rx="8" class="paper"/>', *body, "</svg>"]
    (PICTURES / name).write_text("\n".join(svg) + "\n")


def draw_maps(program, runs):
    panels = [functools.partial(panel, title, *mean_map(program, train(program, runs, config), layer, prompt))
              for title, (config, layer, prompt) in DRAWN.items()]
    write_strip("attention.svg", "What is read for each word that is written: a diagonal, an anti-diagonal, a crossing",
                panels)


def draw_masks(program):
    """What may be seen, of a model that was not trained: scores are all 0."""
    panels = []
    for title, fields in MASKS:
        settings = [f"model.attention={{type: multi_head_attention, scale: 0{fields}}}", "model.position=none", "model.num_heads=4"]
        read = json.loads(heed(program, "inspect", ROOT / "train/extras/toy_tasks/configs/six_words.yaml", "--attention", "--json",
                               "--prompt", "Your journey starts with one step",
                               *(part for one in settings for part in ("--set", one))))
        layer = read["layers"][0]
        panels.append(functools.partial(panel, title, layer["queries"], layer["keys"], layer["weights"][0], hides=True))
    write_strip("masks.svg", "Which tokens see which: all before, a window, a window and a sink, less with the distance", panels)


def draw_forming(program, runs):
    heed(program, "report", train(program, runs, "copy", steps=240), "--animate", PICTURES / "forming.svg", "--layer", DRAWN["copy"][1])


def photograph(program, runs):
    with Browser() as browser:
        photograph_report(program, browser, train(program, runs, "quickstart"))
        photograph_induction(program, browser, train(program, runs, "induction", evaluations=40))
        photograph_explain(program, browser, train(program, runs, "quickstart"))


def photograph_induction(program, browser, run):
    heed(program, "report", run)
    browser.open((run / "report.html").resolve().as_uri(), width=1000, height=900)
    browser.evaluate("document.querySelectorAll('#heads figure:nth-of-type(n+3), #heads button, #heads h2, #heads p')"
                     ".forEach((part) => part.remove())")
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    browser.screenshot(PICTURES / "induction.png", "#heads")


def photograph_explain(program, browser, run):
    """The answer, all heads, and the terms of one weight: what fits on a README's first screen; light and dark."""
    page = run / "explain.html"
    heed(program, "explain", run, "--prompt", "ROMEO: What li", "--out", page)
    for name, dark in (("explain.png", False), ("explain_dark.png", True)):
        browser.open(page.resolve().as_uri(), width=1152, height=900, dark=dark)
        browser.evaluate("document.querySelectorAll('#map, .answer .controls, #heads p').forEach((part) => part.remove())")
        browser.evaluate("document.querySelector('.answer').style = 'grid-template-columns: 1fr 16rem'")
        browser.evaluate("document.querySelector('.walk').style = 'grid-template-columns: 35rem 22rem; width: 61rem; "
                         "height: 42.5rem; padding: 1rem; box-sizing: border-box; overflow: hidden'")
        browser.screenshot(PICTURES / name, ".walk")


def photograph_report(program, browser, run):
    """The first screen, once attention has formed."""
    heed(program, "report", run)
    browser.open((run / "report.html").resolve().as_uri(), width=1240, height=860)
    browser.evaluate("new Promise((done) => { const look = () => playing ? setTimeout(look, 100) : done(true); look(); })")
    browser.screenshot(PICTURES / "report.png", window=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=str(ROOT / "build/release/heed"))
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs/pictures")
    args = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    readme = ROOT / "configs/README.md"
    before, rest = readme.read_text().split(BEGIN)
    readme.write_text(f"{before}{BEGIN}{terminal_map(args.heed, args.runs)}\n{END}{rest.split(END)[1]}")
    draw_maps(args.heed, args.runs)
    draw_masks(args.heed)
    draw_forming(args.heed, args.runs)
    if find_browser():
        photograph(args.heed, args.runs)
    else:
        print("there is no chromium: configs/pictures/*.png stay as they are")


if __name__ == "__main__":
    main()
