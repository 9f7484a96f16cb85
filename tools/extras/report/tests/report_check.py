#!/usr/bin/env python3
"""report.html in a real browser: headless Chromium (Debian: chromium), without network.

    report_check.py HEED

Trains two small runs, opens their pages and the one of both side by side, and looks at what is on the screen: curves
and heat maps with something drawn in them, no complaint of the browser, no request, nothing of a hostile text run.
Exits with 77, which ctest shows as skipped, where there is no Chromium, or where heed was built without Vega.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from browser import Browser, find_browser  # noqa: E402

HOSTILE = "</script><img src=x onerror=hacked=1> & <b>"
CHARTS = ["loss", "targets-right", "learning-rate", "gradient-norm", "tokens-per-second"]
TITLES = ["loss (nats per token)", "of the validation set (%)", "learning rate",
          "gradient norm (before clipping)", "tokens per second"]
CONFIGS = {
    "hostile": f"""
data: {{type: text, path: text.txt}}
model: {{type: gpt, context_length: 32, d_model: 16, num_heads: 2, num_layers: 2}}
optimizer: {{type: adamw, lr: 1e-2}}
schedule: {{type: cosine, warmup_steps: 10}}
train: {{steps: 60, batch_size: 4, log_every: 5}}
eval: {{every: 10, batches: 1}}
sample: {{every: 20, prompt: "{HOSTILE}", tokens: 30}}
""",
    "reverse": """
data: {type: reverse, length: 6, min_length: 3, symbols: 9}
model: {type: encoder_decoder, d_model: 16, num_heads: 1, num_layers: 1}
optimizer: {type: adamw, lr: 1e-2}
schedule: {type: cosine, warmup_steps: 10}
train: {steps: 60, batch_size: 16, log_every: 5}
eval: {every: 20, batches: 1}
sample: {every: 20, prompt: "1 2 3 4 5"}
""",
    "labels": """
data: {type: labelled, path: labels.tsv, train_fraction: 0.5}
model: {type: classifier, d_model: 16, num_heads: 1, num_layers: 1}
train: {steps: 20, batch_size: 8}
eval: {every: 20}
"""}
# Of extras that this build may lack: the layer whose extra it is.
OF_EXTRAS = {
    "experts": ("mixture_of_experts", """
data: {type: text, path: text.txt}
model: {type: gpt, context_length: 16, d_model: 16, num_heads: 2, num_layers: 1, feed_forward: {type: mixture_of_experts, num_experts: 4}}
train: {steps: 20, batch_size: 4, log_every: 5}
eval: {every: 10, batches: 1}
"""),
    "pictures": ("encoder", f"""
data: {{type: images, path: {pathlib.Path(__file__).resolve().parents[4] / "train/extras/sequence_models/configs/digits.safetensors"}}}
model: {{type: encoder, patch_size: 2, context_length: 16, d_model: 16, num_heads: 2, num_layers: 2}}
train: {{steps: 20, batch_size: 8}}
eval: {{every: 10, batches: 1}}
"""),
    "points": ("vectors", f"""
