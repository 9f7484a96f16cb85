"""The numbers of `heed tour` in PyTorch 2.13: any seed, any inputs.

    python tools/reference/tour_golden.py [--seed S] [--inputs x.safetensors] [--check FILE] [--heed PATH]

Prints one JSON object with the keys of tests/golden/tour/seed_numbers.json; minus infinity is the string "-inf".
--check FILE compares with a file of that form ({key: {"value", "tolerance"}}); --heed PATH runs `heed tour --json` with the
same --seed and --inputs and compares, to 1e-5 or, where numbers are above 1, 1e-5 of the largest. Both exit 1 on a
difference. --write DIR makes the golden files of other seeds: seed_7.json (the six words), inputs.safetensors (5 words of width 4) and seed_8_inputs.json.

What --seed and --inputs mean, for both programs:
  Every step that draws calls manual_seed anew. By default that is manual_seed(789) for self_attention_v2, and so for all
  keys causal.* and dropout.weights that come from its attention weights, and manual_seed(123) for every other step.
  With --seed S it is S for every step, v2 included.
  --inputs replaces the six embedded words by (T, d), T >= 2: d_in becomes d, context_length T, masks and dropout.ones
  (T, T); the query stays row 2 (index 1), d_out 2, num_heads 2, dropout 0.5. The tensor is `x`, else `inputs`, else
  the file's only one.
  Neither touches batched_matmul.*, hello.context_shiny and exercise_3_3.parameter_count.
Everything is float32, and is printed with the fewest digits that give the same float32 back: `inputs` is compared with
tolerance 0, so 0.43 must read as 0.43.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import torch_layers

INPUTS = [[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10],
          [0.05, 0.80, 0.55]]
HELLO = [[0.34, 0.22, 0.54], [0.53, 0.34, 0.98], [0.29, 0.54, 0.93]]
HEADS = [[[[0.2745, 0.6584, 0.2775, 0.8573], [0.8993, 0.0390, 0.9268, 0.7388], [0.7179, 0.7058, 0.9156, 0.4340]],
          [[0.0772, 0.3565, 0.1479, 0.5331], [0.4066, 0.2318, 0.4545, 0.9737], [0.4606, 0.5159, 0.4220, 0.5786]]]]


def dropout_mcg31(x: torch.Tensor, p: float) -> torch.Tensor:
    """torch's dropout with the bernoulli stream of its Linux builds up to about 2.6.

    The default generator's next 32-bit word is x_0 (mod 2^31 - 1; 0 becomes 1), x_i = 1132489760 x_(i-1) mod 2^31 - 1, and
    element i is kept while x_i / (2^31 - 1) < 1 - p.
    """
    # Draws all 64 bits; the first 32-bit word is the high half. The second is lost, so call this
    # after manual_seed.
    bits = torch.empty((), dtype=torch.int64).random_(-(2**63), None).item() & (2**64 - 1)
    modulus = 2**31 - 1
    state, keep = (bits >> 32) % modulus or 1, []
    for _ in range(x.numel()):
        keep.append(state / modulus < 1 - p)
        state = state * 1132489760 % modulus
    return x * (torch.tensor(keep, dtype=x.dtype).reshape(x.shape) / (1 - p))


def simple(inputs: torch.Tensor) -> dict:
    scores, query = inputs @ inputs.T, inputs[1]
    scores_2 = torch.stack([torch.dot(row, query) for row in inputs])
    naive = torch.exp(scores_2) / torch.exp(scores_2).sum()
    weights_2, weights = torch.softmax(scores_2, dim=0), torch.softmax(scores, dim=-1)
    return {
        "simple.scores_2": scores_2, "simple.weights_2_sum_normalised": scores_2 / scores_2.sum(),
        "simple.weights_2_naive_softmax": naive, "simple.weights_2_softmax": weights_2,
        "simple.context_2": weights_2 @ inputs, "simple.scores": scores, "simple.weights": weights,
        "simple.weight_row_sums": weights.sum(-1), "simple.contexts": weights @ inputs,
    }


def trainable(inputs: torch.Tensor, seed: int) -> dict:
    torch.manual_seed(seed)
    W_query, W_key, W_value = (torch.rand(inputs.shape[1], 2) for _ in range(3))
    query_2, keys, values = inputs[1] @ W_query, inputs @ W_key, inputs @ W_value
    scores_2 = query_2 @ keys.T
    weights_2 = torch.softmax(scores_2 / keys.shape[-1] ** 0.5, dim=-1)
    return {
        "trainable.query_2": query_2, "trainable.score_22": query_2.dot(keys[1]), "trainable.scores_2": scores_2,
        "trainable.weights_2": weights_2, "trainable.context_2": weights_2 @ values,
    }


def causal(inputs: torch.Tensor, v2: torch_layers.SelfAttention_v2, dropout_seed: int) -> dict:
    tokens = len(inputs)
    queries, keys = v2.W_query(inputs), v2.W_key(inputs)
    scores = queries @ keys.T
    weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
    tril = torch.ones(tokens, tokens).tril()
    masked = weights * tril
    masked_scores = scores.masked_fill(tril == 0, -torch.inf)
    causal_weights = torch.softmax(masked_scores / keys.shape[-1] ** 0.5, dim=-1)
    ones = torch.ones(tokens, tokens)
    torch.manual_seed(dropout_seed)
    dropped_ones = dropout_mcg31(ones, 0.5)
    torch.manual_seed(dropout_seed)
    dropped_weights = dropout_mcg31(causal_weights, 0.5)
    torch.manual_seed(dropout_seed)
    return {
        "causal.v2_weights": weights, "causal.mask_tril": tril, "causal.masked_weights": masked,
        "causal.renormalised_weights": masked / masked.sum(-1, keepdim=True), "causal.masked_scores": masked_scores,
        "causal.weights": causal_weights, "dropout.ones": dropped_ones, "dropout.weights": dropped_weights,
        "dropout.ones.mt19937": torch.nn.functional.dropout(ones, 0.5),
    }


def tour(inputs: torch.Tensor, seed: int | None = None) -> dict:
    """{key: nested lists of numbers}"""
    tokens, width = inputs.shape
    seed, seed_v2 = (123, 789) if seed is None else (seed, seed)

    def layer(kind: str, layer_seed: int, **fields):
        torch.manual_seed(layer_seed)
        return torch_layers.build({"type": kind, "d_in": width, "d_out": 2, **fields})

    out = simple(inputs) | trainable(inputs, seed)
    out["self_attention_v1"] = layer("self_attention_v1", seed)(inputs)
    v2 = layer("self_attention_v2", seed_v2)
    out["self_attention_v2"] = v2(inputs)
    out |= causal(inputs, v2, seed)
    batch = torch.stack([inputs, inputs])
    out["causal_attention"] = layer("causal_attention", seed, context_length=tokens)(batch)
    for kind in ("multi_head_attention_wrapper", "multi_head_attention"):
        out[kind] = layer(kind, seed, context_length=tokens, num_heads=2)(batch)
    a, hello = torch.tensor(HEADS), torch.tensor(HELLO)
    out |= {
        "batched_matmul": a @ a.transpose(2, 3), "batched_matmul.first_head": a[0, 0] @ a[0, 0].T,
        "batched_matmul.second_head": a[0, 1] @ a[0, 1].T,
        "hello.context_shiny": torch.softmax(hello @ hello[1], dim=0) @ hello, "inputs": inputs,
        "batched_matmul.input": a,
        "exercise_3_3.parameter_count": torch.tensor(
            sum(p.numel() for p in torch_layers.MultiHeadAttention(768, 768, 1024, 12).parameters())),
    }
    return {k: printed(v.tolist()) for k, v in out.items()}


def printed(value):
    """Floats with the fewest digits that give the same float32 back (0.43, not 0.4300000071525574)."""
    if isinstance(value, list):
        return [printed(v) for v in value]
    if isinstance(value, float):
        return "-inf" if value == -math.inf else float(str(np.float32(value)))
    return value


def flat(value) -> list[float]:
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [float(value)]


def compare(ours: dict, theirs: dict) -> bool:
    """theirs: {key: {"value": .., "tolerance": ..}}; prints what differs, True when nothing does."""
    bad = []
    for key, want in theirs.items():
        a, b = flat(ours.get(key, [])), flat(want["value"])
        close = [x == y or abs(x - y) <= want["tolerance"] + 1e-9 for x, y in zip(a, b)]
        if len(a) != len(b) or not all(close):
            bad.append(key)
    print(f"{len(theirs) - len(bad)}/{len(theirs)} keys agree", *bad, file=sys.stderr)
    return bool(theirs) and not bad


def tolerance(value) -> float:
    """Of float32 sums: wide inputs give scores in the thousands."""
    return 1e-5 * max([1.0, *(abs(x) for x in flat(value) if math.isfinite(x))])


def read_inputs(path) -> torch.Tensor:
    tensors = load_file(path)
    name = next((n for n in ("x", "inputs") if n in tensors), next(iter(tensors)))
    return tensors[name].float()


def write(folder: pathlib.Path):
    def save(name: str, values: dict):
        golden = {"made_by": f"tools/reference/tour_golden.py with PyTorch {torch.__version__}", "values": values}
        (folder / name).write_text(json.dumps(golden) + "\n")

    torch.manual_seed(2024)
    other = torch.rand(5, 4)
    save_file({"x": other}, folder / "inputs.safetensors")
    (folder / "inputs.safetensors").chmod(0o644)
    save("seed_7.json", tour(torch.tensor(INPUTS), 7))
    save("seed_8_inputs.json", tour(other, 8))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--inputs", type=pathlib.Path)
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--heed")
    parser.add_argument("--write", type=pathlib.Path)
    args = parser.parse_args()
    if args.write:
        return write(args.write)
    with torch.no_grad():
        numbers = tour(read_inputs(args.inputs) if args.inputs else torch.tensor(INPUTS), args.seed)
    good = True
    if args.check:
        good = compare(numbers, json.loads(args.check.read_text()))
    if args.heed:
        flags = ["--seed", str(args.seed)] if args.seed is not None else []
        flags += ["--inputs", str(args.inputs)] if args.inputs else []
        done = subprocess.run([args.heed, "tour", "--json", *flags], capture_output=True, text=True, check=True)
        ours = {k: v["value"] if isinstance(v, dict) else v for k, v in json.loads(done.stdout).items()}
        good &= compare(ours, {k: {"value": v, "tolerance": tolerance(v)} for k, v in numbers.items()})
    if not (args.check or args.heed):
        print(json.dumps(numbers, indent=1))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
