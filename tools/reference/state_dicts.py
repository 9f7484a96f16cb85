"""State dicts between PyTorch 2.13 and heed, both ways, with no mapping of names.

    python tools/reference/state_dicts.py --heed build/release/heed

For the book's modules (mask buffers registered, as the book does) and torch.nn.MultiheadAttention, with and without
biases: a file saved by PyTorch loads in heed, and y is PyTorch's; what heed saves (--book-buffers for the book's) loads
with load_state_dict(strict=True), and every tensor is the one that PyTorch saved, in every bit. A mask buffer that is not
upper triangular, or of another size, must be refused. Exit code 1 on any miss.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import torch
import yaml
from safetensors.torch import load_file, save_file
from torch import nn

import torch_layers

CAUSAL = {"d_in": 12, "context_length": 9}
HEADS = {**CAUSAL, "num_heads": 3}
CONFIGS = [
    {"type": kind, **sizes, "d_out": 6, "qkv_bias": bias}
    for kind, sizes in (("self_attention_v2", {"d_in": 12}), ("causal_attention", CAUSAL),
                        ("multi_head_attention_wrapper", HEADS), ("multi_head_attention", HEADS))
    for bias in (False, True)
] + [{"type": "self_attention_v1", "d_in": 12, "d_out": 6}] + [
    {"type": "gpt", "vocab_size": 11, "context_length": 9, "d_model": 12, "num_heads": 3, "num_layers": 2,
     "qkv_bias": bias} for bias in (False, True)]


def with_book_buffers(net: nn.Module) -> nn.Module:
    """Registers `mask` where the book's modules do."""
    for module in net.modules():
        if isinstance(module, (torch_layers.CausalAttention, torch_layers.MultiHeadAttention)):
            module.register_buffer("mask", torch.triu(torch.ones(9, 9), diagonal=1))
    return net


def torch_multi_head(bias: bool) -> tuple[dict, nn.Module]:
    """A config and torch.nn.MultiheadAttention with biases that are not zero."""
    net = nn.MultiheadAttention(12, 3, bias=bias, batch_first=True)
    with torch.no_grad():
        for p in net.parameters():
            p.add_(0.1 * torch.randn_like(p))
    return {"type": "multi_head_attention", **HEADS, "d_out": 12, "packed": True, "causal": False, "qkv_bias": bias,
            "out_bias": bias}, net


def run(heed: str, folder: pathlib.Path, config: dict, *flags) -> subprocess.CompletedProcess:
    (folder / "c.yaml").write_text(yaml.safe_dump({"model": config}, sort_keys=False))
    command = [heed, "forward", folder / "c.yaml", "--in", folder / "x.safetensors", "--out", folder / "y.safetensors",
               "--precision", "float32", *flags]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def both_ways(heed: str, folder: pathlib.Path, config: dict, net: nn.Module, buffers: bool) -> list[str]:
    """What went wrong."""
    if "vocab_size" in config:
        inputs = {"ids": torch.randint(config["vocab_size"], (2, 7))}
        y = net(inputs["ids"])
    else:
        inputs = {"x": torch.randn(2, 7, 12)}
        is_torchs = isinstance(net, nn.MultiheadAttention)
        y = net(inputs["x"], inputs["x"], inputs["x"])[0] if is_torchs else net(inputs["x"])
    state = {k: v.detach().clone() for k, v in net.state_dict().items()}
    save_file(inputs, folder / "x.safetensors")
    save_file(state, folder / "theirs.safetensors")
    flags = ["--save-weights", folder / "ours.safetensors"] + ["--book-buffers"] * buffers
    done = run(heed, folder, config, "--weights", folder / "theirs.safetensors", *flags)
    if done.returncode:
        return [done.stderr.strip()]
    wrong, ours = [], load_file(folder / "ours.safetensors")
    if (load_file(folder / "y.safetensors")["y"] - y).abs().max() > 2e-5 * y.abs().max():
        wrong.append("y differs")
    try:
        net.load_state_dict(ours, strict=True)
    except RuntimeError as error:
        wrong.append(str(error))
    wrong += [f"{k} differs" for k, v in state.items() if k not in ours or not torch.equal(ours[k], v)]
    for name in (k for k in state if k.endswith("mask")):
        for bad in (state[name].T.contiguous(), torch.ones(9, 9), torch.triu(torch.ones(8, 8), diagonal=1)):
            save_file({**state, name: bad}, folder / "bad.safetensors")
            refused = run(heed, folder, config, "--weights", folder / "bad.safetensors")
            if refused.returncode != 1 or name not in refused.stderr:
                wrong.append(f"a wrong {name} was not refused: {refused.stderr.strip()}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default="build/release/heed")
    args = parser.parse_args()
    torch.manual_seed(1)
    cases = [(c, with_book_buffers(torch_layers.build(c).eval()), True) for c in CONFIGS]
    cases += [(*torch_multi_head(bias), False) for bias in (False, True)]
    misses = 0
    for config, net, buffers in cases:
        with tempfile.TemporaryDirectory() as name:
            wrong = both_ways(args.heed, pathlib.Path(name), config, net, buffers)
        bias = f", qkv_bias {config['qkv_bias']}" if "qkv_bias" in config else ""
        print(f"{type(net).__name__}{bias}: {len(net.state_dict())} tensors", *(wrong or ["both ways"]))
        misses += bool(wrong)
    print(f"{len(cases)} modules, {misses} misses")
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
