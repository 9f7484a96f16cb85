#!/usr/bin/env python3
"""The page of `heed explain --learn` in a real browser: headless Chromium (Debian: chromium), without network.

    learn_check.py HEED [MODEL...]     gpt, variants, classifier; all without a name

Trains small models for a few steps and compares what is on the page with the engine: gradients of all parameters, of each
block's input and of the logits with those of `heed forward --backward --precision float64`, every number's terms with the
number, sampled weights with their central differences, measured losses with `heed probe teach`, and cells on the screen
with their numbers to the last digit shown. Exits with 77, which ctest shows as skipped, where there is no Chromium.
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
from explain_check import TYPES, float32, read_tensors, weights_below, write_tensors  # noqa: E402

TYPES["F64"] = ("d", 8)
TRAIN = "optimizer: {type: adamw, lr: 1e-2}\ntrain: {steps: 15, batch_size: 4}\n"
HOSTILE = "</script><b>&"
CONFIGS = {  # config, prompt, wanted
    "gpt": ("""
data: {type: text, path: text.txt}
model: {type: gpt, context_length: 24, d_model: 16, num_heads: 2, num_layers: 2, qkv_bias: true}
""", "Every </s", "c"),
    "variants": ("""
data: {type: text, path: text.txt}
model: {type: gpt, context_length: 24, d_model: 16, num_heads: 4, num_kv_heads: 2, num_layers: 2, position: rope,
        norm: rms_norm, activation: swiglu, bias: false, tie_embeddings: true}
""", "effort m", "o"),
    "classifier": ("""
