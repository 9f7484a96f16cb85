"""How much the heads of a model differ in what they attend to, and how many of them it can do without."""
import array
import collections
import itertools
import json
import math
import re
import statistics

from claims import tensor_file
from claims.pages import CONFIGS

WINDOWS, LENGTH = 8, 64  # of validation text
LOST = (0.02, 0.1)  # the loss may rise by this much


def validation_windows():
    """Pieces of the last tenth of Shakespeare's text, evenly spaced."""
    text = (CONFIGS / "data/tinyshakespeare.txt").read_text()
    begin = len(text) * 9 // 10
    step = (len(text) - begin) // WINDOWS
    return [text[i:i + LENGTH] for i in range(begin, begin + WINDOWS * step, step)]


def divergence(p, q):
    """Jensen and Shannon's, of two distributions, in bits: 0 if they are equal, 1 if nothing is likely in both."""
    return sum(a * math.log2(2 * a / (a + b)) for x, y in zip(p, q) for a, b in ((x, y), (y, x)) if a > 0) / 2


def diversity(heed, run):
    """The divergence of what two heads of a block attend to: the mean over all pairs, rows and windows. The first token
    can attend to itself alone, so its row is left out."""
    found = []
    for window in validation_windows():
        blocks = collections.defaultdict(list)
        for layer in json.loads(heed("inspect", run, "--attention", "--all", "--prompt", window, "--json"))["layers"]:
            blocks[re.match(r"trf_blocks\.\d+", layer["layer"])[0]] += layer["weights"]  # of each head, or of one
        for heads in blocks.values():
            for one, other in itertools.combinations(heads, 2):
                found += map(divergence, one[1:], other[1:])
    return statistics.mean(found)


def without_head(path, part, head, heads, out):
    """Writes the weights of a model whose `head` adds nothing: its columns of the Linear layer behind the heads are 0."""
    described, numbers = tensor_file.read(path)
    linear = next(name for name in (f"{part}.out_proj.weight", f"{part}.1.weight") if name in described)
    (rows, columns), (begin, end) = described[linear]["shape"], described[linear]["data_offsets"]
    weight, width = array.array("f", numbers[begin:end]), columns // heads
    for row in range(rows):
        first = row * columns + head * width
        weight[first:first + width] = array.array("f", [0] * width)
    numbers[begin:end] = weight.tobytes()
    tensor_file.write(out, described, numbers)


def weights_of(run):
    path, = run.glob("checkpoints/*/model.safetensors")
    return path


def prune(heed, run, still):
    """How many heads can be removed, each time the one that is missed least, before the loss has risen by more than each of
    LOST. `still` are arguments of a training that changes nothing: the way from weights in a file to a run."""
    removed, current, losses = [], run, []
    while True:
        report = json.loads(heed("probe", current, "ablate", "--batches", 20, "--json"))
        losses = losses or [report["loss"]]
        heads = [(part["loss"], part["part"], part["head"]) for part in report["parts"] if part["head"] is not None]
        in_block = len(heads) // len({part for _, part, _ in heads})
        left = [one for one in heads if one[1:] not in removed]
        if not left or losses[-1] > losses[0] + max(LOST):
            return [sum(loss <= losses[0] + lost for loss in losses[1:]) for lost in LOST]
        loss, part, head = min(left)
        losses.append(loss)
        removed.append((part, head))
        weights = run / "pruned.safetensors"
        without_head(weights_of(current), part, head, in_block, weights)
        current = run / f"without-{len(removed)}"
        heed("train", *still, "--weights", weights, "--out", current)
