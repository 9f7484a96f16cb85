"""The gradients of `heed tour` in PyTorch 2.13, in float64: the steps gradient_step, division_by_sum and underflow.

    python tools/reference/tour_gradients_golden.py            writes tests/golden/tour/gradients.json

Parameters are the float32 draws of the seed, widened. --seed and --inputs mean what tour_golden.py says. *_check is the
central difference that the step shows next to its gradient, of the element [1, 0].
"""
import json
import pathlib

import torch
from safetensors.torch import load_file

import torch_layers
import tour_golden

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tour"
H, LR = 1 / 16, 0.5
NAMES = ("context_vec", "attn_weights", "attn_scores", "W_query", "W_key", "W_value")


def forward(inputs, targets, weights, moved=None, by=0.0):
    """All that the pass computes; to the element [1, 0] of the one called `moved`, `by` is added."""
    seen = {}

    def at(name, x):
        if name == moved:
            nudge = torch.zeros_like(x)
            nudge[1, 0] = by
            x = x + nudge
        if x.requires_grad:
            x.retain_grad()
        seen[name] = x
        return x

    queries, keys, values = (inputs @ at(name, weights[name]).T for name in NAMES[3:])
    scores = at("attn_scores", queries @ keys.T)
    attn_weights = at("attn_weights", torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
    context_vec = at("context_vec", attn_weights @ values)
    seen["loss"] = torch.nn.functional.mse_loss(context_vec, targets)
    return seen


def gradient_step(inputs, seed):
    torch.manual_seed(seed)
    layer = torch_layers.build({"type": "self_attention_v2", "d_in": inputs.shape[1], "d_out": 2}).double()
    weights = {name: getattr(layer, name).weight for name in NAMES[3:]}
    targets = inputs[:, :2]
    seen = forward(inputs, targets, weights)
    # The layer computes the same.
    assert torch.allclose(layer(inputs), seen["context_vec"], atol=1e-12)
    seen["loss"].backward()
    out = {"targets": targets, **{name: weights[name].detach().clone() for name in NAMES[3:]}}
    out |= {name: seen[name].detach() for name in ("attn_weights", "context_vec", "loss")}
    for name in NAMES:
        out[f"d{name}"] = seen[name].grad
        with torch.no_grad():
            up, down = (forward(inputs, targets, weights, name, by)["loss"] for by in (H, -H))
        out[f"{name}_check"] = (up - down) / (2 * H)
        assert abs(out[f"{name}_check"] - seen[name].grad[1, 0]) < 2e-5, name
    torch.optim.SGD(layer.parameters(), lr=LR).step()
    out |= {f"{name}_after": weights[name].detach() for name in NAMES[3:]}
    out["loss_after"] = torch.nn.functional.mse_loss(layer(inputs), targets).detach()
    return out


def shares(scores):
    return scores / scores.sum()


def gradient_of_second(weights_of, scores):
    s = scores.clone().requires_grad_()
    weights_of(s)[1].backward()
    return s.grad


def division_by_sum(inputs):
    scores, softmax = inputs @ inputs[1], torch.nn.Softmax(dim=0)
    below = scores - 1
    return {"dby_sum": gradient_of_second(shares, scores), "dby_softmax": gradient_of_second(softmax, scores),
            "below": below, "by_sum": shares(below), "by_softmax": softmax(below),
            "dby_sum_below": gradient_of_second(shares, below), "dby_softmax_below": gradient_of_second(softmax, below)}


def underflow(inputs):
    scores = inputs @ inputs[1]
    low = (scores.float() - 1000).double()  # the rounding is a part of the step
    return {"scores": low, "exps": torch.exp(low.float()), "stable": torch.softmax(low, 0), "before": torch.softmax(scores, 0)}


def nested(values: dict) -> dict:
    return {name: value.tolist() for name, value in values.items()}


def main():
    words = torch.tensor(tour_golden.INPUTS).double()
    others = load_file(FOLDER / "inputs.safetensors")["x"].double()
    cases = []
    for flags, inputs, seed in [([], words, 789), (["--seed", "7"], words, 7), (["--seed", "8", "--inputs"], others, 8)]:
        cases.append({"arguments": flags, "gradient_step": nested(gradient_step(inputs, seed)),
                      "division_by_sum": nested(division_by_sum(inputs)), "underflow": nested(underflow(inputs))})
    golden = {"made_by": f"tools/reference/tour_gradients_golden.py with PyTorch {torch.__version__}", "cases": cases}
    (FOLDER / "gradients.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