data: {type: negation}
model: {type: classifier, d_model: 16, num_heads: 2, num_layers: 2, activation: relu}
""", None, None)}

failures, checks = [], 0


def check(right, what):
    global checks
    checks += 1
    if not right:
        failures.append(what)


def near(what, mine, engine, tolerance=2e-6):
    """Lists of numbers, relative to the largest; the page keeps float32."""
    largest = max(map(abs, engine), default=0)
    check(len(mine) == len(engine), f"{what}: {len(mine)} numbers, the engine has {len(engine)}")
    apart = max((abs(a - b) for a, b in zip(mine, engine)), default=0)
    check(apart <= tolerance * max(largest, 1e-3), f"{what}: {apart} apart, the largest is {largest}")
    global checks
    checks += len(engine)


def three(value):
    """A number with three significant digits, as the page shows it."""
    size = abs(value)
    if value == 0:
        return "0"
    if size < 1e-3 or size >= 1e6:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    elif size >= 999.5:
        text = f"{value:.0f}"
    else:
        text = f"{value:.{2 - math.floor(math.log10(size))}f}"
        if len(text.strip("-0.").replace(".", "")) > 3:  # 9.999 became 10.00
            text = text[:-1].rstrip(".")
    return text.replace("-", "−")


class Engine:
    def __init__(self, heed, folder):
        self.heed, self.folder = heed, folder

    def run(self, *arguments):
        ran = subprocess.run([self.heed, *map(str, arguments)], capture_output=True, text=True)
        if ran.returncode != 0:
            raise RuntimeError(f"heed {' '.join(map(str, arguments))}: {ran.stderr}")
        return ran.stdout

    def backward(self, config, tensors, weights=None):
        """y and grad.* in float64, for x or ids and a cotangent dy."""
        write_tensors(self.folder / "in.safetensors", tensors)
        more = []
        if weights is not None:
            write_tensors(self.folder / "w.safetensors", weights)
            (self.folder / "layer.yaml").write_text(json.dumps({"model": config}))
            config, more = self.folder / "layer.yaml", ["--weights", self.folder / "w.safetensors"]
        self.run("forward", config, "--in", self.folder / "in.safetensors", "--out", self.folder / "y.safetensors",
                 "--backward", "--precision", "float64", *more)
        return {name: list(values) for name, (_, values) in read_tensors(self.folder / "y.safetensors").items()}


def numbers(browser, expression):
    return [float(one.replace("Infinity", "inf")) for one in browser.evaluate(f"Array.from({expression}, String)")]


def gradient(browser, step):
    return numbers(browser, f"tensor('grad ' + {json.dumps(step)}).values")


def value(browser, step):
    return numbers(browser, "(() => { const s = stepsById.get(%s), [rows, columns] = shapeOf(s);"
                   " return Array.from({length: rows * columns}, (_, i) => numberAt(s, 0, Math.floor(i / columns), i %% columns)); })()" % json.dumps(step))


def check_model(engine, browser, what, run):
    """The whole model backwards from the page's p - y: logits, loss, and the gradient of every parameter."""
    ids = browser.evaluate("[...stepsById.values()].find((step) => step.kind === 'embedding').ids")
    last, rows = browser.evaluate("[lastStep.id, shapeOf(lastStep)]")
    shape = rows[-1:] if what == "classifier" else rows
    found = engine.backward(run, {"ids": ("I64", [1, len(ids)], ids), "dy": ("F64", [1, *shape], gradient(browser, last))})
    near(f"{what}: logits", value(browser, last), found["y"])
    row, wanted, loss = browser.evaluate("[lesson.row, lesson.column, lesson.loss]")
    logits = found["y"][row * rows[-1]:(row + 1) * rows[-1]]
    most = max(logits)
    total = sum(math.exp(one - most) for one in logits)
    p = [math.exp(one - most) / total for one in logits]
    check(abs(loss + math.log(p[wanted])) < 1e-9, f"{what}: the loss is {loss}, not {-math.log(p[wanted])}")
    near(f"{what}: p - y", gradient(browser, last)[row * rows[-1]:], [one - (i == wanted) for i, one in enumerate(p)])
    parameters = {name.removeprefix("grad."): values for name, values in found.items() if name.startswith("grad.")}
    shown = browser.evaluate("""(() => { const all = {};
      for (const step of stepsById.values()) for (const one of [sheetOf(step), ...sheetsBehind(step)]) {
        if (!one.parameter(0, 0)) continue;
        one.rows.forEach((_, r) => one.columns.forEach((__, c) => { const [name, row, column] = one.parameter(r, c);
          (all[name] ??= []).push([row, column, String(one.gradient(0, r, c))]); }));
      } return all; })()""")
    tied = "out_head.weight" not in parameters and what == "variants"
    if tied:
        weight = numbers(browser, "(() => { const one = sheetsBehind(stepsById.get('out_head'))[0];"
                         " return one.rows.flatMap((_, r) => one.columns.map((__, c) => one.gradient(0, r, c))); })()")
    compared = set()
    for name, cells in shown.items():
        values = parameters.get(name)
        if values is None:
            continue
        columns = max(column for _, column, _ in cells) + 1
        mine = [0.0] * len(values)
        for r, c, one in cells:
            mine[r * columns + c] += float(one)
        if tied and name == "tok_emb.weight":
            mine = [a + b for a, b in zip(mine, weight)]
        near(f"{what}: gradient of {name}", mine, values)
        compared.add(name)
    check(compared == set(parameters), f"{what}: no gradient of {sorted(set(parameters) - compared)}")


def check_blocks(engine, browser, what, run, model):
    """Each block alone: from the gradient of what it gives to that of what it takes, through the engine's fused layers."""
    weights = read_tensors(max((run / "checkpoints").iterdir()) / "model.safetensors")
    blocks = browser.evaluate("data.sections.filter(({id}) => id.includes('_blocks.')).map((part) => [part.id, input(part.steps[0]).id, part.steps.at(-1).id])")
    check(len(blocks) == 2, f"{what}: {len(blocks)} blocks")
    for block, x, y in blocks:
        config = {key: model[key] for key in ("num_heads", "qkv_bias", "bias", "norm", "activation", "context_length") if key in model}
        attention = {"type": "multi_head_attention", **({"causal": False} if what == "classifier" else {})}
        if "num_kv_heads" in model:
            attention.update(num_kv_heads=model["num_kv_heads"], rope=True)
        shape = [1, *browser.evaluate(f"shapeOf(stepsById.get({json.dumps(x)}))")]
        found = engine.backward({"type": "transformer_block", "d_model": 16, "context_length": 64, **config, "attention": attention},
                                {"x": ("F64", shape, value(browser, x)), "dy": ("F64", shape, gradient(browser, y))}, weights_below(weights, block + "."))
        near(f"{what}: what {block} gives", value(browser, y), found["y"])
        near(f"{what}: gradient before {block}", gradient(browser, x), found["grad.x"])


