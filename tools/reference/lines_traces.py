"""The task `lines` in PyTorch: documents with a beginning and an end, trained as heed trains them.

    python tools/reference/lines_traces.py [--out tests/golden/fine_tuning/lines.json]
    python tools/reference/lines_traces.py --run runs/names        # of tools/extras/fine_tuning/configs/names.yaml

The first writes the losses and gradient norms of 30 steps, in float64, made with PyTorch 2.13: {name: {"config": our YAML,
path relative to the file's own folder, "loss": [...], "grad_norm": [...]}}. `plain` has no dropout, `dropout` has 0.1.
The second repeats all steps of names.yaml in float32 and compares its losses with those in the run's metrics.csv.

documents() and batches() are the whole task: the split by XXH64, the order of DataLoader, <start> before and <end> after a
document, padding that has no loss. A batch is as long as heed's (room_for in tools/extras/own_data/train/own_examples.cpp), which
matters for dropout alone.
"""
import argparse
import csv
import json
import math
import pathlib

import torch
import yaml
from torch.nn import functional as F
from torch.utils.data import DataLoader

import torch_layers
from train_traces import DROPOUT_STREAM, Streams, learning_rate, make_optimizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
IGNORED = -100


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md"""
    mask = (1 << 64) - 1
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                          0x27D4EB2F165667C5)

    def rotate(x, r):
        return ((x << r) | (x >> (64 - r))) & mask

    def rounded(acc, lane):
        return rotate((acc + lane * p2) & mask, 31) * p1 & mask

    assert len(data) < 32, "longer texts take the stripes of the specification, which no name here needs"
    hash_, at = (p5 + len(data)) & mask, 0
    while at + 8 <= len(data):
        hash_ = (rotate(hash_ ^ rounded(0, int.from_bytes(data[at:at + 8], "little")), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= len(data):
        hash_ = (rotate(hash_ ^ int.from_bytes(data[at:at + 4], "little") * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        hash_ = rotate(hash_ ^ byte * p5 & mask, 11) * p1 & mask
    for shift, prime in ((33, p2), (29, p3)):
        hash_ = (hash_ ^ hash_ >> shift) * prime & mask
    return hash_ ^ hash_ >> 32


def documents(path: pathlib.Path, train_fraction: float):
    """The ids of the documents to train on and to validate with, and the number of characters."""
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    characters = sorted(set("".join(lines)))
    train, validation = [], []
    for line in lines:
        part = train if (xxh64(line.encode()) >> 11) * 2.0**-53 < train_fraction else validation
        part.append([characters.index(c) for c in line])
    return train, validation, len(characters)


def padded(chosen: list[list[int]], start: int, longest: int):
    step = 8 * (longest // 32 + 1)
    length = min(longest, (max(map(len, chosen)) // step + 1) * step - 1) + 1
    ids = torch.full((len(chosen), length), start + 1)
    targets = torch.full((len(chosen), length), IGNORED)
    for row, document in enumerate(chosen):
        ids[row, :len(document) + 1] = torch.tensor([start, *document])
        targets[row, :len(document) + 1] = torch.tensor([*document, start + 1])
    return ids, targets


def batches(train: list[list[int]], batch_size: int):
    loader = DataLoader(range(len(train)), batch_size=batch_size, shuffle=True, drop_last=True)
    while True:
        for which in loader:
            yield [train[i] for i in which]


def loss_of(net, ids, targets, reduction="mean"):
    return F.cross_entropy(net(ids).flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction=reduction)


@torch.no_grad()
def validation_loss(net, held_out, start, longest):
    net.eval()
    ids, targets = padded(held_out, start, longest)
    loss = loss_of(net, ids, targets).item()
    net.train()
    return loss


def train(config: dict, folder: pathlib.Path, dtype: torch.dtype) -> dict:
    """{"loss", "grad_norm"} of each step, {"val_loss": {step: loss}}."""
    data, run = config["data"], config["train"]
    documents_, held_out, start = documents(folder / data["path"], data.get("train_fraction", 0.9))
    longest = max(map(len, documents_ + held_out))
    streams = Streams(config["seed"], separate=True)
    with streams.of("initialisation"):
        net = torch_layers.build({"vocab_size": start + 2, "context_length": longest + 1, **config["model"]})
    net = net.to(dtype).train()
    order = batches(documents_, run["batch_size"])
    optimizer = make_optimizer(net, config["optimizer"])
    every = config.get("eval", {}).get("every", run["steps"])
    trace = {"loss": [], "grad_norm": [], "val_loss": {}}
    for step in range(1, run["steps"] + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, config["optimizer"]["lr"], config["schedule"], run["steps"])
        optimizer.zero_grad()
        with streams.of("data"):
            chosen = next(order)
        with streams.of("dropout"):
            loss = loss_of(net, *padded(chosen, start, longest))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), run.get("clip_grad_norm", math.inf))
        optimizer.step()
        trace["loss"].append(loss.item())
        trace["grad_norm"].append(norm.item())
        if step % every == 0 or step == run["steps"]:
            trace["val_loss"][step] = validation_loss(net, held_out, start, longest)
    return trace


def golden() -> dict:
    folder, traces = ROOT / "tests/golden/fine_tuning", {}
    for name, dropout in (("plain", 0.0), ("dropout", 0.1)):
        config = {
            "seed": 123,
            "random": {"generators": "separate", **DROPOUT_STREAM},
            "data": {"type": "lines", "path": "../../../tools/extras/fine_tuning/configs/names.txt", "tokenizer": "char",
                     "train_fraction": 0.05},
            "model": {"type": "gpt", "d_model": 32, "num_heads": 2, "num_layers": 2, "dropout": dropout},
            "optimizer": {"type": "adamw", "lr": 3.0e-3, "betas": [0.9, 0.99], "weight_decay": 0.1},
            "schedule": {"type": "cosine", "warmup_steps": 10, "min_lr": 1.0e-4},
            "train": {"steps": 30, "batch_size": 16, "clip_grad_norm": 1.0},  # 12 steps an epoch
        }
        trace = train(config, folder, torch.float64)
        traces[name] = {"config": yaml.safe_dump(config, sort_keys=False, default_flow_style=None), **trace}
        print(f"{name:10s} loss {trace['loss'][0]:.4f} -> {trace['loss'][-1]:.4f}")
    return {"made_by": f"tools/reference/lines_traces.py with PyTorch {torch.__version__}", **traces}


def compare(run: pathlib.Path):
    config = yaml.safe_load((ROOT / "tools/extras/fine_tuning/configs/names.yaml").read_text())
    for section, key in (("optimizer", "lr"), ("schedule", "min_lr")):  # YAML 1.1 reads 2e-3 as a text
        config[section][key] = float(config[section][key])
    trace = train(config, ROOT / "tools/extras/fine_tuning/configs", torch.float32)
    worst = 0.0
    for row in csv.DictReader((run / "metrics.csv").open()):
        step = int(row["step"])
        for column, theirs in (("loss", trace["loss"][step - 1]), ("val_loss", trace["val_loss"].get(step))):
            if row[column] and theirs is not None:
                worst = max(worst, abs(float(row[column]) - theirs))
                if column == "val_loss":
                    print(f"step {step:5d}  validation loss {float(row[column]):.5f}, PyTorch's {theirs:.5f}")
    print(f"largest difference of a loss {worst:.5f}")
    assert worst < 0.01


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests/golden/fine_tuning/lines.json")
    parser.add_argument("--run", type=pathlib.Path)
    args = parser.parse_args()
    if args.run:
        compare(args.run)
        return
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(golden(), indent=0) + "\n")


if __name__ == "__main__":
    main()
