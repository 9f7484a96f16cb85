"""The book's 124M GPT from seed 123, in PyTorch 2.13 and in heed: the same parameters and the same logits.

    python tools/reference/gpt2_124m.py --heed build/release/heed [--seed 123] [--tokens 64] [--book]

Parameters agree to 1e-6 (those drawn uniformly and the small normal draws bit for bit), logits to 2e-5 of the largest.
float32, about 163 million numbers (the book does not tie its output head): needs 3 GB of memory, 1.3 GB of disk for the
files, and a minute; no part of the normal tests. --book adds the mask buffers of the book's modules to a weights
file, as torch.save of its state_dict would, and has heed load it.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import torch
import yaml
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import torch_layers

MODEL = {"type": "gpt", "vocab_size": 50257, "context_length": 1024, "d_model": 768, "num_heads": 12, "num_layers": 12,
         "dropout": 0.1, "qkv_bias": False}


def heed_forward(heed: str, folder: pathlib.Path, *flags) -> torch.Tensor:
    command = [heed, "forward", folder / "gpt.yaml", "--in", folder / "x.safetensors",
               "--out", folder / "y.safetensors", "--precision", "float32", *flags]
    subprocess.run([str(part) for part in command], check=True)
    return load_file(folder / "y.safetensors")["y"]


def compare_parameters(net: torch.nn.Module, path: pathlib.Path) -> float:
    """The largest difference; prints how many tensors are equal in every bit."""
    worst, equal, names = 0.0, 0, []
    with safe_open(path, "pt") as ours:
        names = sorted(ours.keys())
        assert names == sorted(k for k, _ in net.named_parameters()), "the names differ"
        for name, p in net.named_parameters():
            mine = ours.get_tensor(name)
            assert mine.shape == p.shape, f"{name}: {tuple(mine.shape)}, PyTorch has {tuple(p.shape)}"
            difference = (mine - p).abs().max().item()
            equal += difference == 0.0
            worst = max(worst, difference)
    print(f"parameters: {len(names)} tensors, {equal} of them bit for bit, largest difference {worst:.1e}")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default="build/release/heed")
    parser.add_argument("--seed", type=int, default=123)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--book", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = torch_layers.build(MODEL).eval()
    ids = torch.randint(MODEL["vocab_size"], (2, args.tokens), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        logits = net(ids)
    good = True

    def check_logits(name: str, ours: torch.Tensor):
        distance = ((ours - logits).abs().max() / logits.abs().max()).item()
        print(f"logits {tuple(ours.shape)}, {name}: {distance:.1e} of the largest")
        return distance <= 2e-5

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "gpt.yaml").write_text(yaml.safe_dump({"model": MODEL}, sort_keys=False))
        save_file({"ids": ids}, folder / "x.safetensors")
        saved = folder / "w.safetensors"
        y = heed_forward(args.heed, folder, "--seed", args.seed, "--save-weights", saved)
        good &= compare_parameters(net, saved) <= 1e-6
        good &= check_logits("weights drawn by heed", y)
        if args.book:
            mask = torch.triu(torch.ones(MODEL["context_length"], MODEL["context_length"]), diagonal=1)
            weights = {k: p.detach() for k, p in net.named_parameters()}
            weights |= {f"trf_blocks.{i}.att.mask": mask.clone() for i in range(MODEL["num_layers"])}
            save_file(weights, saved)
            y = heed_forward(args.heed, folder, "--weights", saved)
            good &= check_logits("weights of the book's state_dict", y)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
