"""How PyTorch 2.13 prints: golden texts for tools/extras/report/print.h and for the steps of `heed tour`.

    python tools/reference/print_golden.py            writes tests/golden/tour/printed.json

cases: numbers with a shape and repr() of the tensor, in float32 and in float64; "spread" stands for spread(*shape).
tour: for each step the texts of the tensors that it shows with the book's seeds and words, in any order.
"""
import json
import math
import pathlib

import torch

import torch_layers
import tour_golden
import tour_gradients_golden

ROOT = pathlib.Path(__file__).resolve().parents[2]


def spread(*shape: int) -> torch.Tensor:
    """Uneven numbers that float32 holds exactly: element i is (37 i mod 1009) / 8 - 50."""
    count = math.prod(shape)
    return ((torch.arange(count, dtype=torch.float64) * 37 % 1009) / 8 - 50).reshape(shape)


def number_cases() -> list[torch.Tensor]:
    inf, nan = math.inf, math.nan
    lists = [
        1.8524, 3.0, 0.0, -inf, nan, 1e-5, 2.5e9, -0.0, [1.0, 0.0, -2.0], [1.0, inf], [100.0, -inf, nan, 7.0], [0.0, -0.0],
        [inf, nan, -inf], [0.25, -inf, 12.5], [0.25, nan, -12.5], [1e-5, 1.0], [1.0, 1000.5], [1.0, 1001.5], [1.0, 1001.0],
        [1e8, 2e8], [1e9, 2e9], [2e9, nan, -inf, 0.0], [1e-4, 2e-4], [0.99e-4], [0.0, 1e-38, -1e38], [0.00015, 0.1],
        [-0.0739, 0.0713], [0.99995, 0.5], [9.99996, 0.01], [123456.789], [5e-324], [[1.5], [-22.25]], [[[1.0, 2.0]]],
    ]
    shapes = [(0,), (0, 3), (2, 0), (2, 0, 4), (17,), (40,), (3, 25), (2, 3, 4), (2, 1, 2, 3), (1, 1, 1, 1, 2, 2), (1000,),
              (1001,), (6, 167), (7, 144), (1500, 1), (1, 1100), (12, 9, 10), (7, 7, 7, 3)]
    cases = [torch.tensor(v, dtype=torch.float64) for v in lists] + [spread(*s) for s in shapes]
    # Only the elements that are shown determine the format: the huge number is in the hidden
    # middle.
    hidden = spread(1200)
    hidden[600] = 1e30
    return cases + [hidden]


def case(values: torch.Tensor) -> dict:
    numbers = [words(v) for v in values.reshape(-1).tolist()]
    is_spread = values.numel() > 100 and torch.equal(values, spread(*values.shape))
    return {"shape": list(values.shape), "values": "spread" if is_spread else numbers, "float32": repr(values.float()),
            "float64": repr(values)}


def words(value: float):
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def of_other_types() -> dict:
    ids = [torch.arange(33) * 5 % 17, torch.tensor([[1, -20], [300, 4]]), torch.tensor(7), torch.arange(1200).reshape(4, 300),
           torch.zeros(0, dtype=torch.int64)]
    masks = [torch.tensor([[True, False], [True, True]]), torch.ones(3, dtype=torch.bool), torch.zeros(2, 0, dtype=torch.bool)]
    return {name: [{"shape": list(t.shape), "values": t.reshape(-1).int().tolist(), "text": repr(t)} for t in tensors]
            for name, tensors in (("ids", ids), ("masks", masks))}


def text_to_attention(seed: int) -> list[torch.Tensor]:
    text = "Your journey starts with one step"
    ids = torch.tensor([sorted(set(text)).index(c) for c in text])
    windows, targets = ids[:32].reshape(8, 4), ids[1:33].reshape(8, 4)
    torch.manual_seed(seed)
    tok_emb, pos_emb = torch.nn.Embedding(len(set(text)), 8), torch.nn.Embedding(4, 8)
    attention = torch_layers.build(
        {"type": "multi_head_attention", "d_in": 8, "d_out": 8, "context_length": 4, "num_heads": 2})
    x = tok_emb(windows) + pos_emb.weight
    return [ids, windows, targets, x[0], attention(x)[0]]


