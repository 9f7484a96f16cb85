"""Writes tests/golden/traces/<name>.json: losses and gradient norms of 100 training steps, made with PyTorch 2.13.

    python tools/reference/train_traces.py [--out tests/golden/traces] [--data configs/data] [--only NAME]

A char GPT, small enough that a test repeats it in a second, trained as heed trains it; train() below is the whole
recipe in PyTorch's own terms. Keys of a file:
  config       our YAML (path of the text relative to the file's own folder; no `precision`, the test sets it)
  lr           of each step
  float64      {"loss": [...], "grad_norm": [...]}, computed with torch.set_num_threads(1); step 1 first
  float32      the same in float32 with 1 thread
  float32_two_threads                                with 2 threads
  difference   |float32 - float32_two_threads| of each value, and "largest": {"loss": .., "grad_norm": ..} of the run
<name>_float64.json has no float32 keys: with init gpt2 and the usual eps of 1e-8 training blows rounding up a thousandfold
(`nano` has 1e-4), and without layer_norm PyTorch's numbers are the same bits for 1 and 2 threads, also with a batch of 16
and a width of 96; neither gives a measure for float32.
`loss` is that of the batch before its update, the mean over all tokens of the step; `grad_norm` before clipping, over all
parameters (a tied weight once).

Learning rate, n counted from 1, w = warmup_steps, N = steps: n <= w: lr n / (w + 1); after that, with
r = (n - 1 - w) / (N - w): cosine min_lr + (lr - min_lr) (1 + cos(pi r)) / 2, linear lr + (min_lr - lr) r.
Clipping multiplies all gradients by min(1, clip / (norm + 1e-6)).
"""
import argparse
import contextlib
import json
import math
import pathlib

import torch
import yaml
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import torch_layers

STEPS = 100
DROPOUT_STREAM = {"dropout_stream": "mt19937"}


class Streams:
    """The default generator's state, one for each purpose (`separate`) or one for all (`single`).

    separate: every purpose starts from the state right after manual_seed(seed), and gets the default generator only
    while `with streams.of(purpose):` lasts.
    """

    def __init__(self, seed: int, separate: bool):
        torch.manual_seed(seed)
        self.separate, self.states = separate, {}
        self.start = torch.get_rng_state()

    @contextlib.contextmanager
    def of(self, purpose: str):
        if self.separate:
            torch.set_rng_state(self.states.get(purpose, self.start))
        yield
        if self.separate:
            self.states[purpose] = torch.get_rng_state()


def learning_rate(step: int, lr: float, schedule: dict, steps: int) -> float:
    kind, warmup, low = schedule["type"], schedule.get("warmup_steps", 0), schedule.get("min_lr", 0.0)
    if step <= warmup:
        return lr * step / (warmup + 1)
    ratio = (step - 1 - warmup) / (steps - warmup)
    if kind == "cosine":
        return low + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (lr - low)
    return lr + (low - lr) * ratio if kind == "linear" else lr


def random_batches(tokens: torch.Tensor, context: int, batch_size: int):
    """nanoGPT's: one torch.randint draw of batch_size offsets a batch."""
    while True:
        offsets = torch.randint(len(tokens) - context, (batch_size,))
        yield (torch.stack([tokens[o:o + context] for o in offsets]),
               torch.stack([tokens[o + 1:o + 1 + context] for o in offsets]))


def window_batches(tokens: torch.Tensor, context: int, batch_size: int, stride: int):
    """The book's: shuffled windows; the next epoch is drawn when its first batch is asked for."""
    starts = range(0, len(tokens) - context, stride)
    windows = TensorDataset(torch.stack([tokens[s:s + context] for s in starts]),
                            torch.stack([tokens[s + 1:s + 1 + context] for s in starts]))
    loader = DataLoader(windows, batch_size=batch_size, shuffle=True, drop_last=True)
    while True:
        yield from loader


def make_optimizer(net, config: dict):
    fields = dict(config)
    kind, decay, weight_decay = fields.pop("type"), fields.pop("decay", "matrices"), fields.pop("weight_decay", 0.01)
    matrices = [p for p in net.parameters() if p.dim() >= 2 or decay == "all"]
    others = [p for p in net.parameters() if p.dim() < 2 and decay != "all"]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]
    return {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "sgd": torch.optim.SGD}[kind](groups, **fields)