def check_terms(browser, what):
    """Every gradient of every step is the sum of its terms, every 0 has a reason, and every term leads to a number."""
    worst = browser.evaluate("""[...stepsById.values()].map((step) => { const [rows, columns] = shapeOf(step), most = largestGradient(step);
      let apart = 0, count = 0, silent = 0, lost = 0;
      for (let h = 0; h < (step.heads || 1); ++h) for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) {
        const made = gradientSource(step, h, r, c), value = gradientAt(step, h, r, c); ++count;
        apart = Math.max(apart, Math.abs(made.terms.reduce((sum, term) => sum + term.value, 0) - value));
        if (value === 0 && !(made.note.length > 4)) ++silent;
        for (const { from } of made.terms) if (from) { const sheet = asSheet(from[0]); if (!Number.isFinite(sheet[from[4] ?? 'value'](from[1], from[2], from[3]))) ++lost; }
      }
      return [step.id, most > 0 ? apart / most : apart, count, silent, lost]; })""")
    global checks
    for step, apart, count, silent, lost in worst:
        checks += count
        check(apart < 5e-6, f"{what}: terms of gradients of {step} are {apart} apart from them")
        check(silent == 0, f"{what}: {silent} gradients of {step} are 0 without a reason")
        check(lost == 0, f"{what}: {lost} terms of {step} lead nowhere")
    check(max(count for _, _, count, _, _ in worst) > 100, f"{what}: few numbers were looked at")


def check_slopes(browser, what):
    """Central differences next to the gradients that the page shows of the same weights."""
    slopes = browser.evaluate("lesson.slopes")
    check(len(slopes) >= 200, f"{what}: {len(slopes)} central differences")
    for one in slopes:
        near_enough = abs(one["gradient"] - one["difference"]) <= 1e-4 * abs(one["gradient"]) + 1e-9
        check(near_enough, f"{what}: {one}")
    pairs = browser.evaluate("""(() => { const all = []; for (const step of stepsById.values()) for (const sheet of [sheetOf(step), ...sheetsBehind(step)]) {
      if (!sheet.parameter(0, 0)) continue;
      sheet.rows.forEach((_, r) => sheet.columns.forEach((__, c) => { const found = measured.get(sheet.parameter(r, c).join(' ')); if (found) all.push([sheet.key, r, c, sheet.gradient(0, r, c), found.difference]); })); }
      return all; })()""")
    count = len(pairs) if what != "variants" else len(pairs) + 20
    check(count >= 190, f"{what}: {len(pairs)} of them are weights of the page")
    for key, row, column, mine, difference in pairs:
        tied = what == "variants" and key == "tok_emb weight"
        check(tied or abs(mine - difference) <= 1e-4 * abs(difference) + 1e-8, f"{what}: {key} [{row}, {column}] has {mine}, the loss {difference}")
    key, row, column, _, difference = next(one for one in pairs if "weight" in one[0] and "W_" in one[0])
    words = browser.evaluate(f"(() => {{ goTo([sheets.get({json.dumps(key)}), 0, {row}, {column}, 'gradient']); return document.querySelector('#panel .check').textContent; }})()")
    check("central difference" in words and "float64" in words, f"{what}: a click on a weight shows {words}")


