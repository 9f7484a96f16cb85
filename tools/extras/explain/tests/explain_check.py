#!/usr/bin/env python3
"""The page of `heed explain` in a real browser: headless Chromium (Debian: chromium), without network.

    explain_check.py HEED [MODEL...]     gpt, variants, reverse, negation, pictures; all without a name

Trains small models for a few steps and compares what is on the screen with what `heed forward` and `heed inspect
--attention --json` compute: cells of every step to the last digit shown, and to the last bit as the page reads them;
probabilities after the sliders were moved; the answers that a click follows. Exits with 77, which ctest shows as
skipped, where there is no Chromium.
"""
import array
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from browser import Browser, find_browser  # noqa: E402

HOSTILE = "</script><b>&"
TEXT = f"Every effort moves you. {HOSTILE}\n" * 60
TRAIN = "optimizer: {type: adamw, lr: 1e-2}\ntrain: {steps: 15, batch_size: 4}\n"
CONFIGS = {
    "gpt": """
data: {type: text, path: text.txt}
model: {type: gpt, context_length: 24, d_model: 16, num_heads: 2, num_layers: 2, qkv_bias: true}
""",
    "variants": """
data: {type: text, path: text.txt}
model: {type: gpt, context_length: 24, d_model: 16, num_heads: 4, num_kv_heads: 2, num_layers: 1, position: rope,
        norm: rms_norm, activation: swiglu, bias: false, tie_embeddings: true}
""",
    "reverse": """
data: {type: reverse, length: 6, min_length: 3, symbols: 9}
model: {type: encoder_decoder, d_model: 16, num_heads: 2, num_layers: 1}
""",
    "negation": """
data: {type: negation}
model: {type: classifier, d_model: 16, num_heads: 2, num_layers: 1}
"""}
DIGITS = pathlib.Path(__file__).resolve().parents[4] / "train/extras/sequence_models/configs/digits.safetensors"
PICTURES = f"""
data: {{type: images, path: {DIGITS}}}
model: {{type: encoder, patch_size: 2, context_length: 16, d_model: 16, num_heads: 2, num_layers: 2}}
"""
PROMPTS = {"gpt": f"Every {HOSTILE}", "variants": "effort moves", "reverse": "1 2 3 4", "negation": None}
CELLS = 150  # a page; 600 in all

failures, checks = [], 0


def check(right, what):
    global checks
    checks += 1
    if not right:
        failures.append(what)


# ---- safetensors, read and written without any package

TYPES = {"F32": ("f", 4), "I64": ("q", 8), "I32": ("i", 4)}


