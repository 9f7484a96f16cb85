"""Writes tests/golden/fine_tuning/instructions.json: the losses of 30 steps of fine-tuning on instructions, with PyTorch.

    python tools/reference/instruction_trace.py [--out tests/golden/fine_tuning]

Format, collation and loss are those of chapter 7 of the book (format_input, custom_collate_fn with the instruction masked
as in its exercise 7.2), for a char GPT that a test trains again in a second; initialisation, order of the examples and
optimizer as in train_traces.py. Keys of the file:
  config    our YAML (path of the rows relative to the file's own folder; no `precision`, the test sets it)
  float64   losses of the 30 steps, computed with torch.set_num_threads(1)
  float32   the same
The rows are instruction_rows.json beside it, which this writes too.
"""
import argparse
import json
import math
import pathlib

import torch
import yaml
from torch.nn import functional as F
from torch.utils.data import DataLoader

import torch_layers
from train_traces import DROPOUT_STREAM, Streams, learning_rate, make_optimizer

STEPS = 30
IGNORED = -100
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak", "pine", "rowan", "willow", "yew"]


def rows() -> list[dict]:
    out = []
    for word in WORDS:
        out.append({"instruction": "Reverse the word.", "input": word, "output": word[::-1]})
        out.append({"instruction": f"How long is {word}?", "input": "", "output": f"{len(word)} letters"})
    return out


def format_input(entry: dict) -> str:
    instruction_text = ("Below is an instruction that describes a task. "
                        "Write a response that appropriately completes the request."
                        f"\n\n### Instruction:\n{entry['instruction']}")
    input_text = f"\n\n### Input:\n{entry['input']}" if entry["input"] else ""
    return instruction_text + input_text


def collate(batch: list[tuple[list[int], int]], end: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The book's custom_collate_fn: one end token after each text, padded with more; targets one to the right."""
    longest = max(len(ids) for ids, _ in batch) + 1
    inputs, targets = [], []
    for ids, prompt in batch:
        padded = torch.tensor(ids + [end] * (longest - len(ids)))
        wanted = padded[1:].clone()
        wanted[len(ids):] = IGNORED      # all end tokens but the first
        wanted[:prompt - 1] = IGNORED    # the instruction
        inputs.append(padded[:-1])
        targets.append(wanted)
    return torch.stack(inputs), torch.stack(targets)


def train(config: dict, entries: list[dict], dtype: torch.dtype) -> list[float]:
    torch.set_num_threads(1)
    prompts = [format_input(entry) + "\n\n### Response:\n" for entry in entries]
    characters = sorted(set("".join(prompts) + "".join(entry["output"] for entry in entries)))
    end = len(characters)
    texts = [([characters.index(c) for c in prompt + entry["output"]], len(prompt))
             for prompt, entry in zip(prompts, entries)]
    model = {**config["model"], "vocab_size": end + 1, "context_length": max(len(ids) for ids, _ in texts)}

    streams = Streams(config["seed"], separate=True)
    with streams.of("initialisation"):
        net = torch_layers.build(model).to(dtype).train()
    loader = DataLoader(texts, batch_size=config["train"]["batch_size"], shuffle=True, drop_last=True,
                        collate_fn=lambda batch: collate(batch, end))

    def batches():
        while True:
            yield from loader

    source = batches()
    optimizer = make_optimizer(net, config["optimizer"])
    losses = []
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, config["optimizer"]["lr"], config["schedule"], STEPS)
        optimizer.zero_grad()
        with streams.of("data"):
            x, y = next(source)
        loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten(), ignore_index=IGNORED)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), config["train"].get("clip_grad_norm", math.inf))
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default="tests/golden/fine_tuning")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "instruction_rows.json").write_text(json.dumps(rows(), indent=1) + "\n")
    config = {
        "seed": 123,
        "random": {"generators": "separate", **DROPOUT_STREAM},
        "data": {"type": "instructions", "path": "instruction_rows.json", "template": "alpaca", "tokenizer": "char",
                 "train_fraction": 1.0},
        "model": {"type": "gpt", "d_model": 32, "num_heads": 2, "num_layers": 2, "dropout": 0.0},
        "optimizer": {"type": "adamw", "lr": 3.0e-3, "betas": [0.9, 0.99], "weight_decay": 0.1, "decay": "matrices"},
        "schedule": {"type": "cosine", "warmup_steps": 3, "min_lr": 1.0e-4},
        "train": {"steps": STEPS, "batch_size": 4, "clip_grad_norm": 1.0},
    }
    trace = {"made_by": f"tools/reference/instruction_trace.py with PyTorch {torch.__version__}",
             "config": yaml.safe_dump(config, sort_keys=False, default_flow_style=None),
             "float64": train(config, rows(), torch.float64),
             "float32": train(config, rows(), torch.float32)}
    (args.out / "instructions.json").write_text(json.dumps(trace, indent=0) + "\n")
    print(f"loss {trace['float64'][0]:.4f} -> {trace['float64'][-1]:.4f}")


if __name__ == "__main__":
    main()