data: {{type: vectors, path: {pathlib.Path(__file__).resolve().parents[4] / "tools/extras/own_data/configs/moons.safetensors"}}}
model: {{type: linear}}
train: {{steps: 20, batch_size: 100}}
""")}

# For each canvas, the number of different colours.
COLORS = """[...document.querySelectorAll('#attention canvas')].map((canvas) => {
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const colors = new Set();
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 250) colors.add(pixels.slice(i, i + 3).join());
  return colors.size;
})"""
PIXELS = "[...document.querySelectorAll('#attention canvas')].map((canvas) => canvas.toDataURL()).join()"
# The vertices of the curves in a chart, in its own coordinates.
POINTS = """[...document.querySelectorAll('#%s .mark-line path')].map((path) =>
  [...(path.getAttribute('d') || '').matchAll(/[ML](-?[\\d.]+),(-?[\\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]))"""

failures, checks = [], 0


def check(right, what):
    global checks
    checks += 1
    if not right:
        failures.append(what)


def text_of(browser, selector):
    return browser.evaluate(f"(document.querySelector({selector!r}) || {{textContent: ''}}).textContent")


def chart_box(browser, chart):
    return browser.evaluate(
        f"(() => {{ const e = document.querySelector('#{chart} svg'); e.scrollIntoView({{block: 'center', behavior: 'instant'}});"
        " const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()")


def quiet(browser, page, what):
    check(not browser.complaints, f"{what}: the browser complains: {browser.complaints[:3]}")
    check(browser.requests == [page.as_uri()], f"{what}: requests {browser.requests}")


def check_curves(browser, what, lines):
    for chart, title in zip(CHARTS, TITLES):
        curves = browser.evaluate(POINTS % chart)
        drawn = [curve for curve in curves if len(curve) >= 2 and len({y for _, y in curve}) >= 2]
        check(len(drawn) >= lines, f"{what}: {chart} has {len(drawn)} curves, expected {lines}")
        words = text_of(browser, f"#{chart} svg")
        check("step" in words and title in words and "e+" not in words, f"{what}: {chart} has no titles on its axes: {words[:80]}")


def check_interaction(browser):
    x, y, width, height = chart_box(browser, "loss")
    browser.mouse("mouseMoved", x + width * 0.5, y + height * 0.5)
    check(text_of(browser, "#loss .readout").startswith("step "), "no readout under the mouse")
    # Dragging one chart must change the x range of all. Waits until they have been drawn.
    domain = ("Promise.all(curveCharts.map((chart) => chart.view.runAsync())).then(() =>"
              " curveCharts.map((chart) => chart.view.signal('domain').map(Math.round).join()))")
    whole = browser.evaluate(domain)
    browser.mouse("mousePressed", x + width * 0.5, y + height * 0.5)
    browser.mouse("mouseMoved", x + width * 0.8, y + height * 0.5)
    browser.mouse("mouseReleased", x + width * 0.8, y + height * 0.5)
    zoomed = browser.evaluate(domain)
    check(len(set(zoomed)) == 1 and zoomed != whole, f"dragging zooms no chart, or not all: {whole} {zoomed}")
    browser.evaluate("document.querySelector('#loss .plot').focus()")
    browser.press("0")
    check(browser.evaluate(domain) == whole, "the key 0 does not show all steps again")
    browser.press("ArrowRight")
    check(text_of(browser, "#loss .readout").startswith("step "), "the arrow keys move nothing")
    browser.press("+")
    check(browser.evaluate(domain) != whole, "the key + does not zoom in")
    browser.evaluate("document.querySelector('#gradient-norm button').click()")
    check(len(browser.evaluate(POINTS % "gradient-norm")[0]) >= 2, "no curve on a logarithmic axis")


def check_axis(browser):
    """Steps, tokens, seconds: the same curves over another axis."""
    shape = browser.evaluate(POINTS % "loss")[0]
    for name, title in [("tokens", "tokens"), ("seconds", "time (s)"), ("steps", "step")]:
        browser.evaluate(f"document.querySelector('#axis-{name}').click()")
        words = text_of(browser, "#loss svg")
        check(title in words, f"the axis by {name} has no title: {words[:80]}")
        curve = browser.evaluate(POINTS % "loss")[0]
        check(len(curve) == len(shape) and [y for _, y in curve] == [y for _, y in shape], f"by {name}: another curve")
        check([x for x, _ in curve] == sorted(x for x, _ in curve), f"by {name}: the curve goes back")
        browser.evaluate("curveCharts[0].move(1)")
        check(title.split(" ")[0] in text_of(browser, "#loss .readout").replace(" s:", " time:"), f"by {name}: the readout")


def reloaded(browser):
    """Waits until the page has been replaced by a new one that is drawn."""
    for _ in range(300):
        time.sleep(0.1)
        try:
            if browser.evaluate("!window.before && document.readyState === 'complete' && curveCharts.every((c) => c.view)"):
                return True
        except RuntimeError:  # evaluated in the page that goes, or before the scripts of the one that comes
            pass
    return False


def check_reload(browser, folder):
    """The page of a run that is going on: it reloads itself, and the reader's choices stay."""
    text = (folder / "hostile/report.html").read_text()
    page = folder / "going_on.html"
    begin = '{"version":'
    check(text.count(begin) == 1, "the data of the page begin in another way")
    now = f'{{"going_on":{{"written":{int(time.time())},"reload":1}},"version":'
    # A button that is held down keeps the page from reloading, until the check lets go of it.
    held = "<script>dispatchEvent(new Event('pointerdown'));</script></body>"
    page.write_text(text.replace(begin, now).replace("</body>", held))
    browser.open(page.as_uri())
    check("reloads itself" in text_of(browser, "#going-on"), "the page does not say that the run is going on")
    browser.evaluate("(() => { document.querySelector('#axis-tokens').click(); curveCharts[0].zoom(0.5);"
                     " const s = document.querySelector('#snapshot'); s.value = 1; s.dispatchEvent(new Event('input'));"
                     " document.querySelector('#config details').open = true;"
                     " scrollTo({top: 600, behavior: 'instant'}); window.before = true; })()")
    state = ("JSON.stringify([document.querySelector('#axis-tokens').ariaPressed, curveCharts[0].view.signal('domain'),"
             " document.querySelector('#snapshot').value, document.querySelector('#config details').open, scrollY])")
    chosen = browser.evaluate(state)
    time.sleep(2.5)
    check(browser.evaluate("window.before"), "the page reloads itself while a button is held down")
    browser.evaluate("dispatchEvent(new Event('pointerup'))")
    check(reloaded(browser), "the page does not reload itself")
    check(browser.evaluate(state) == chosen, f"a reload changes {chosen} to {browser.evaluate(state)}")
    check(not browser.complaints, f"reloading: the browser complains: {browser.complaints[:3]}")


def check_maps(browser, what, canvases):
    colors = browser.evaluate(COLORS)
    check(len(colors) == canvases and all(count > 8 for count in colors), f"{what}: colours of the heat maps: {colors}")
    last, label = browser.evaluate(PIXELS), text_of(browser, "output[for=snapshot]")
    browser.evaluate("(() => { const s = document.querySelector('#snapshot'); s.value = 0;"
                     " s.dispatchEvent(new Event('input')); })()")
    check(label == "after step 60" and text_of(browser, "output[for=snapshot]") == "before training",
          f"{what}: the slider begins at {label}")
    check(browser.evaluate(PIXELS) != last, f"{what}: the heat maps do not change with the slider")
    browser.evaluate("document.querySelector('#attention .plot').focus()")
    browser.press("ArrowDown")
    check(" looks at " in text_of(browser, "#attention .readout"), f"{what}: the arrow keys show no weight")


def check_forming(browser, what, canvases):
    """The small maps of the first screen: they form once by themselves, and again when asked to."""
    label = "document.querySelector('#forming output').textContent"
    drawn = "[...document.querySelectorAll('#forming canvas')].map((canvas) => canvas.toDataURL())"
    end = f"new Promise((done) => {{ const look = () => {label} === 'after step 60' && !playing ? done(true) : setTimeout(look, 50); look(); }})"
    check(browser.evaluate(label) != "after step 60", f"{what}: attention does not form by itself")
    check(browser.evaluate(end), f"{what}: attention does not come to the last step")
    last = browser.evaluate(drawn)
    check(len(last) == canvases and len(set(last)) == canvases, f"{what}: {len(last)} small maps, {len(set(last))} of them different")
    browser.evaluate("document.querySelector('#forming button').click()")
    check(browser.evaluate(label) == "before training" and browser.evaluate(drawn) != last, f"{what}: play does not begin at the beginning")
    check(browser.evaluate(end) and browser.evaluate(drawn) == last, f"{what}: playing again ends with other maps")
    box = browser.evaluate("[...document.querySelectorAll('#loss, #forming, #overview pre')].map((e) => e.getBoundingClientRect().bottom)")
    check(len(box) == 3 and max(box) <= 900, f"{what}: loss, attention and sample end at {box} of 900")


def check_pages(browser, folder):
    page = folder / "hostile/report.html"
    browser.open(page.as_uri(), width=1280)
    check_forming(browser, "hostile", 4)
    for what, width, dark in [("light", 1200, False), ("dark", 1200, True), ("narrow", 360, False)]:
        browser.open(page.as_uri(), width=width, dark=dark)
        check_curves(browser, what, 1)
        check(browser.evaluate(COLORS + ".length") == 2, f"{what}: not a heat map for each layer")
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{what}: wider than the window")
        shade = browser.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        check((shade == "rgb(251, 250, 247)") != dark, f"{what}: the page is {shade}")
        quiet(browser, page, what)
    browser.open(page.as_uri())
    check(browser.evaluate("typeof hacked === 'undefined' && document.querySelectorAll('img, b').length === 0"),
          "a text became markup")
    check(HOSTILE in text_of(browser, "#samples pre") and HOSTILE in text_of(browser, "#config"), "a text is not shown")
    check("lowest validation loss" in text_of(browser, "#overview .tiles"), "no numbers on the first screen")
    check("validation loss" in text_of(browser, "#overview p") and HOSTILE in text_of(browser, "#overview pre"), "no loss or sample on the first screen")
    check(browser.evaluate("document.querySelector('#loss').closest('section').id") == "overview", "the loss is below other charts")
    check(text_of(browser, "#accuracy tbody tr:last-child th") == "60", "no table of accuracy")
    tops = browser.evaluate("[...document.querySelectorAll('.tile strong')].map((one) => one.getBoundingClientRect().top)")
    check(len(tops) == 4 and len(set(tops)) == 1, f"the four numbers stand at {tops}")
    check("?big" in text_of(browser, "footer"), "the page does not tell of ?big")
    check(text_of(browser, "#loss .readout").startswith("step 60: "), "a curve does not say how it ended")
    check("chance: ln " in text_of(browser, "#loss svg"), "no line of chance in the chart of the loss")
    check(text_of(browser, "#targets-right h3") == "Next character guessed right", "the accuracy has no words")
    check(text_of(browser, "#attention h3") == "block 0: self-attention", "an attention layer has no words")
    check("trf_blocks.0.att" in text_of(browser, "#attention .head"), "an attention layer has no path")
    check_axis(browser)
    check_interaction(browser)
    check_maps(browser, "hostile", 2)
    quiet(browser, page, "used")

    page = folder / "both.html"
    browser.open(page.as_uri())
    check_curves(browser, "two runs", 2)
    check("hostile" in text_of(browser, ".legend") and "reverse" in text_of(browser, ".legend"), "no legend of the runs")
    check("cannot be compared" in text_of(browser, "#curves .notice"), "losses on different data are not told apart")
    check("data.type" in text_of(browser, "#config table"), "what differs between the configs is not told")
    browser.evaluate("(() => { const s = document.querySelector('#attention-run'); s.selectedIndex = 1;"
                     " s.dispatchEvent(new Event('change')); })()")
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    check("cross_att" in text_of(browser, "#attention"), "the other run's attention is not shown")
    check_maps(browser, "reverse", 3)
    quiet(browser, page, "two runs")


def check_examples(browser, folder):
    """What a classifier takes for what, and its hardest examples, with a class and texts that look like markup."""
    page = folder / "labels/report.html"
    for what, dark, width in [("light", False, 1200), ("dark", True, 1200), ("narrow", False, 360)]:
        browser.open(page.as_uri(), width=width, dark=dark)
        shades = browser.evaluate("[...document.querySelectorAll('#examples td.shaded')].map((e) => getComputedStyle(e).backgroundColor)")
        check(len(shades) == 4 and len(set(shades)) > 1, f"classes, {what}: the cells are {shades}")
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"classes, {what}: wider than the window")
        quiet(browser, page, f"classes, {what}")
    check(browser.evaluate("document.querySelector('#targets-right') && !document.querySelector('#sequences-right')"), "a class is counted twice")
    check(HOSTILE in text_of(browser, "#examples thead"), "the name of a class is not shown")
    check(browser.evaluate("document.querySelectorAll('#examples table.examples tbody tr').length") == 20, "not 20 examples")
    check("labels.tsv:" in text_of(browser, "#examples table.examples"), "an example has no line")
    check(browser.evaluate("typeof hacked === 'undefined' && document.querySelectorAll('img, b').length === 0"),
          "a label became markup")


def check_added(browser, folder):
    """A loss that a layer adds, by name next to the loss."""
    page = folder / "experts/report.html"
    browser.open(page.as_uri())
    check("load_balancing" in text_of(browser, "#overview #added-load_balancing h3"), "no chart of the added loss")
    check(any(len(curve) >= 4 for curve in browser.evaluate(POINTS % "added-load_balancing")), "no curve of the added loss")
    check(browser.evaluate("document.querySelectorAll('#loss, [id^=added-]').length") == 2, "a chart of losses stands twice")
    quiet(browser, page, "experts")


def check_pictures(browser, folder):
    """Attention over a picture, and where the patch under the pointer looks."""
    page = folder / "pictures/report.html"
    drawn = "[...document.querySelectorAll('.pictures .panel canvas')].map((canvas) => canvas.toDataURL())"
    words = "document.querySelector('.pictures .readout').textContent"
    for what, width, dark in [("light", 1200, False), ("dark", 1200, True), ("narrow", 360, False)]:
        browser.open(page.as_uri(), width=width, dark=dark)
        shown = browser.evaluate(drawn)
        check(len(shown) == 5 and len(set(shown)) == 5, f"pictures, {what}: {len(shown)} of them, {len(set(shown))} different")
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"pictures, {what}: wider than the window")
        quiet(browser, page, f"pictures, {what}")
    check(len(browser.evaluate("[...document.querySelectorAll('#forming canvas')]")) == 4, "pictures: no small maps")
    check("on average" in browser.evaluate(words), f"pictures: {browser.evaluate(words)}")
    browser.evaluate("(() => { const c = document.querySelectorAll('.pictures .panel canvas')[1], b = c.getBoundingClientRect();"
                     " c.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + 0.9 * b.width, clientY: b.top + 0.1 * b.height})); })()")
    check("row 0, column 3 looks" in browser.evaluate(words), f"pictures, pointed at: {browser.evaluate(words)}")
    check(all(a != b for a, b in zip(shown[1:], browser.evaluate(drawn)[1:])), "pictures: pointing changes no map")
    browser.evaluate("document.querySelector('.pictures').focus()")
    browser.press("ArrowDown")
    check("row 1, column 3 looks" in browser.evaluate(words), f"pictures, by the keyboard: {browser.evaluate(words)}")
    browser.press("Escape")
    check(browser.evaluate(drawn) == shown, "pictures: Escape does not lead back")
    browser.evaluate("(() => { const s = document.querySelector('#snapshot'); s.value = 0; s.dispatchEvent(new Event('input')); })()")
    check(browser.evaluate(drawn)[1:] != shown[1:], "pictures: the slider changes nothing")


