"""The gradients of `heed tour backward` by PyTorch's autograd, in float64.

    python tools/reference/tour_backward_golden.py            writes tests/golden/tour/backward.json

The model is that of tools/extras/tour/backward/small_gpt.h. Weights and dropout masks are the float32 draws of the seed,
widened; --seed and --inputs mean what tour_golden.py says. What a text of the steps calls a term (direct, of_mean,
of_variance) is autograd's gradient with the mean, the deviation or both detached. The planted mistakes are autograd's
gradients of models that have them.
"""
import json
import pathlib

import torch
from safetensors.torch import load_file
from torch.nn import functional as F

import tour_golden

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tour"
HEADS, WIDTH, MOST, P_DROP, EPS = 2, 2, 8, 0.5, 1e-5


def leaves_of(inputs, seed):
    inputs = inputs[:MOST, :MOST]
    (words, d), wide = inputs.shape, HEADS * WIDTH
    n = words - 1
    torch.manual_seed(seed)
    shapes = {"W_query": (wide, d), "W_key": (wide, d), "W_value": (wide, d), "W_out": (d, wide), "W_vocab": (words, d)}
    leaves = {name: torch.nn.Linear(shape[1], shape[0], bias=False).weight.detach().double() for name, shape in shapes.items()}
    torch.manual_seed(seed)
    kept = F.dropout(torch.ones(HEADS, n, n), P_DROP).double()
    # 1 / (1 - p) in float64, not in float32
    kept = torch.where(kept > 0, 1 / (1 - P_DROP), 0.0)
    return {"x": inputs[:-1].double(), "scale": torch.ones(d).double(), "shift": torch.zeros(d).double(), **leaves}, kept


class Pass:
    """A forward pass whose quantities keep their gradients. `detached`: of the norm's mean and deviation."""

    def __init__(self, leaves, kept, detached=()):
        self.seen = {name: value.clone().requires_grad_() for name, value in leaves.items()}
        v, n = self.seen, len(leaves["x"])
        hidden = torch.triu(torch.ones(n, n), 1).bool()
        self.branch = v["x"] * 1  # what the norm reads, apart from the shortcut
        self.branch.retain_grad()
        fixed = lambda name, value: value.detach() if name in detached else value
        mean = fixed("mean", self.branch.mean(-1, keepdim=True))
        deviation = fixed("deviation", (self.branch.var(-1, correction=0, keepdim=True) + EPS).sqrt())
        self.put("normed", (self.branch - mean) / deviation * v["scale"] + v["shift"])
        for name, weight in [("queries", "W_query"), ("keys", "W_key"), ("values", "W_value")]:
            self.put(name, v["normed"] @ v[weight].T)
        z = v["x"]
        for h in range(HEADS):
            part = slice(h * WIDTH, (h + 1) * WIDTH)
            put = lambda name, x: self.put(f"{name}_{h + 1}", x)
            queries, keys, values = (put(name, v[name][:, part]) for name in ("queries", "keys", "values"))
            scores = put("scores", queries @ keys.T)
            masked = put("masked", (scores / WIDTH**0.5).masked_fill(hidden, -torch.inf))
            dropped = put("dropped", put("weights", torch.softmax(masked, -1)) * kept[h])
            z = z + put("vote", put("mixed", dropped @ values) @ put("W_out", v["W_out"][:, part]).T)
        self.put("logits", self.put("z", z) @ v["W_vocab"].T)
        self.loss = F.cross_entropy(v["logits"], torch.arange(1, n + 1))
        self.loss.backward()

    def put(self, name, x):
        x.retain_grad()
        self.seen[name] = x
        return x

    def d(self, name):
        return self.seen[name].grad


def steps_of(inputs, seed):
    leaves, kept = leaves_of(inputs, seed)
    ours = Pass(leaves, kept)
    v, d = {name: value.detach() for name, value in ours.seen.items()}, ours.d
    n, words = v["logits"].shape
    last = v["masked_1"][-1]
    branch_without = lambda *detached: Pass(leaves, kept, detached).branch.grad
    direct = branch_without("mean", "deviation")
    wanted = F.one_hot(torch.arange(1, n + 1), words).double()
    steps = {
        "cross_entropy_backward": {"logits": v["logits"], "probabilities": torch.softmax(v["logits"], -1), "wanted": wanted,
                                   "loss": ours.loss.detach(), "dlogits": d("logits")},
        "linear_backward": {"z": v["z"], "dz": d("z"), "dW_vocab": d("W_vocab")},
        "heads_backward": {f"d{name}": d(name) for name in ("vote_1", "vote_2", "mixed_1", "mixed_2", "W_out_1")},
        "dropout_backward": {"kept_1": kept[0], **{f"d{name}": d(name) for name in ("values_1", "dropped_1", "weights_1")}},
        "softmax_backward": {"weights_last": v["weights_1"][-1], "dweights_last": d("weights_1")[-1],
                             "jacobian": torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), last),
                             "dmasked_last": d("masked_1")[-1], "dmasked_1": d("masked_1")},
        "mask_backward": {f"d{name}": d(name) for name in ("scores_1", "queries_1", "keys_1")},
        "layer_norm_backward": {"direct": direct, "of_mean": (branch_without("deviation") - direct).mean(-1, keepdim=True),
                                "of_variance": branch_without("mean") - direct,
                                **{f"d{name}": d(name) for name in ("normed", "scale", "shift", "x")}},
        "planted_mistakes": {"softmax_wrong": v["weights_1"] * d("weights_1"), "layer_norm_wrong": d("z") + direct,
                             "dropout_wrong": d("dropped_1") * kept[1], "added_wrong": d("values") @ v["W_value"],
                             "cross_entropy_wrong": d("logits") * n},
    }
    return {step: {name: value.tolist() for name, value in values.items()} for step, values in steps.items()}


def main():
    words = torch.tensor(tour_golden.INPUTS)
    others = load_file(FOLDER / "inputs.safetensors")["x"]
    cases = [{"arguments": flags, "steps": steps_of(inputs, seed)} for flags, inputs, seed in
             [([], words, 123), (["--seed", "7"], words, 7), (["--seed", "8", "--inputs"], others, 8)]]
    golden = {"made_by": f"tools/reference/tour_backward_golden.py with PyTorch {torch.__version__}", "cases": cases}
    (FOLDER / "backward.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
