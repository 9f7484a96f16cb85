#!/usr/bin/env python3
"""Writes the notebooks: notebooks/chapter_3.ipynb, your_text.ipynb, induction.ipynb, gradients.ipynb.

    tools/python/notebooks.py            writes them; the outputs of cells that have not changed stay
    tools/python/notebooks.py --check    fails if their cells are not what this script writes
    tools/python/notebooks.py --run      runs them as well (needs nbclient and ipykernel; heed as $HEED, or on the path)

tests/tools/python/test_notebooks.py runs them from top to bottom.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"

# A cell each: text, or code after a line ">".
CHAPTER_3 = '''
# Chapter 3: attention, step by step
The numbers of chapter 3 of "Build a Large Language Model (From Scratch)", computed by heedgrad's engine, and then the
attention of a model that this notebook trains. Everything runs on the CPU, in about a minute.
>
import numpy as np
import heedgrad as hg

np.set_printoptions(precision=4, suppress=True)
print(hg.tour("scores"))
---
## From scores to a context vector
"journey", the second word, looks at all six. Its scores become weights by softmax; the context vector is the sum of the
words by these weights.
>
weights = hg.tour("weights")["simple.weights_2_softmax"]
context = hg.tour("context")["simple.context_2"]
print("weights", weights, "sum", weights.sum().round(6))
print("context", context)
---
`hg.tour` returns numpy arrays, so that each step can be done by hand:
>
numbers = hg.tour()
x, scores = numbers["inputs"], numbers["simple.scores_2"]
by_hand = np.exp(scores) / np.exp(scores).sum()
assert np.allclose(by_hand, weights, atol=1e-6)
assert np.allclose(by_hand @ x, context, atol=1e-6)
by_hand @ x
---
## Hiding the words to come
A causal mask sets the scores of later words to minus infinity before the softmax. Every row still sums to 1.
>
print(numbers["causal.masked_scores"])
print(numbers["causal.weights"])
---
## Several heads
Two heads side by side: each has its own queries, keys and values; the outputs are put next to each other.
>
print(hg.tour("multi_head_attention"))
---
Are the gradients of this layer right? heedgrad compares each of them with central differences, in float64:
>
hg.gradcheck("multi_head_attention")
---
## Attention of a model of one's own
The same layer in a small GPT, which learns to continue sentences of a toy language.
>
import random

random.seed(3)
names, verbs, things = ["the cat", "the dog", "a bird"], ["sees", "likes", "eats"], ["fish", "bread", "rice"]
lines = [f"{random.choice(names)} {random.choice(verbs)} {random.choice(things)}" for _ in range(2000)]
open("sentences.txt", "w").write("\\n".join(lines))

run = hg.train({
    "seed": 123,
    "data": {"type": "text", "path": "sentences.txt"},
    "model": {"type": "gpt", "context_length": 32, "d_model": 32, "num_heads": 2, "num_layers": 2},
    "optimizer": {"type": "adamw", "lr": 3e-3},
    "train": {"steps": 300, "batch_size": 16, "log_every": 20},
    "eval": {"every": 100, "batches": 4},
}, out="runs/chapter_3")
run.metrics()
>
print(run.generate("the cat", tokens=80))
---
A row is a letter that looks, a column one that is looked at. The upper right is hidden by the mask.
>
attention = run.attention("the cat likes")
attention
>
last = attention[-1, 0, -1]                     # the last letter, in head 0 of the last block
for token, weight in sorted(zip(attention.tokens, last), key=lambda pair: -pair[1])[:5]:
    print(f"{token}  {weight:.2f}")
'''

YOUR_TEXT = '''
# Train on your own text
Put a text in UTF-8 next to this notebook as `my.txt`, from 2 kB on. Without one, the notebook makes a text of small sums.
>
from pathlib import Path
import heedgrad as hg

path = Path("my.txt")
if not path.exists():
    path.write_text("\\n".join(f"{a} plus {b} is {a + b}." for a in range(60) for b in range(60)))
text = path.read_text(encoding="utf-8")
print(len(text), "characters,", len(set(text)), "different")
print(text[:120])
---
Every character becomes a token. The plan first: how large the model is, and what memory it needs.
>
config = {
    "data": {"type": "text", "path": path},
    "model": {"type": "gpt", "context_length": 64, "d_model": 64, "num_heads": 4, "num_layers": 2},
    "optimizer": {"type": "adamw", "lr": 2e-3},
    "train": {"steps": 400, "batch_size": 16, "log_every": 10},
    "eval": {"every": 100, "batches": 8},
}
hg.validate(config)
---
The stop button saves the run; `hg.resume("runs/your_text")` then goes on, as if nothing had happened.
>
run = hg.train(config, out="runs/your_text")
run.metrics()
---
The loss is in nats; exp(loss) says between how many characters the model still hesitates. When
`val_loss` rises while `loss` falls, the text is being learned by heart.
>
print(run.eval()["val_loss"])
print(run.generate(text[:8], tokens=200))
---
How sure was it? The likeliest tokens at the last position of a prompt, after each block:
>
prompt = text[:12].strip()
run.lens(prompt)
---
And what did each head look at?
>
run.attention(prompt)
---
All of one prediction, every number with what it was computed from (click on a weight):
>
run.explain(prompt)
---
A longer training goes on from here:
>
run = run.resume(set={"train.steps": 500})
run.step
'''

INDUCTION = '''
# An induction head
Two blocks of one head each, without feed-forward, learn that what followed a symbol before follows it again. This
notebook trains that model, finds the two heads, removes them, and looks at one prediction.
>
import heedgrad as hg

run = hg.train({
    "seed": 123,
    "data": {"type": "induction", "length": 32, "min_period": 4, "symbols": 32},
    "model": {"type": "gpt", "d_model": 64, "num_heads": 1, "num_layers": 2, "feed_forward": None},
    "optimizer": {"type": "adamw", "lr": 3e-3},
    "train": {"steps": 1500, "batch_size": 64, "log_every": 25},
    "eval": {"every": 50, "batches": 4},
}, out="runs/induction")
run.metrics()
---
The loss falls steeply within the first steps: that is when the circuit forms. Which head does what? On random symbols
that come twice, the first one attends to the previous symbol, the second one to what followed the current symbol
before.
>
heads = run.heads()
heads
>
prompt = "7 3 21 0 14 7 3 21"
run.attention(prompt)
---
After "7 3 21" comes "0", as before. Before the first block and after each, the model would answer:
>
run.lens(prompt)
---
Without the first head, the second one does not find the place: the loss without each part, and the share of right
answers.
>
ablated = run.probe("ablate")
rows = [{"without": "nothing", "loss": ablated["loss"], "accuracy": ablated["accuracy"]}]
rows += [{"without": f"head {part['head']} of {part['part']}", "loss": part["loss"], "accuracy": part["accuracy"]}
         for part in ablated["parts"] if part["head"] is not None]
hg.Table(rows)
---
The prediction itself, down to each product:
>
run.explain(prompt)
'''

GRADIENTS = '''
# Gradients one can see
A small GPT learns sums. This notebook looks at what trains it: how gradients flow over a run, what one prediction wants
of each weight, what one step on it changes, and how far back it reaches.
>
import numpy as np
import heedgrad as hg
from heedgrad.curves import curves
from IPython.display import SVG

np.set_printoptions(precision=3, suppress=True)
with open("sums.txt", "w") as file:
    file.write("\\n".join(f"{a} plus {b} is {a + b}." for a in range(60) for b in range(60)))
run = hg.train({
    "seed": 123,
    "data": {"type": "text", "path": "sums.txt"},
    "model": {"type": "gpt", "context_length": 48, "d_model": 48, "num_heads": 2, "num_layers": 2},
    "optimizer": {"type": "adamw", "lr": 3e-3},
    "train": {"steps": 400, "batch_size": 16, "log_every": 10},
    "eval": {"every": 20, "batches": 4, "gradients": True},
}, out="runs/sums")
run.metrics()
---
## Over the run
At each evaluation the run wrote the norm of every gradient, of the weights, and of what the step changed. Often that is
about a thousandth of the weights; here, with a rate of 0.003, somewhat more.
>
history = run.gradients()
ratio = history.update_norm / history.weight_norm.clip(1e-12)
hg.Table({"parameter": name, "gradient": history.grad_norm[-1, i], "update / weight": ratio[-1, i]}
         for i, name in enumerate(history.parameters) if name.endswith("weight"))
>
shown = ["tok_emb.weight", "trf_blocks.0.ff.layers.0.weight", "trf_blocks.1.ff.layers.0.weight", "out_head.weight"]
SVG(curves({name: (history.steps, history.grad_norm[:, history.parameters.index(name)]) for name in shown}))
---
## One prediction, backwards
What follows "12 plus 30 is "? The gradient of the loss by the logits is p - y: what the model says minus what is wanted.
The output layer gets it times what it read, so its gradient is a matrix of rank one, and its columns are p - y.
>
prompt, answer = "12 plus 30 is ", "4"
gradients = run.gradients(prompt, answer)
lesson = run.teach(prompt, answer)
out = gradients["out_head.weight"].astype(np.float64)      # (vocabulary, width)
left, sizes, _ = np.linalg.svd(out)
assert sizes[1] < 1e-4 * sizes[0]
wanted = np.abs(left[:, 0]).argmax()                       # y is 1 there, so p - 1 is the largest
p_minus_y = left[:, 0] / left[wanted, 0] * (lesson.before - 1)
print("p - y", p_minus_y, "sum", abs(p_minus_y.sum()).round(3))
assert abs(p_minus_y.sum()) < 1e-3
---
## Who said so?
Gradient times activation tells how much each token, and each part of the model, adds to the logit of the answer.
>
found = run.attribute(prompt, answer)
hg.Table({"token": token, "value": value} for token, value in zip(found.tokens, found.values))
>
found.parts
---
The attention that it used:
>
run.attention(prompt)
---
## One step on it
What would one step of plain gradient descent on this example change? The run stays as it is.
>
print(f"p: {lesson.before:.3f} -> {lesson.after:.3f}, loss: {lesson.loss_before:.3f} -> {lesson.loss_after:.3f}")
assert lesson.loss_after < lesson.loss_before
lesson.others
---
The gradient promises a straight line. Small steps follow it, large ones do not:
>
squared = sum(float((one.astype(np.float64) ** 2).sum()) for one in gradients.values())
rates = [0.001, 0.01, 0.1, 1.0]
hg.Table({"lr": lr, "promised": -lr * squared, "measured": step.loss_after - step.loss_before}
         for lr in rates for step in [run.teach(prompt, answer, lr=lr)])
---
## How far back?
The norm of the gradient at the token k places before the last one, a mean over validation windows.
>
reach = run.reach()
SVG(curves({"d loss / d embedding, by distance": (np.arange(len(reach)), reach)}))
---
All of one prediction, every number with what it was computed from:
>
run.explain(prompt)
'''


def cells(text: str) -> list[dict[str, Any]]:
    """The cells of a text: "---" ends one, ">" begins code."""
    made: list[dict[str, Any]] = []
    for part in text.strip("\n").split("\n---\n"):
        words, *codes = part.split("\n>\n")
        for kind, source in [("markdown", words), *(("code", code) for code in codes)]:
            cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{len(made)}", "metadata": {},
                                    "source": source.strip("\n").splitlines(keepends=True)}
            if kind == "code":
                cell.update(execution_count=None, outputs=[])
            made.append(cell)
    return made


def notebook(text: str) -> str:
    """A notebook, format 4.5, as the text of its file."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells(text), "metadata": {"kernelspec": kernel},
                       "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def without_outputs(text: str) -> str:
    """The same notebook as this script makes it."""
    book = json.loads(text)
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell.update(execution_count=None, outputs=[])
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def with_outputs(text: str, before: str) -> str:
    """The notebook with the outputs that cells of the same source have in another one."""
    book = json.loads(text)
    known = {"".join(cell["source"]): cell for cell in json.loads(before)["cells"]}
    for cell in book["cells"]:
        old = known.get("".join(cell["source"]), cell)
        if cell["cell_type"] == "code":
            cell.update(execution_count=old["execution_count"], outputs=old["outputs"])
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def run(text: str) -> str:
    """The notebook with the outputs of a run in an empty folder; a page, which has megabytes, is left out."""
    import nbclient
    import nbformat

    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    book = nbformat.reads(text, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(book, timeout=300, kernel_name="python3", record_timing=False,
                                resources={"metadata": {"path": folder}}).execute()
    for output in (one for cell in book.cells if cell.cell_type == "code" for one in cell.outputs):
        data = output.get("data", {})
        if data.get("text/html", "").startswith("<iframe"):
            output["data"] = {"text/plain": "(a page: run this cell to see it)"}
        elif "image/svg+xml" in data:
            del data["text/plain"]  # thousands of numbers
    return with_outputs(text, nbformat.writes(book))


NOTEBOOKS = {"chapter_3.ipynb": CHAPTER_3, "your_text.ipynb": YOUR_TEXT,
             "induction.ipynb": INDUCTION, "gradients.ipynb": GRADIENTS}


def main() -> int:
    how = sys.argv[1] if len(sys.argv) == 2 else ""
    if len(sys.argv) > 2 or how not in ("", "--check", "--run"):
        print(__doc__)
        return 2
    for name, text in NOTEBOOKS.items():
        path, wanted = FOLDER / name, notebook(text)
        before = path.read_text(encoding="utf-8") if path.exists() else wanted
        if how == "--check":
            if without_outputs(before) != wanted:
                print(f"{path}: is not what tools/python/notebooks.py writes")
                return 1
        else:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(run(wanted) if how else with_outputs(wanted, before), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
