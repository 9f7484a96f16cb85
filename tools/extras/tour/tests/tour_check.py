#!/usr/bin/env python3
"""The page of `heed tour --html` in headless Chromium: what it computes, against the engine.

    tour_check.py HEED

Every value that the page's code computes for the inputs as they are, and for inputs that were typed into the page,
agrees with `heed tour STEP --json` within 1e-5, and the tables of each step show it. Dragging, the arrow keys, the
addresses and "back" do what they say; no text is smaller than 12 px and nothing scrolls sideways.
Exits with 77, which ctest shows as skipped, where there is no Chromium.
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[3] / "tools"), str(HERE.parents[1] / "explain/tests")]
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


def open_step(browser, name):
    browser.evaluate(f"location.hash = {json.dumps(name)}; new Promise((done) => setTimeout(done, 50))")
    check(browser.evaluate("document.querySelector('main article').id") == name, f"#{name} shows another step")


# The values that are tables with all their columns on the screen, each with the texts of its cells.
SHOWN = """[...document.querySelectorAll('main figure[data-value]')].map((figure) => {
  const product = figure.querySelector('.scheme'), cells = figure.querySelectorAll(product ? 'td.result' : '.tensor tbody td');
  return [figure.dataset.value, figure.querySelector('.pager') ? [] : [...cells].map((cell) => cell.textContent)]; })"""


def check_shown(browser, step):
    """What the tables of the step on the screen show, to their four digits."""
    global numbers
    values = computed(browser, step)
    for name, texts in browser.evaluate(SHOWN):
        if not texts:
            continue
        ours = [as_number(text.replace("−", "-").replace("∞", "inf") or "0") for text in texts]
        theirs = flat(values[name])
        check(len(ours) == len(theirs), f"{step}.{name} shows {len(ours)} numbers of {len(theirs)}")
        for a, b in zip(ours, theirs):
            check(a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) < 5.1e-5, f"{step}.{name} shows {a} for {b}")
            numbers += 1


SMALLEST = """Math.min(...[...document.querySelectorAll('body *')].filter((one) => one.getClientRects().length &&
  [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((one) => parseFloat(getComputedStyle(one).fontSize)))"""


def check_every_step(browser, width):
    for name in ["overview", *browser.evaluate("data.steps.map((step) => step.name)")]:
        open_step(browser, name)
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than {width}")
        check(browser.evaluate(SMALLEST) >= 12, f"{name}: text of {browser.evaluate(SMALLEST)} px at {width}")
        if name != "overview" and width > 1000:
            check_shown(browser, name)


def check_figures(browser, page):
    """Curves and bars, no backticks, token ids without shades, and a title that is not below the bar of a phone."""
    for name in browser.evaluate("data.steps.map((step) => step.name)"):
        open_step(browser, name)
        check("`" not in browser.evaluate("document.querySelector('main').textContent"), f"{name} shows a backtick")
    for name, figure in [("gelu", ".curve.dashed"), ("loss", ".curve"), ("weights", ".curve"), ("weights", ".share-bars"), ("temperature", ".share-bars")]:
        open_step(browser, name)
        check(browser.evaluate(f"document.querySelector('{figure}')?.getBoundingClientRect().width > 100"), f"{name} has no {figure}")
    open_step(browser, "loss")
    check(browser.evaluate("new Set([...document.querySelectorAll('[data-value=targets] td')].map((one) => one.className)).size") == 1, "an id is shaded")
    open_step(browser, "gradient_step")
    check(browser.evaluate("[...document.querySelectorAll('td.a, td.b, td.result')].filter((one) => /^−?0[.]0+$/.test(one.textContent)).length") == 0, "gradients of 0.00")
    check("all gradients of this step agree" in browser.evaluate("document.querySelector('main').textContent"), "the gradients are not checked")
    browser.evaluate("changeInput(0, 0, 30)")
    check("too coarse" in browser.evaluate("document.querySelector('main').textContent"), "h = 1/16 is not too coarse for 30")
    browser.evaluate("changeInput(0, 0, 0.43)")
    browser.open(page.as_uri() + "?phone#causal", width=390)
    box = browser.evaluate("[document.querySelector('#side'), document.querySelector('main h1')].map((one) => one.getBoundingClientRect())"
                           ".map((box) => [box.top, box.bottom])")
    check(box[0][1] <= box[1][0], f"the title is below the bar: {box}")
    check("?big" in browser.evaluate("document.querySelector('footer').textContent"), "the page does not tell of ?big")
    check("arrow keys" in browser.evaluate("document.querySelector('.turn').textContent"), "the page does not tell of the arrow keys")
    for width in (390, 1920):
        browser.open(page.as_uri() + f"?big&{width}#gradient_step", width=width)
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"?big is wider than {width}")
        check(browser.evaluate(SMALLEST) >= 15, f"?big has text of {browser.evaluate(SMALLEST)} px")


def check_backward(browser):
    """Every gradient follows a number that is dragged, none of them shows fewer than three digits, and differences agree."""
    for name in browser.evaluate("data.steps.filter(isBackward).map((step) => step.name)"):
        open_step(browser, name)
        rough = browser.evaluate("[...document.querySelectorAll('main .scheme td, main .tensor tbody td, main .flow td')].map((one) => one.textContent)"
                                 ".filter((text) => !/^(=?|0|1|−∞|\\d+)$/.test(text) && text.replace(/e.*/, '').replace(/[−.]/g, '').replace(/^0+/, '').length < 3)")
        check(not rough, f"{name} shows {rough[:3]}")
        before, wrong = computed(browser, name), name == "planted_mistakes"
        browser.evaluate("changeInput(1, 0, 0.95)")
        after = computed(browser, name)
        browser.evaluate("changeInput(1, 0, 0.55)")
        moved = [key for key in before if key.endswith("_check") and before[key] != after[key]]
        check(len(moved) == sum(key.endswith("_check") for key in before), f"{name}: only {moved} follow")
        for key in moved:
            gap = max(abs(a - b) for a, b in zip(flat(after[key]), flat(after[key[:-6]])))
            check(gap > 1e-3 if wrong else gap < 1e-8, f"{name}.{key}: differences are {gap} from the gradient")
    open_step(browser, "layer_norm_backward")
    check(browser.evaluate("document.querySelectorAll('.plane line.downhill').length") == 5, "no arrows against the gradient")


def check_first_screen(browser):
    """Words, contents and W_query with its product are on the first screen of 1280 x 900."""
    seen = browser.evaluate("""['#contents a', '.inputs tbody tr:last-child', '.plane svg', '.scheme th.query', '.scheme tr:last-child td.result', '.sum', '.turn a']
      .map((one) => [one, document.querySelector('main')?.parentNode.querySelector(one)?.getBoundingClientRect().bottom ?? 1e9])""")
    for what, bottom in seen:
        check(bottom <= 900, f"{what} ends at {bottom} px")


def mouse(browser, kind, x, y):
    browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)


def check_hands(browser):
    """Pointer and keys: a number and an arrow are dragged, a product shows its terms, steps follow each other."""
    open_step(browser, "overview")
    middle = "(() => { const box = document.querySelector('%s').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    for what, by in [(".inputs input", 30), (".plane circle.query", 40)]:
        before = browser.evaluate("JSON.stringify(inputs)")
        x, y = browser.evaluate(middle % what)
        mouse(browser, "mousePressed", x, y)
        for part in (by / 2, by):
            mouse(browser, "mouseMoved", x + part, y)
        mouse(browser, "mouseReleased", x + by, y)
        check(browser.evaluate("JSON.stringify(inputs)") != before, f"{what} cannot be dragged")
    check(abs(browser.evaluate("inputs[0][0]") - 0.63) < 1e-6, "30 px to the right are 0.20")
    browser.evaluate("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Reset').click()")
    check(browser.evaluate("JSON.stringify(inputs) === JSON.stringify(data.inputs)"), "Reset leaves other inputs")
    open_step(browser, "all_words")
    browser.evaluate("document.querySelectorAll('[data-value=attn_scores] td.result')[7].dispatchEvent(new Event('pointerover', {bubbles: true}))")
    check(browser.evaluate("document.querySelector('[data-value=attn_scores] .sum').textContent")
          == "attn_scores [journey, journey] = 0.55 × 0.55 + 0.87 × 0.87 + 0.66 × 0.66 = 1.4950", "the terms of a product")
    flashing = browser.evaluate("changeInput(0, 0, 0.5); document.querySelectorAll('[data-value=attn_scores] .flash').length")
    check(flashing == 13, f"{flashing} cells flash for an input, its place in both factors, a row and a column")
    browser.evaluate("changeInput(0, 0, 0.43); document.activeElement.blur()")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
    browser.evaluate("new Promise((done) => setTimeout(done, 100))")
    check(browser.evaluate("location.hash") == "#hello", "the right arrow is the next step")
    browser.evaluate("history.back(); new Promise((done) => setTimeout(done, 200))")
    check(browser.evaluate("document.querySelector('main article').id") == "all_words", "back leads to the step before")


def main(heed):
    if not find_browser():
        print("skipped: there is no chromium; tools/setup.sh --dev installs it")
        return 77
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        folder = pathlib.Path(name)
        page = folder / "tour.html"
        subprocess.run([heed, "tour", "--html", page], check=True, capture_output=True)
        for width, dark in [(390, True), (1280, False)]:
            browser.open(page.as_uri(), width=width, dark=dark)
            if width == 1280:
                check_first_screen(browser)
            check_every_step(browser, width)
        check_figures(browser, page)
        browser.open(page.as_uri(), width=1280)
        check_hands(browser)
        check_backward(browser)
        steps = browser.evaluate("data.steps")
        check(len(steps) == 49, f"{len(steps)} steps")
        check_values(browser, heed, steps)

        draw = random.Random(3)
        rows = [[round(draw.uniform(-1, 1), 2) for _ in range(3)] for _ in range(6)]
        type_inputs(browser, rows)
        open_step(browser, "all_words")
        shown = browser.evaluate("[...document.querySelectorAll('#all_words [data-value=attn_scores] td.result')].map((cell) => cell.textContent)")
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
    return 1 if failures or numbers < 7000 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