def check_rates(engine, browser, what, run, prompt, wanted):
    rates, slope, loss = browser.evaluate("[lesson.rates, lesson.slope, lesson.loss]")
    check(len(rates) == 31 and abs(rates[0]["loss"] - loss) < 1e-12, f"{what}: {len(rates)} rates from {rates[0]}")
    for k in (1, 6, 14, 30):
        found = json.loads(engine.run("probe", run, "teach", "--prompt", prompt, "--answer", wanted, "--lr", rates[k]["lr"], "--json"))
        check(abs(found["loss_after"] - rates[k]["loss"]) < 2e-3 * max(1, loss), f"{what}: after lr {rates[k]['lr']} {rates[k]['loss']}, teach has {found['loss_after']}")
        squares = sum(one["grad_norm"] ** 2 for one in found["parameters"])
        check(abs(squares - slope) < 1e-4 * slope, f"{what}: the slope is {slope}, not {squares}")
        words = browser.evaluate(f"(() => {{ const s = document.querySelector('#rate'); s.value = {k}; s.dispatchEvent(new Event('input')); return document.querySelector('.rates output').textContent; }})()")
        check(f"measured {three(rates[k]['loss'])};" in words and f"promised {three(loss - slope * rates[k]['lr'])}," in words, f"{what}: the slider says {words}")


def check_screen(browser, what, random_cells):
    """Cells show three digits of their number, the panel all of them."""
    steps = browser.evaluate("[...stepsById.values()].map((step) => [step.id, step.heads || 1, ...shapeOf(step)])")
    for step, heads, rows, columns in steps:
        head, row, column = (random_cells.randrange(n) for n in (heads, rows, columns))
        for side in ("value", "gradient"):
            shown, exact, number, unit = browser.evaluate(
                "(() => { const sheet = sheetOf(stepsById.get(%s)); goTo([sheet, %d, %d, %d, '%s']);"
                " return [document.querySelector('td.chosen').textContent, document.querySelector('#panel .value').textContent,"
                " String(sheet['%s'](%d, %d, %d)), '%s' === 'gradient' ? power(sheet.most) : 0]; })()"
                % (json.dumps(step), head, row, column, side, side, head, row, column, side))
            number = float(number.replace("Infinity", "inf"))
            hidden = shown == "" and column > row
            text = "−∞" if number == -math.inf else three(number / 10.0 ** unit)
            check(hidden or shown == text, f"{what}: {side} of {step} [{row}, {column}]: {shown}, not {text}")
            check(float32(exact.replace("−", "-").replace("∞", "inf")) == number, f"{what}: the panel shows {exact} for {number}")
    blame = browser.evaluate("[...document.querySelectorAll('#blame tbody tr')].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))")
    norms = browser.evaluate("streams.map(({ step }) => rowNames(step).map((_, t) => norm(step, t)))")
    check(blame == [[three(one) for one in row] for row in norms], f"{what}: the blame is {blame}, not {norms}")
    flow = browser.evaluate("[document.querySelector('.flow').textContent, branches.flatMap(({ past, through, together }) => [past, through, together])]")
    check(len(flow[1]) == 12 and all(three(one) in flow[0] for one in flow[1]), f"{what}: the flow shows {flow[0]}")
    through = browser.evaluate("""branches.map(({ branch, x, through }) => { let all = 0; const [rows, columns] = shapeOf(x);
      for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) all += sent[branch.kind](branch, 0, 0, r, c).terms.reduce((sum, one) => sum + one.value, 0) ** 2;
      return Math.abs(Math.sqrt(all) - through) / through; })""")
    check(max(through) < 1e-5, f"{what}: through the branches: {through} apart")


