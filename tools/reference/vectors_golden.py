"""Writes the six vectors of tools/extras/own_data/configs/six_vectors.yaml, and tests/golden/vectors: 30 steps of SGD on vectors in PyTorch.

    python tools/reference/vectors_golden.py [--six configs/data] [--out tests/golden/vectors]

tools/extras/own_data/configs/six_vectors.safetensors: x (1, 6, 3), the six words of the documents; y (1, 6, 2), what each should become:
its own first two numbers. Averages over all words are alike, so each word has to learn which words to look at.

tests/golden/vectors/<name>.safetensors has x and y, <name>.json:
  config     our YAML, with the path of its data
  float64    the loss of each of 30 steps of torch.optim.SGD, before the step's update, computed with one thread
  float32    the same in float32
A batch_size of at least the number of examples takes all of them; a smaller one is that of DataLoader(shuffle=True,
drop_last=True). Numbers are learned by F.mse_loss, whole numbers by F.cross_entropy.
"""
import argparse
import itertools
import json
import pathlib

import torch
import yaml
from safetensors.torch import save_file
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import torch_layers
from train_traces import Streams

STEPS = 30
# Your journey starts with one step
WORDS = torch.tensor([[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64],
                      [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]])


def six_vectors() -> dict:
    return {"x": WORDS[None].clone(), "y": WORDS[None, :, :2].clone()}


def cases() -> dict:
    """Name -> (tensors, the config's model, optimizer and batch_size)."""
    torch.manual_seed(11)
    sgd = {"type": "sgd", "lr": 0.5}
    twelve = {"x": torch.randn(12, 5, 4), "y": torch.randn(12, 5, 4)}
    classes = {"x": torch.randn(20, 6, 3), "y": torch.randint(3, (20, 6))}
    classes["y"][3, 4:] = -100
    return {
        "six": (six_vectors(), {"type": "self_attention_v2", "d_in": 3, "d_out": 2}, sgd, 1, 789),
        "momentum": (twelve, {"type": "multi_head_attention", "d_in": 4, "d_out": 4, "context_length": 5, "num_heads": 2},
                     {**sgd, "lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}, 100, 123),
        "batches": (twelve, {"type": "causal_attention", "d_in": 4, "d_out": 4, "context_length": 5}, sgd, 5, 123),
        "classes": (classes, {"type": "self_attention_v2", "d_in": 3, "d_out": 3}, sgd, 6, 7),
    }


def batches(tensors: dict, batch_size: int):
    if batch_size >= len(tensors["x"]):
        return itertools.repeat((tensors["x"], tensors["y"]))
    loader = DataLoader(TensorDataset(tensors["x"], tensors["y"]), batch_size=batch_size, shuffle=True, drop_last=True)
    return itertools.chain.from_iterable(itertools.repeat(loader))


def loss_of(output, y):
    if y.is_floating_point():
        return F.mse_loss(output, y.to(output.dtype))
    return F.cross_entropy(output.flatten(0, -2), y.flatten())


def train(tensors: dict, config: dict, dtype: torch.dtype) -> list[float]:
    streams = Streams(config["seed"], separate=True)
    with streams.of("initialisation"):
        net = torch_layers.build(config["model"]).to(dtype).train()
    fields = {k: v for k, v in config["optimizer"].items() if k not in ("type", "decay")}
    optimizer = torch.optim.SGD(net.parameters(), **fields)
    data, losses = batches(tensors, config["train"]["batch_size"]), []
    for _ in range(STEPS):
        with streams.of("data"):
            x, y = next(data)
        loss = loss_of(net(x.to(dtype)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def save(tensors: dict, path: pathlib.Path):
    save_file(tensors, path)
    path.chmod(0o644)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--six", type=pathlib.Path, default="configs/data")
    parser.add_argument("--out", type=pathlib.Path, default="tests/golden/vectors")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    save(six_vectors(), args.six / "six_vectors.safetensors")
    for name, (tensors, model, optimizer, batch_size, seed) in cases().items():
        save(tensors, args.out / f"{name}.safetensors")
        config = {"seed": seed, "data": {"type": "vectors", "path": f"{name}.safetensors"}, "model": model,
                  "optimizer": {**optimizer, "decay": "all"}, "train": {"steps": STEPS, "batch_size": batch_size}}
        golden = {"made_by": f"tools/reference/vectors_golden.py with PyTorch {torch.__version__}",
                  "config": yaml.safe_dump(config, sort_keys=False, default_flow_style=None),
                  "float64": train(tensors, config, torch.float64), "float32": train(tensors, config, torch.float32)}
        (args.out / f"{name}.json").write_text(json.dumps(golden, indent=0) + "\n")
        print(f"{name:10s} loss {golden['float64'][0]:.4f} -> {golden['float64'][-1]:.4f}")


if __name__ == "__main__":
    main()