def check_points(browser, folder):
    """Points in a plane, and what a classifier answers all over it."""
    page = folder / "points/report.html"
    for what, width, dark in [("light", 1200, False), ("dark", 1200, True), ("narrow", 360, False)]:
        browser.open(page.as_uri(), width=width, dark=dark)
        fills = [browser.evaluate(f"[...document.querySelectorAll('[aria-label=\"The plane\"] {shape}')].map((one) => getComputedStyle(one).fill)") for shape in ("circle", "rect")]
        check(len(fills[0]) == 100 and set(fills[0]) == set(fills[1]) and len(set(fills[0])) == 2, f"points, {what}: {len(fills[0])} of {set(fills[0])} on {set(fills[1])}")
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"points, {what}: wider than the window")
        quiet(browser, page, f"points, {what}")
    right = browser.evaluate("data.runs[0].record.plane.points.filter((point) => point[2] === point[3]).length")
    check(f"{right} of 100 points" in text_of(browser, "#overview figcaption"), "points: no count of those that are right")


def check_without_vega(browser, folder):
    """The same page as a build without Vega makes it."""
    text = (folder / "both.html").read_text()
    begin = text.index("<script>") + len("<script>")
    page = folder / "no_vega.html"
    page.write_text(text[:begin] + text[text.index("</script>", begin):])
    browser.open(page.as_uri())
    check("built without Vega" in text_of(browser, "#curves .notice"), "a page without Vega does not say so")
    check(browser.evaluate("document.querySelectorAll('#curves tbody tr').length") > 20, "no tables in place of curves")
    check(browser.evaluate("document.querySelectorAll('#attention canvas').length") == 4, "no heat maps without Vega")
    quiet(browser, page, "without Vega")