def ladder(inputs: torch.Tensor, seed: int) -> dict:
    tokens, width = inputs.shape
    ones = torch.ones(tokens, tokens)
    torch.manual_seed(seed)
    queries, keys, values = (torch.nn.Linear(width, width, bias=False)(inputs) for _ in range(3))
    scores = queries @ keys.T
    scaled = scores / width**0.5
    weights = torch.softmax(scaled, dim=-1)

    x = torch.stack([inputs, inputs])
    torch.manual_seed(seed)
    projections = [torch.nn.Linear(width, 4, bias=False) for _ in range(3)]
    out_proj = torch.nn.Linear(4, 4)
    q, k, v = (p(x).view(2, tokens, 2, 2).transpose(1, 2) for p in projections)
    hidden = torch.ones(tokens, tokens).triu(1).bool()
    attended = torch.softmax((q @ k.transpose(2, 3) / 2**0.5).masked_fill(hidden, -torch.inf), dim=-1)
    torch.manual_seed(seed)
    dropped = tour_golden.dropout_mcg31(attended, 0.1)
    y = out_proj((dropped @ v).transpose(1, 2).reshape(2, tokens, 4))
    return {"mixed_by_ones": [values, ones, ones @ values], "mixed_by_scores": [scores, scores @ values, scores.sum(-1)],
            "rescaled": [scaled, scaled @ values], "softmax_over_keys": [weights, weights.sum(-1), weights @ values],
            "multi_head_by_hand": [dropped[0, 0], y]}


def ensemble(inputs: torch.Tensor, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch_layers.build({"type": "multi_head_attention", "d_in": 3, "d_out": 4, "context_length": 6, "num_heads": 2,
                               "causal": False})(inputs)


def tour_steps() -> dict:
    inputs = torch.tensor(tour_golden.INPUTS)
    numbers = {k: torch.tensor(v if not isinstance(v, list) else unworded(v)) for k, v in tour_golden.tour(inputs).items()}
    prefixes = {"words": "inputs", "scores": "simple.scores_2", "weights": "simple.weights_2", "context": "simple.context_2",
                "all_words": ("simple.scores", "simple.weights", "simple.weight_row_sums", "simple.contexts"),
                "hello": "hello.", "trainable": "trainable.", "self_attention_v1": "self_attention_v1",
                "self_attention_v2": "self_attention_v2", "v2_into_v1": "self_attention_v2", "causal": "causal.",
                "dropout": "dropout.", "causal_attention": "causal_attention", "wrapper": "multi_head_attention_wrapper",
                "batched_matmul": "batched_matmul", "multi_head_attention": "multi_head_attention"}
    steps = {}
    for step, prefix in prefixes.items():
        exact = isinstance(prefix, tuple) or step == "multi_head_attention"
        wanted = prefix if isinstance(prefix, tuple) else (prefix,)
        steps[step] = [v for k, v in numbers.items() if (k in wanted if exact else k.startswith(wanted))]
    future = torch.ones(6, 6).triu(1)
    steps["mask_that_breaks"] = [future * -torch.inf, torch.full((6, 6), torch.nan), numbers["causal.weights"],
                                 torch.where(future.bool(), -torch.inf, 0.0)]
    first, query = inputs[0], inputs[1]
    steps["dot_product"] = [first * query, (first * query).cumsum(0), first @ query]
    hello = torch.tensor(tour_golden.HELLO)
    exps = torch.exp(hello @ hello[1])
    terms = (exps / exps.sum())[:, None] * hello
    steps["hello"] = [hello, hello @ hello[1], exps, exps.sum(), exps / exps.sum(), terms, terms.sum(0)]
    steps["heads_as_ensemble"] = [ensemble(inputs, 123)]
    steps["overflow"] = [torch.full((6,), torch.inf), torch.full((6,), torch.nan)]
    steps["underflow"] = [torch.zeros(6), torch.full((6,), torch.nan)]
    with torch.enable_grad():
        for name, numbers in (("gradient_step", tour_gradients_golden.gradient_step(inputs.double(), 789)),
                              ("division_by_sum", tour_gradients_golden.division_by_sum(inputs.double()))):
            # dattn_scores has numbers that are differences of nearly equal ones: float32 holds fewer digits than it prints.
            # Of the checks by differences one is printed; a sentence stands for the others.
            steps[name] = [value.float() for key, value in numbers.items()
                           if key != "dattn_scores" and (not key.endswith("_check") or key == "context_vec_check")]
    torch.manual_seed(123)
    narrow = torch_layers.build({"type": "multi_head_attention_wrapper", "d_in": 3, "d_out": 1, "context_length": 6,
                                 "num_heads": 2})
    steps["narrow_heads"] = [narrow(torch.stack([inputs, inputs]))]
    steps["text_to_attention"] = text_to_attention(123)
    return {step: [repr(t) for t in tensors] for step, tensors in (steps | ladder(inputs, 123)).items()}


def unworded(value):
    return [unworded(v) for v in value] if isinstance(value, list) else float(value)


def main():
    with torch.no_grad():
        golden = {"made_by": f"tools/reference/print_golden.py with PyTorch {torch.__version__}",
                  "cases": [case(v) for v in number_cases()], **of_other_types(), "tour": tour_steps()}
    (ROOT / "tests/golden/tour/printed.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
