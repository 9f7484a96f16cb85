#!/usr/bin/env python3
"""The page of `heed tour --html` in headless Chromium: what it computes, against the engine.

    tour_check.py HEED

Every value that the page's code computes for the inputs as they are, and for inputs that were typed into the page,
agrees with `heed tour STEP --json` within 1e-5. Exits with 77, which ctest shows as skipped, where there is no Chromium.
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[3] / "tools"), str(HERE.parent / "explain")]
from browser import Browser, find_browser  # noqa: E402
from explain_check import as_number, write_tensors  # noqa: E402

failures, numbers = [], 0


def check(right, what):
    if not right:
        failures.append(what)


def flat(value):
    return [one for item in value for one in flat(item)] if isinstance(value, list) else [as_number(value)]


def compare(what, mine, engine):
    """Two values, nested lists of numbers or, from JSON, of "nan" and "-inf"."""
    global numbers
    if isinstance(engine, str) and engine not in ("nan", "inf", "-inf"):
        return
    ours, theirs = flat(mine), flat(engine)
    check(len(ours) == len(theirs), f"{what}: {len(ours)} numbers, the engine has {len(theirs)}")
    for a, b in zip(ours, theirs):
        near = a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-5 * max(1, abs(b))
        check(near, f"{what}: {a}, the engine has {b}")
        numbers += 1


# Names and values of a step; JSON has no infinity.
COMPUTED = """(() => { const words = (x) => Array.isArray(x) ? x.map(words) : typeof x === 'number' ? String(x) : x;
  const step = data.steps.find((one) => one.name === %s);
  return words(Object.entries(lesson(step, inputs))); })()"""


def computed(browser, step):
    return dict(browser.evaluate(COMPUTED % json.dumps(step)))


def engine_steps(heed, names, *more):
    for name in names:
        done = subprocess.run([heed, "tour", name, "--json", *map(str, more)], check=True, capture_output=True, text=True)
        yield name, json.loads(done.stdout)


def check_values(browser, heed, steps, *more):
    """The page with its inputs as they are now, and the engine with the same."""
    for step, values in engine_steps(heed, [one["name"] for one in steps], *more):
        mine = computed(browser, step)
        shown = list(browser.evaluate(f"data.steps.find((one) => one.name === {json.dumps(step)}).values"))
        check(len(values) == len(shown), f"{step}: {len(shown)} values on the page, the engine has {len(values)}")
        # Keys of the reference file have other names, in the same order. Times (_us) differ from run to run.
        for name, value in zip(shown, values.values()):
            if not name.endswith("_us") and not (isinstance(value, str) and value not in ("nan", "inf", "-inf")):
                compare(f"{step}.{name}", mine[name], value)


def type_inputs(browser, rows):
    for at, value in enumerate(value for row in rows for value in row):
        browser.evaluate(f"(() => {{ const field = document.querySelectorAll('.inputs input')[{at}]; field.value = {value};"
                         " field.dispatchEvent(new Event('input')); })()")


def main(heed):
    if not find_browser():
        print("skipped: there is no chromium; tools/setup.sh --dev installs it")
        return 77
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        folder = pathlib.Path(name)
        page = folder / "tour.html"
        subprocess.run([heed, "tour", "--html", page], check=True, capture_output=True)
        for width, dark in [(390, True), (1300, False)]:
            browser.open(page.as_uri(), width=width, dark=dark)
            browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}")
        steps = browser.evaluate("data.steps")
        check(len(steps) == 41, f"{len(steps)} steps")
        check_values(browser, heed, steps)

        draw = random.Random(3)
        rows = [[round(draw.uniform(-1, 1), 2) for _ in range(3)] for _ in range(6)]
        type_inputs(browser, rows)
        shown = browser.evaluate("[...document.querySelectorAll('#all_words [data-value=attn_scores] tbody td')].map((cell) => cell.textContent)")
        scores = [sum(a * b for a, b in zip(one, other)) for one in rows for other in rows]
        check(len(shown) == 36 and all(abs(as_number(a.replace("−", "-")) - b) < 1e-4 for a, b in zip(shown, scores)),
              "the tables do not follow the inputs")
        # Those with changed inputs, without the sentences, whose words are then "token 1" and so on.
        write_tensors(folder / "x.safetensors", {"x": ("F32", [6, 3], [value for row in rows for value in row])})
        check_values(browser, heed, steps, "--inputs", folder / "x.safetensors")

        type_inputs(browser, [["''", 1, 1]])
        check(browser.evaluate("document.querySelector('.inputs input').getAttribute('aria-invalid')") == "true", "nothing is taken for a number")
        check(not browser.complaints, f"the browser complains: {browser.complaints[:3]}")
        check(browser.requests == [page.as_uri()], f"requests {browser.requests}")
    print("\n".join(failures[:40]))
    print(f"{numbers} numbers compared, {len(failures)} things wrong")
    return 1 if failures or numbers < 2000 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