def read_tensors(path):
    raw = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    tensors = {}
    for name, about in json.loads(raw[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            tensors[name] = (about["shape"], array.array(TYPES[about["dtype"]][0], raw[8 + length + begin:8 + length + end]))
    return tensors


def write_tensors(path, tensors):
    header, body = {}, b""
    for name, (kind, shape, values) in tensors.items():
        data = array.array(TYPES[kind][0], values).tobytes()
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


# ---- what the engine computes

class Engine:
    def __init__(self, heed, folder):
        self.heed, self.folder = heed, pathlib.Path(folder)

    def run(self, *arguments):
        return subprocess.run([self.heed, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def forward(self, config, tensors, weights=None):
        """y of a layer or a run for these inputs."""
        write_tensors(self.folder / "in.safetensors", tensors)
        if weights is not None:
            (self.folder / "layer.yaml").write_text(json.dumps({"model": config}))
            write_tensors(self.folder / "w.safetensors", weights)
            config = self.folder / "layer.yaml"
            more = ["--weights", self.folder / "w.safetensors"]
        else:
            more = []
        self.run("forward", config, "--in", self.folder / "in.safetensors", "--out", self.folder / "y.safetensors", *more)
        return read_tensors(self.folder / "y.safetensors")["y"]


def weights_below(tensors, prefix):
    return {name[len(prefix):]: ("F32", shape, values) for name, (shape, values) in tensors.items() if name.startswith(prefix)}


class Page:
    """Numbers of a page: as the page's code reads them, and as the table on the screen shows them."""

    def __init__(self, browser):
        self.browser = browser
        self.steps = {step["id"]: step for step in browser.evaluate("data.sections.flatMap((part) => part.steps)")}

    def whole(self, step, head=0):
        return self.browser.evaluate(
            "(() => { const s = stepsById.get(%s), [rows, columns] = shapeOf(s);"
            " return Array.from({length: rows * columns}, (_, i) => String(numberAt(s, %d, Math.floor(i / columns), i %% columns)))"
            "; })()" % (json.dumps(step), head))

    def shown(self, step, head, row, column):
        """The text in the table's cell and the exact number in the panel, after going there."""
        return self.browser.evaluate(
            "(() => { goTo([stepsById.get(%s), %d, %d, %d]);"
            " return [document.querySelector('td.chosen').textContent, document.querySelector('#panel .value').textContent]; })()"
            % (json.dumps(step), head, row, column))


def as_cell(value):
    """A number as the tables show it, in exact arithmetic."""
    if abs(value) < 0.005:
        return "0.00"
    digits = 2 if abs(value) < 100 else 1
    return f"{value:.{digits}f}".replace("-", "−") if abs(value) < 1000 else None


def as_number(text):
    """Of a number as JavaScript or JSON writes it as text."""
    return float(str(text).replace("Infinity", "inf"))


def float32(number):
    return struct.unpack("f", struct.pack("f", float(number)))[0]


def compare(page, what, step, head, values, columns, cells, random_cells):
    """A step of the page against the engine's numbers: all bits, and some cells on the screen."""
    mine = [as_number(one) for one in page.whole(step, head)]
    check(mine == list(values), f"{what}: {step} head {head} has other numbers than the engine")
    for _ in range(cells):
        at = random_cells.randrange(len(values))
        text, exact = page.shown(step, head, at // columns, at % columns)
        hidden = values[at] == 0 and at % columns > at // columns and text == ""  # hatched, for what a mask hides is no weight
        check(hidden or text == as_cell(values[at]), f"{what}: {step} {at}: the table shows {text}, the engine has {values[at]}")
        check(float32(exact.replace("−", "-")) == values[at], f"{what}: {step} {at}: the panel shows {exact}, not {values[at]}")


def layers_of(page, model, weights):
    """(step with the output, steps with x and context, config, prefix of its weights) of layers that can be run alone."""
    width = weights[next(name for name in weights if name.endswith("emb.weight"))][0][1]
    common = {"d_model": width}
    for step in page.steps.values():
        if step["kind"] in ("norm", "rms_norm"):
            kind = "layer_norm" if step["kind"] == "norm" else "rms_norm"
            more = {"bias": "shift" in step} if kind == "layer_norm" else {}
            yield step["id"], step["of"], {"type": kind, **common, **more}, step["id"] + "."
        elif step["kind"] == "linear" and step["id"] + ".weight" in weights and "layers.2" not in step["id"]:
            d_out, d_in = weights[step["id"] + ".weight"][0]
            bias = step["id"] + ".bias" in weights
            yield step["id"], step["of"], {"type": "linear", "d_in": d_in, "d_out": d_out, "bias": bias}, step["id"] + "."
        elif step["id"].endswith(".ff.layers.2"):
            # As a whole: the hidden layer on the page is that of separate operations, this is of the fused one.
            path = step["id"].removesuffix("layers.2")
            config = {"type": "feed_forward", **common, "activation": model.get("activation", "gelu_tanh"), "bias": model.get("bias", True)}
            yield step["id"], page.steps[path + "layers.0"]["of"], config, path
    for section in page.browser.evaluate("data.sections.map((part) => [part.id, part.steps])"):
        if "_blocks." not in section[0]:
            continue
        first, last = section[1][0], section[1][-1]
        decoder = section[0].startswith("decoder")
        config = {key: model[key] for key in ("num_heads", "qkv_bias", "bias", "norm", "activation", "context_length") if key in model}
        config = {"type": "decoder_block" if decoder else "transformer_block", **common, **config}
        attention = {"type": "multi_head_attention"}
        if model["type"] == "classifier" or section[0].startswith("encoder"):
            attention["causal"] = False
        if "num_kv_heads" in model:
            attention.update(num_kv_heads=model["num_kv_heads"], rope=model.get("position") == "rope")
        config["attention"] = attention
        context = ["encoder_norm"] if decoder else []
        yield last["id"], first["of"] + context, config, section[0] + "."


def check_layers(engine, page, what, model, run, random_cells):
    checkpoint = max((run / "checkpoints").iterdir())
    weights = read_tensors(checkpoint / "model.safetensors")
    if "out_head.weight" not in weights:
        weights["out_head.weight"] = weights["tok_emb.weight"]
    layers = list(layers_of(page, model, weights))
    each = max(2, (CELLS - 40) // len(layers))
    for step, inputs, config, prefix in layers:
        tensors = {}
        for name, of in zip(("x", "context"), inputs):
            rows = page.browser.evaluate(f"shapeOf(stepsById.get({json.dumps(of)}))")
            tensors[name] = ("F32", [1, *rows], [float(one) for one in page.whole(of)])
        shape, y = engine.forward(config, tensors, weights_below(weights, prefix))
        compare(page, what, step, 0, y, shape[-1], each, random_cells)
    check(len(layers) >= 8, f"{what}: {len(layers)} layers were compared")


def check_attention(engine, page, what, run, prompt, random_cells):
    asked = ["--prompt", prompt] if prompt else []
    found = json.loads(engine.run("inspect", run, "--attention", "--json", *asked))
    for layer in found["layers"]:
        step = layer["layer"] + ".attn_weights"
        for head, rows in enumerate(layer["weights"]):
            values = [float32(one) for row in rows for one in row]
            compare(page, what, step, head, values, len(rows[0]), 20 // len(layer["weights"]), random_cells)


def softmax(logits, temperature=1.0, top_k=None, top_p=None):
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:top_k]
    weights = {i: math.exp((logits[i] - logits[order[0]]) / temperature) for i in order}
    if top_p:
        total, reached, kept = sum(weights.values()), 0.0, []
        for i in order:
            kept.append(i)
            reached += weights[i]
            if reached >= top_p * total:
                break
        weights = {i: weights[i] for i in kept}
    total = sum(weights.values())
    return [weights.get(i, 0.0) / total for i in range(len(logits))]


def move(browser, slider, value):
    browser.evaluate(f"(() => {{ const s = document.querySelector('#{slider}'); s.value = {value}; s.dispatchEvent(new Event('input')); }})()")


def check_sampling(engine, browser, what, run, ids, source):
    """The logits that the sliders work on are those of `heed forward`, and so is what a click leads to."""
    def logits_of(sequence):
        tensors = {"ids": ("I64", [1, len(sequence)], sequence)}
        if source:
            tensors["source_ids"] = ("I64", [1, len(source)], source)
        shape, y = engine.forward(run, tensors)
        return list(y[-shape[-1]:])

    sequence = ids[:1] if source else list(ids)
    for _ in range(3):
        logits = logits_of(sequence)
        check(browser.evaluate("[...sampling.logits()]") == logits, f"{what}: other logits after {sequence}")
        several = [{"temperature": 0.7}, {"temperature": 1.5, "top_k": 3}, {"temperature": 1.3, "top_p": 0.8}]
        if browser.evaluate("data.model === 'classifier'"):
            several = []
            check(browser.evaluate("!document.querySelector('input[type=range]')"), f"{what}: sliders for what is not drawn")
        for settings in [{}, *several]:
            for slider, usual in (("temperature", 1), ("top_k", len(logits)), ("top_p", 1)) if several else ():
                move(browser, slider, settings.get(slider, usual))
            now = browser.evaluate("[...probabilities(sampling.logits(), sampling.settings)]")
            worst = max(abs(a - b) for a, b in zip(now, softmax(logits, **settings)))
            check(worst < 1e-6, f"{what}: probabilities with {settings} differ by {worst}")
            best = max(range(len(logits)), key=lambda i: (logits[i], -i))
            text = browser.evaluate(f"document.querySelector('.answers tr[data-id=\"{best}\"] td.now').textContent")
            check(text == f"{100 * now[best]:.2f}%", f"{what}: the bar says {text} for {now[best]}")
        if browser.evaluate("data.choices.length") == 1:
            return
        browser.evaluate(f"document.querySelector('.answers tr[data-id=\"{best}\"] button').click()")
        sequence.append(best)
        if browser.evaluate("data.model") == "gpt":
            sequence = sequence[-browser.evaluate("data.context"):]


def check_use(browser, page, what):
    """Keyboard, links, heads, arcs; no complaint and no request but that of the page."""
    attention = next(step for step in page.steps if step.endswith(".attn_weights"))
    browser.evaluate(f"goTo([stepsById.get({json.dumps(attention)}), 0, 0, 0])")
    browser.evaluate("document.querySelector('td.chosen').closest('table').focus()")
    before = browser.evaluate("document.querySelector('#panel').textContent")
    browser.press("ArrowDown")
    check(browser.evaluate("document.querySelector('#panel').textContent") != before, f"{what}: the arrow keys move nothing")
    browser.evaluate("document.querySelector('#panel button.link').click()")
    check(browser.evaluate("document.querySelector('#panel h2').textContent") != "Attention weights, head 0", f"{what}: a term leads nowhere")
    shown = browser.evaluate(
        "(() => { const cells = document.querySelector('td.chosen').closest('tbody').querySelectorAll('td');"
        " const now = () => document.querySelector('#panel .value').textContent;"
        " const point = (cell, kind) => cell.dispatchEvent(new MouseEvent(kind, {bubbles: true}));"
        " point(cells[0], 'click'); const kept = now(); point(cells[1], 'pointerover'); const still = now();"
        " point(cells[1], 'click'); return [kept, still, now()]; })()")
    check(shown[0] == shown[1] != shown[2], f"{what}: a click does not keep a number: {shown}")
    browser.press("Escape")
    check("looks at" in browser.evaluate("document.querySelector('#panel h2').textContent"), f"{what}: Escape does not lead back to the first weight")
    arcs = browser.evaluate("document.querySelectorAll('.arcs path').length")
    browser.evaluate("document.querySelectorAll('.heads button')[1].click()")
    pressed = browser.evaluate("document.querySelectorAll('.heads button')[1].ariaPressed")
    check(arcs > 0 and pressed == "true", f"{what}: {arcs} arcs, second head pressed: {pressed}")
    browser.evaluate("document.querySelector('.arcs g.token:last-child').dispatchEvent(new MouseEvent('click'))")
    alone = browser.evaluate("document.querySelectorAll('.arcs')[0].querySelectorAll('path').length")
    check(0 < alone < arcs, f"{what}: {alone} arcs of one token, {arcs} of all")


def check_every_step(browser, page, what):
    """Every step opens, and its terms add up to its number where the page says that they do."""
    worst = browser.evaluate(
        "[...stepsById.values()].map((step) => { const [rows, columns] = shapeOf(step);"
        " const head = (step.heads || 1) - 1, r = rows - 1, c = step.columns ? 0 : columns - 1;"
        " goTo([step, head, r, c]);"
        " const made = sourceOf(step, head, r, c), value = numberAt(step, head, r, c);"
        " for (const reader of readersOf(step)) { const [s, h, y, x] = placeIn(reader, step, head, r, c);"
        "   if (!(y < shapeOf(s)[0] && x < shapeOf(s)[1])) throw new Error(step.id + ' leads to nothing in ' + s.id); }"
        " if (!made.sum) return [step.id, 0];"
        " return [step.id, Math.abs(made.terms.reduce((sum, term) => sum + term.value, 0) - value)]; })")
    for step, difference in worst:
        check(difference < 1e-4, f"{what}: the terms of {step} differ from it by {difference}")


def check_first_screen(browser, what, out):
    """The answer, every head and the terms of one weight, without scrolling; nothing too small to read on a phone."""
    browser.open(out.as_uri(), width=1280, height=900)
    bottom = browser.evaluate("[...document.querySelectorAll('.answers, button.map, #panel .shares')].map((one) => one.getBoundingClientRect().bottom)")
    heads = browser.evaluate("attentions.reduce((sum, step) => sum + step.heads, 0)")
    check(len(bottom) == heads + 2 and max(bottom) <= 900, f"{what}: the first screen ends at 900, not at {bottom}")
    answer = browser.evaluate("data.answer")
    check(answer in browser.evaluate("document.querySelector('#next').textContent") or what == "negation", f"{what}: the answer {answer} is not on the page")
    browser.evaluate("document.querySelectorAll('button.map')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    check(browser.evaluate("document.querySelector('td.chosen').closest('details').open"), f"{what}: a click on a head opens no block")
    check(browser.evaluate("document.querySelector('#panel h2').textContent").find("head 1") > 0, f"{what}: the panel shows another head")
    number = browser.evaluate("[...document.querySelectorAll('.maps .number')].map((one) => one.textContent)")
    check(number == [str(i) for i in range(len(number))] and len(number) > 1, f"{what}: the heads have the numbers {number}")
    bars = browser.evaluate("[...document.querySelectorAll('table.answers tr')].map((row) => [...row.querySelectorAll('button, .bar div')].map((one) => { const box = one.getBoundingClientRect(); return (box.top + box.bottom) / 2; }))")
    check(all(abs(row[0] - row[-1]) < 2 for row in bars), f"{what}: bars stand apart from their labels: {bars}")
    frame = browser.evaluate("(() => { overview.showFirst(); return [...document.querySelectorAll('button.map .line:not([hidden])')].at(-1)?.style.top ?? null; })()")
    framed = {"reverse": "0%", "negation": None}.get(what, frame if frame not in (None, "0%") else "another")
    check(frame == framed, f"{what}: the row from {frame} on is framed")
    for width in (390, 1280, 1920):
        browser.open(out.as_uri() + "?big", width=width)
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{what}?big: wider than {width}")
        check(browser.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)") >= 20, f"{what}?big is not larger")
    check("?big" in browser.evaluate("document.querySelector('footer').textContent"), f"{what}: the page does not tell of ?big")
    browser.open(out.as_uri(), width=390, dark=True)
    browser.evaluate("document.querySelector('#panel .close').click()")
    check(browser.evaluate("document.querySelector('#panel').getBoundingClientRect().height") == 0, f"{what}: the panel stays over the page")
    browser.evaluate("overview.showFirst()")
    smallest = browser.evaluate("Math.min(...[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility?.() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).map((one) => parseFloat(getComputedStyle(one).fontSize)))")
    check(smallest >= 12, f"{what}: a text of {smallest} px")


def check_page(engine, browser, what, folder, random_cells):
    run, prompt = folder / what, PROMPTS[what]
    out = folder / f"{what}.html"
    asked = ["--prompt", prompt] if prompt else []
    engine.run("explain", run, *asked, "--tokens", 5, "--out", out)
    for width, dark in [(1300, False), (390, True)]:
        browser.open(out.as_uri(), width=width, dark=dark)
        browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{what}: wider than {width}")
        shade = browser.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        check((shade == "rgb(251, 250, 247)") != dark, f"{what}: the page is {shade}")
    check_first_screen(browser, what, out)
    browser.open(out.as_uri())
    page = Page(browser)
    model = read_model(folder / f"{what}.yaml")
    check_layers(engine, page, what, model, run, random_cells)
    check_attention(engine, page, what, run, prompt, random_cells)
    ids = browser.evaluate("[...stepsById.values()].filter((s) => s.kind === 'embedding').map((s) => s.ids)")
    check_sampling(engine, browser, what, run, ids[-1], ids[0] if len(ids) == 2 else None)
    check_every_step(browser, page, what)
    check_use(browser, page, what)
    check(not browser.complaints, f"{what}: the browser complains: {browser.complaints[:3]}")
    check(browser.requests == [out.as_uri()], f"{what}: requests {browser.requests}")
    check(browser.evaluate("document.querySelectorAll('img, b').length") == 0, f"{what}: a text became markup")


def check_written(engine, browser, folder):
    """heed generate --html: every token in its colour, its rivals by pointer and keyboard, the text as it is."""
    out = folder / "written.html"
    asked = ["generate", folder / "gpt", "--prompt", HOSTILE, "--tokens", 30, "--samples", 2, "--temperature", 2]
    engine.run(*asked, "--html", out)
    samples = json.loads(engine.run(*asked, "--json"))["samples"]
    pieces = "[...document.querySelectorAll('.written span[style]')]"
    for width, dark in [(1280, False), (390, True)]:
        browser.open(out.as_uri(), width=width, dark=dark)
        text = browser.evaluate("[...document.querySelectorAll('.written')].map((one) => one.textContent.replaceAll('↵', ''))")
        check(text == [sample["text"] for sample in samples], f"written: {text}")
        colors = browser.evaluate(pieces + ".map((one) => getComputedStyle(one).backgroundColor)")
        check(len(colors) == 60 and len(set(colors)) > 5, f"written: {len(colors)} pieces, {len(set(colors))} colours")
        check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"written: wider than {width}")
    for at, token in enumerate(samples[0]["tokens"]):
        browser.evaluate(f"{pieces}[{at}].dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
        rows = browser.evaluate("[...document.querySelectorAll('#places td')].map((cell) => cell.textContent)")
        best = [one["probability"] for one in token["likeliest"] if one["id"] != token["id"]][:3]
        check(rows == [f"{100 * share:.2f}%" for share in [token["probability"], *best]], f"written, token {at}: {rows}")
    browser.evaluate("document.querySelector('.written').focus()")
    browser.press("ArrowRight")
    check(browser.evaluate(f"{pieces}.findIndex((one) => one.className === 'picked')") == 30, "written: the arrow keys do not lead on")
    check(not browser.complaints, f"written: the browser complains: {browser.complaints[:3]}")
    check(browser.requests == [out.as_uri()], f"written: requests {browser.requests}")
    check(browser.evaluate("document.querySelectorAll('img, b').length") == 0, "written: a text became markup")


def check_pictures(engine, browser, folder):
    """A model of pictures: the patches, what they become, and every head over the pixels."""
    (folder / "pictures.yaml").write_text(PICTURES + TRAIN)
    engine.run("train", folder / "pictures.yaml", "--out", folder / "pictures")
    out = folder / "pictures.html"
    engine.run("explain", folder / "pictures", "--out", out)
    browser.open(out.as_uri(), width=390, dark=True)
    check(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), "pictures: wider than the window")
    browser.open(out.as_uri(), width=1280, height=900)
    page = Page(browser)
    pixels = [float(one) for one in page.whole("patch_emb.patches")]
    picture = [pixels[(y // 2 * 4 + x // 2) * 4 + y % 2 * 2 + x % 2] for y in range(8) for x in range(8)]
    shape, y = engine.forward(folder / "pictures", {"x": ("F32", [1, 1, 8, 8], picture)})
    check(list(y) == browser.evaluate("[...sampling.logits()]"), "pictures: the patches are not the picture of these logits")
    shown = browser.evaluate("data.picture.pixels")
    check(sorted(range(64), key=lambda i: (shown[i], i))[-1] == max(range(64), key=lambda i: (picture[i], i)), "pictures: other pixels")
    drawn = "[...document.querySelectorAll('button.map canvas')].map((canvas) => canvas.toDataURL())"
    before = browser.evaluate(drawn)
    check(len(before) == 4 and len(set(before)) == 4, f"pictures: {len(before)} heads, {len(set(before))} of them different")
    browser.evaluate("(() => { const m = document.querySelectorAll('button.map')[2], b = m.getBoundingClientRect();"
                     " m.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + 0.9 * b.width, clientY: b.top + 0.1 * b.height})); })()")
    words = browser.evaluate("document.querySelector('#panel h2').textContent")
    check(words.startswith("Block 1, head 0: “0,3” looks at “"), f"pictures, pointed at: {words}")
    check(all(a != b for a, b in zip(before, browser.evaluate(drawn))), "pictures: pointing changes no head")
    browser.evaluate("document.querySelectorAll('button.map')[2].focus()")
    browser.press("ArrowDown")
    words = browser.evaluate("document.querySelector('#panel h2').textContent")
    check("“1,3” looks at" in words, f"pictures, by the keyboard: {words}")
    browser.press("Escape")
    check(browser.evaluate(drawn) == before, "pictures: Escape does not lead back to the average")
    check_every_step(browser, page, "pictures")
    check(not browser.complaints, f"pictures: the browser complains: {browser.complaints[:3]}")


def read_model(path):
    """The model section of CONFIGS: flow style, values without quotes."""
    text = path.read_text().split("model: {", 1)[1].split("}", 1)[0]
    pairs = (pair.split(":") for pair in text.replace("\n", " ").split(","))
    made = {key.strip(): value.strip() for key, value in pairs}
    words = {"true": True, "false": False}
    model = {key: words.get(value, int(value) if value.isdigit() else value) for key, value in made.items()}
    model.setdefault("context_length", 64)
    return model


def main(heed, *models):
    models = models or (*CONFIGS, "pictures")
    if not find_browser():
        print("skipped: there is no chromium; tools/setup.sh --dev installs it")
        return 77
    random_cells = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        engine = Engine(heed, folder)
        (folder / "text.txt").write_text(TEXT)
        with Browser() as browser:
            for run, config in CONFIGS.items():
                if run not in models:
                    continue
                (folder / f"{run}.yaml").write_text(config + TRAIN)
                engine.run("train", folder / f"{run}.yaml", "--out", folder / run)
                check_page(engine, browser, run, folder, random_cells)
                if run == "gpt":
                    check_written(engine, browser, folder)
            if "pictures" in models and subprocess.run([heed, "layers", "encoder"], capture_output=True).returncode == 0:
                check_pictures(engine, browser, folder)
    print("\n".join(failures[:40]))
    print(f"{checks} things looked at in the browser, {len(failures)} wrong")
    return 1 if failures or checks < 200 * len(CONFIGS.keys() & set(models)) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