def check_first_screen(browser, what, out):
    browser.open(out.as_uri(), width=1280, height=900)
    bottom = browser.evaluate("[...document.querySelectorAll('#lesson .answers, .rates output, #blame table, button.map, #panel .big')].map((one) => one.getBoundingClientRect().bottom)")
    heads = browser.evaluate("attentions.reduce((sum, step) => sum + step.heads, 0)")
    check(len(bottom) == 2 * heads + 4 and max(bottom) <= 900, f"{what}: the first screen ends at 900, not at {bottom}")
    words = browser.evaluate("document.querySelector('#panel h2').textContent")
    check(words.startswith("Gradient: "), f"{what}: the panel begins with {words}")
    browser.evaluate("document.querySelectorAll('button.map')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    check(browser.evaluate("document.querySelector('td.chosen').closest('details').open"), f"{what}: a click on a head opens no block")
    browser.press("ArrowDown")
    browser.press("Escape")
    check(browser.evaluate("document.querySelector('#panel h2').textContent") == words, f"{what}: Escape does not lead back")
    for width, dark in ((390, True), (1280, False), (1920, False)):
        for address in (out.as_uri(), out.as_uri() + "?big"):
            browser.open(address, width=width, dark=dark)
            browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{what}: {address} is wider than {width}")
        browser.open(out.as_uri(), width=width, dark=dark)
        smallest = browser.evaluate("Math.min(...[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility?.() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((one) => parseFloat(getComputedStyle(one).fontSize)))")
        check(smallest >= 12, f"{what}: a text of {smallest} px")


def read_model(config):
    """The model section of CONFIGS: flow style, values without quotes."""
    text = config.split("model: {", 1)[1].split("}", 1)[0].replace("\n", " ")
    made = {key.strip(): word.strip() for key, word in (pair.split(":") for pair in text.split(","))}
    words = {"true": True, "false": False}
    return {key: words.get(word, int(word) if word.isdigit() else word) for key, word in made.items()}


def check_page(engine, browser, what, folder, random_cells):
    config, prompt, wanted = CONFIGS[what]
    run, out = folder / what, folder / f"{what}.html"
    if prompt is None:  # an example of the task, whose prompt the page names
        engine.run("explain", run, "--out", out)
        browser.open(out.as_uri())
        prompt, names = browser.evaluate("[data.prompt, data.answers]")
        wanted = names[0]
    engine.run("explain", run, "--prompt", prompt, "--learn", wanted, "--out", out)
    check(out.stat().st_size <= 3_000_000, f"{what}: {out.stat().st_size} bytes")
    check_first_screen(browser, what, out)
    browser.open(out.as_uri())
    check_model(engine, browser, what, run)
    check_blocks(engine, browser, what, run, read_model(config))
    check_terms(browser, what)
    check_slopes(browser, what)
    check_rates(engine, browser, what, run, prompt, wanted)
    check_screen(browser, what, random_cells)
    check(not browser.complaints, f"{what}: the browser complains: {browser.complaints[:3]}")
    check(browser.requests[-1] == out.as_uri() and len({one.split("?")[0] for one in browser.requests}) == 1, f"{what}: requests {browser.requests}")
    check(browser.evaluate("document.querySelectorAll('img, b').length") == 0, f"{what}: a text became markup")


def main(heed, *models):
    if not find_browser():
        print("skipped: there is no chromium; tools/setup.sh --dev installs it")
        return 77
    if not (pathlib.Path(heed).resolve().parent / "heed-f64").exists():
        print("skipped: heed-f64 is not built")
        return 77
    models = models or tuple(CONFIGS)
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        folder, random_cells = pathlib.Path(name), random.Random(1)
        engine = Engine(heed, folder)
        (folder / "text.txt").write_text(f"Every effort moves you. {HOSTILE}\n" * 60)
        for what in models:
            (folder / f"{what}.yaml").write_text(CONFIGS[what][0] + TRAIN)
            engine.run("train", folder / f"{what}.yaml", "--out", folder / what)
            check_page(engine, browser, what, folder, random_cells)
    print("\n".join(failures[:40]))
    print(f"{checks} things looked at, {len(failures)} wrong")
    return 1 if failures or checks < 2000 * len(models) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
