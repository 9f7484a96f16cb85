"""The loss of several models whose probabilities are averaged."""
import array
import json
import math

from claims import tensor_file
from claims.pages import CONFIGS

LENGTH = 64  # of a window


def windows_of(run):
    """The validation windows of The Verdict as ids, and the ids that follow: as `heed eval` cuts them."""
    path, = run.glob("checkpoints/*/vocabulary.json")
    ids = {character: i for i, character in enumerate(json.loads(path.read_text())["tokens"])}
    text = (CONFIGS / "data/the-verdict.txt").read_text()
    text = [ids[character] for character in text[int(0.9 * len(text)):]]
    begins = range(0, len(text) - LENGTH, LENGTH)
    return [text[i:i + LENGTH] for i in begins], [text[i + 1:i + 1 + LENGTH] for i in begins]


def log_probabilities(heed, run, windows):
    """Of every token at every place, a list for each place."""
    ids = array.array("q", [token for window in windows for token in window]).tobytes()
    given, made = run / "windows.safetensors", run / "logits.safetensors"
    header = {"ids": {"dtype": "I64", "shape": [len(windows), LENGTH], "data_offsets": [0, len(ids)]}}
    tensor_file.write(given, header, ids)
    heed("forward", run, "--in", given, "--out", made)
    described, numbers = tensor_file.read(made)
    logits = array.array("f", numbers)
    width = described["y"]["shape"][-1]
    for i in range(0, len(logits), width):
        row = logits[i:i + width]
        total = math.log(sum(map(math.exp, row)))
        yield [logit - total for logit in row]


def loss_of(heed, runs):
    windows, targets = windows_of(runs[0])
    right = [token for window in targets for token in window]
    members = [[row[token] for row, token in zip(log_probabilities(heed, run, windows), right)] for run in runs]
    likely = [sum(map(math.exp, of)) / len(runs) for of in zip(*members)]
    return -sum(map(math.log, likely)) / len(likely)