def train(config: dict, text: str, dtype: torch.dtype, threads: int) -> dict:
    torch.set_num_threads(threads)
    data, run = config["data"], config["train"]
    characters = sorted(set(text))
    ids = torch.tensor([characters.index(c) for c in text])
    tokens = ids[: int(data.get("train_fraction", 0.9) * len(ids))]
    model = {"vocab_size": len(characters), **config["model"]}

    streams = Streams(config["seed"], config["random"]["generators"] == "separate")
    with streams.of("initialisation"):
        net = torch_layers.build(model).to(dtype).train()
    sizes = tokens, model["context_length"], run["batch_size"]
    windows = data.get("sampling") == "windows"
    batches = window_batches(*sizes, data["stride"]) if windows else random_batches(*sizes)
    optimizer = make_optimizer(net, config["optimizer"])
    micro_batches = run.get("accumulate", 1)
    trace = {"loss": [], "grad_norm": []}
    for step in range(1, run["steps"] + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, config["optimizer"]["lr"], config["schedule"], run["steps"])
        optimizer.zero_grad()
        total = 0.0
        for _ in range(micro_batches):
            with streams.of("data"):
                x, y = next(batches)
            with streams.of("dropout"):
                logits = net(x)
            # All micro-batches have equally many tokens, so dividing by their number averages over
            # all tokens.
            loss = F.cross_entropy(logits.flatten(0, 1), y.flatten()) / micro_batches
            loss.backward()
            total += loss.item()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), run.get("clip_grad_norm", math.inf))
        optimizer.step()
        trace["loss"].append(total)
        trace["grad_norm"].append(norm.item())
    return trace


def configs() -> dict[str, dict]:
    model = {"type": "gpt", "context_length": 16, "d_model": 32, "num_heads": 2, "num_layers": 2, "dropout": 0.0}
    base = {
        "seed": 123,
        "random": {"generators": "separate", **DROPOUT_STREAM},
        "data": {"type": "text", "path": "tinyshakespeare.txt", "tokenizer": "char", "train_fraction": 0.9,
                 "sampling": "random"},
        "model": model,
        "optimizer": {"type": "adamw", "lr": 3.0e-3, "betas": [0.9, 0.99], "weight_decay": 0.1, "decay": "matrices"},
        "schedule": {"type": "cosine", "warmup_steps": 10, "min_lr": 1.0e-4},
        "train": {"steps": STEPS, "batch_size": 4, "clip_grad_norm": 1.0},
    }

    def variant(**changes):
        merged = {k: dict(v) if isinstance(v, dict) else v for k, v in base.items()}
        for section, values in changes.items():
            merged[section] = {**merged[section], **values} if isinstance(values, dict) else values
        return merged

    out = {}
    for dropout in (0.0, 0.1):
        for generators in ("separate", "single"):
            for decay in ("matrices", "all"):
                out[f"dropout_{dropout}_{generators}_{decay}".replace("0.", "0")] = variant(
                    model={"dropout": dropout}, random={"generators": generators}, optimizer={"decay": decay})
    # 288 windows of 16, 64 apart: 72 batches per epoch, so step 73 starts the second epoch.
    windows = {"path": "the-verdict.txt", "sampling": "windows", "stride": 64}
    out["windows_separate"] = variant(data=windows, model={"dropout": 0.1})
    out["windows_single"] = variant(data=windows, model={"dropout": 0.1}, random={"generators": "single"}, seed=7)
    nano = {"bias": False, "tie_embeddings": True, "activation": "gelu"}
    out["tied_no_bias"] = variant(model=nano)
    out["nano"] = variant(model={**nano, "init": "gpt2"}, optimizer={"eps": 1.0e-4})
    out["nano_float64"] = variant(model={**nano, "init": "gpt2"})
    out["accumulate_linear"] = variant(model={"dropout": 0.1, "position": "sinusoidal"},
                                       schedule={"type": "linear"}, train={"accumulate": 3})
    out["rms_norm_float64"] = variant(model={"norm": "rms_norm", "activation": "silu"}, optimizer={"type": "adam"},
                                      schedule={"type": "constant"})
    del out["rms_norm_float64"]["schedule"]["min_lr"]  # a constant schedule has none
    out["packed"] = variant(model={"attention": {"type": "multi_head_attention", "packed": True}, "qkv_bias": True})
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default="tests/golden/traces")
    parser.add_argument("--data", type=pathlib.Path, default="configs/data")
    parser.add_argument("--only")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, config in configs().items():
        if args.only not in (None, name):
            continue
        file = config["data"]["path"]
        text = (args.data / file).read_bytes().decode("utf-8")
        trace = {
            "made_by": f"tools/reference/train_traces.py with PyTorch {torch.__version__}",
            "config": "",
            "lr": [learning_rate(n, config["optimizer"]["lr"], config["schedule"], STEPS) for n in range(1, STEPS + 1)],
            "float64": train(config, text, torch.float64, 1),
        }
        report = ""
        if not name.endswith("_float64"):
            one, two = (train(config, text, torch.float32, threads) for threads in (1, 2))
            difference = {k: [abs(a - b) for a, b in zip(one[k], two[k])] for k in one}
            difference["largest"] = {k: max(difference[k]) for k in one}
            trace |= {"float32": one, "float32_two_threads": two, "difference": difference}
            report = f"1 against 2 threads {difference['largest']}"
        config["data"]["path"] = f"../../../configs/data/{file}"
        trace["config"] = yaml.safe_dump(config, sort_keys=False, default_flow_style=None)
        (args.out / f"{name}.json").write_text(json.dumps(trace, indent=0) + "\n")
        losses = trace["float64"]["loss"]
        print(f"{name:32s} loss {losses[0]:.4f} -> {losses[-1]:.4f}  {report}", flush=True)


if __name__ == "__main__":
    main()