def has_layer(heed, layer):
    return subprocess.run([heed, "layers", layer], capture_output=True).returncode == 0


def main(heed):
    if not find_browser():
        print("skipped: there is no chromium; tools/setup.sh --dev installs it")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "labels.tsv").write_text("".join(f"{HOSTILE} {i}\t{'good' if i % 2 else HOSTILE}\n" for i in range(80)))
        (folder / "text.txt").write_text(f"Every effort moves you. {HOSTILE}\n" * 60)
        of_extras = {run: config for run, (layer, config) in OF_EXTRAS.items() if has_layer(heed, layer)}
        for run, config in (CONFIGS | of_extras).items():
            (folder / f"{run}.yaml").write_text(config)
            subprocess.run([heed, "train", folder / f"{run}.yaml", "--out", folder / run], check=True, capture_output=True)
        subprocess.run([heed, "report", folder / "hostile", folder / "reverse", "--out", folder / "both.html"],
                       check=True, capture_output=True)
        if "heedVegaModule(" not in (folder / "both.html").read_text():
            print("skipped: heed was built without Vega (Debian: libjs-vega); tools/setup.sh installs it")
            return 77
        with Browser() as browser:
            check_pages(browser, folder)
            check_examples(browser, folder)
            if "experts" in of_extras:
                check_added(browser, folder)
            if "pictures" in of_extras:
                check_pictures(browser, folder)
            if "points" in of_extras:
                check_points(browser, folder)
            check_reload(browser, folder)
            check_without_vega(browser, folder)
    print("\n".join(failures))
    print(f"{checks} things looked at in the browser, {len(failures)} wrong")
    return 1 if failures or checks < 90 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
