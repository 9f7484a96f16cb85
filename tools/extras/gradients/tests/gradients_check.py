#!/usr/bin/env python3
"""The section "How the gradients flow" of report.html in a real browser: headless Chromium, without network.

    gradients_check.py HEED

Trains a small run with eval.gradients, then writes a gradients.csv in which something is off, and looks at the map and the
sentences. Exits with 77, which ctest shows as skipped, where there is no Chromium.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tools"))
from browser import Browser, find_browser  # noqa: E402

CONFIG = """
data: {type: text, path: text.txt}
model: {type: gpt, context_length: 16, d_model: 8, num_heads: 2, num_layers: 2}
train: {steps: 30, batch_size: 4}
eval: {every: 10, batches: 1, gradients: true}
"""
SENTENCES = """[...document.querySelectorAll('#gradients .notice')].map((one) => one.textContent)"""
CELLS = "document.querySelectorAll('#gradients .scroll rect').length"
FIRST_TITLE = "document.querySelector('#gradients rect title').textContent"
OTHER_MAP = "[...document.querySelectorAll('#gradients button')].find((one) => one.textContent === 'update / weight').click()"


def report(heed, folder):
    subprocess.run([heed, "report", "run"], cwd=folder, check=True, capture_output=True)
    return f"file://{folder}/run/report.html"


def with_mistakes(rows):
    """Of the rows of gradients.csv: block 0 gets 1/400 of block 1's gradient, a matrix none from step 20 on, one is fast."""
    for step, name, gradient, weight, update in rows:
        gradient = 4e-4 if name.startswith("trf_blocks.0") else 0.16
        if name == "trf_blocks.1.ff.layers.0.weight" and int(step) >= 20:
            gradient = 0.0
        update = 0.5 if name == "tok_emb.weight" else 0.001
        yield ",".join([step, name, str(gradient), "1", str(update)])


def check(heed, folder, browser):
    (folder / "text.txt").write_text("the cat sat on the mat\n" * 100)
    (folder / "c.yaml").write_text(CONFIG)
    subprocess.run([heed, "train", "c.yaml", "--out", "run"], cwd=folder, check=True, capture_output=True)
    csv = folder / "run/gradients.csv"
    heading, *rows = csv.read_text().splitlines()
    parameters = len(rows) // 3
    browser.open(report(heed, folder))
    assert browser.evaluate(SENTENCES) == [], "nothing is off"
    assert browser.evaluate(CELLS) == 3 * parameters
    name, gradient = rows[0].split(",")[1:3]
    title = browser.evaluate(FIRST_TITLE)
    assert title.startswith(f"{name}, step 10: norm of the gradient "), title
    assert abs(float(title.split()[-1]) - float(gradient)) <= 1e-3 * float(gradient), title
    csv.write_text("\n".join([heading, *with_mistakes(row.split(",") for row in rows), "30,half"]))
    for dark in (False, True):
        browser.open(report(heed, folder), width=390, dark=dark)
        words = browser.evaluate(SENTENCES)
        assert words == ["trf_blocks.1.ff.layers.0.weight does not learn: its gradient is 0 since step 20.",
                         "trf_blocks.0 gets 1/380 of the gradient of trf_blocks.1 since step 10.",
                         "tok_emb.weight moves 500 times as fast as the median matrix since step 10."], words
        browser.evaluate(OTHER_MAP)
        assert browser.evaluate(FIRST_TITLE) == "tok_emb.weight, step 10: norm of the update by norm of the weights 0.5"
    csv.unlink()
    browser.open(report(heed, folder))
    assert browser.evaluate("document.getElementById('gradients')") is None


def main():
    if find_browser() is None:
        return 77
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        check(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(folder), browser)
    return 0


if __name__ == "__main__":
    sys.exit(main())
