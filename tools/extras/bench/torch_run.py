"""PyTorch's side of the whole run: configs/shakespeare_char.yaml from start to end, as nanoGPT trains it.

    python tools/extras/bench/torch_run.py [--steps 2000] [--threads 2]

2000 steps, cosine schedule with warm-up, and nine evaluations of 20 batches of both splits. Prints {"ms": the time
from the start of this file to the end, "val_loss": of the last evaluation}.
"""
import time

START = time.perf_counter()

import argparse  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import pathlib  # noqa: E402

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch_step import GPT  # noqa: E402

TEXT = pathlib.Path(__file__).resolve().parents[3] / "configs/data/tinyshakespeare.txt"


def learning_rate(step, steps, warm_up=100, high=1e-3, low=1e-4):
    if step < warm_up:
        return high * (step + 1) / (warm_up + 1)
    return low + 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up))) * (high - low)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=0)
    a = parser.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(1337)
    text = TEXT.read_text()
    letters = {c: i for i, c in enumerate(sorted(set(text)))}
    ids = torch.tensor([letters[c] for c in text])
    split = int(0.9 * len(ids))
    shape = argparse.Namespace(layers=4, heads=4, width=128, context=64, vocab=len(letters), dropout=0.0, bias=False)
    model = GPT(shape)
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                                  1e-3, (0.9, 0.99))

    def batch(data):
        at = torch.randint(len(data) - 64, (12,))
        return torch.stack([data[i:i + 64] for i in at]), torch.stack([data[i + 1:i + 65] for i in at])

    @torch.no_grad()
    def evaluate():
        model.eval()
        losses = [sum(model(*batch(data)).item() for _ in range(20)) / 20 for data in (ids[:split], ids[split:])]
        model.train()
        return losses[1]

    val_loss = evaluate()
    for step in range(a.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, a.steps)
        loss = model(*batch(ids[:split]))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % 250 == 0:
            val_loss = evaluate()
    print(json.dumps({"ms": 1e3 * (time.perf_counter() - START), "val_loss": val_loss}))


if __name__ == "__main__":
    main()
