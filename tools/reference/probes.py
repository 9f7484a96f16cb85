"""`heed probe` against PyTorch: heads, lens and patching of trained gpt runs, by hooks on the same model.

    python tools/reference/probes.py [--heed build/release/heed] [--float64] RUN CLEAN CORRUPT ANSWER WRONG [RUN ...]

Loads the newest checkpoint of each run into torch_layers.GPT and computes what `heed probe RUN heads|lens|patch --json`
prints: attention weights from the layer that keeps them, activations by forward hooks, z by a hook in front of
out_proj. Prints the largest difference of each probe; exit code 1 above 1e-4, or 1e-9 with --float64, which takes a
copy of each run whose config says `precision: float64`. Needs PyTorch, PyYAML and safetensors.

A share is a difference of logits divided by that of the two prompts. So is the rounding of float32: the script prints
that difference, and refuses prompts where it is below 1 in float32.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
import yaml
from safetensors.torch import load_file

import torch_layers

LIMIT = {torch.float32: 1e-4, torch.float64: 1e-9}


def given(fields):
    """Without defaults in words, as num_kv_heads "all". PyYAML takes 1e-05, without a point, for text."""
    number = lambda v: float(v) if isinstance(v, str) and v[:1].isdigit() else v
    in_words = lambda k, v: k in ("num_kv_heads", "ff_width") and isinstance(v, str)
    return {k: number(v) for k, v in fields.items() if not in_words(k, v)}


class Model:
    """A run's model, with activations that can be kept and replaced."""

    def __init__(self, run):
        self.config = yaml.safe_load((run / "config.yaml").read_text())
        self.dtype = getattr(torch, self.config["precision"])
        fields = given(self.config["model"])
        fields["attention"] = given(fields["attention"])
        self.net = torch_layers.build(fields).eval().to(self.dtype)
        newest = max((run / "checkpoints").glob("step-*"))
        self.net.load_state_dict(load_file(newest / "model.safetensors"), strict=False)
        self.heads = fields["num_heads"]

    def place(self, kind, block):
        """The module whose output (or, for z, input) an activation is."""
        blocks = self.net.trf_blocks[block]
        return {"residual": blocks, "attention": blocks.att, "feed_forward": blocks.ff, "heads": blocks.att.out_proj}[kind]

    def hooked(self, ids, hooks):
        """Logits (T, V), with hooks {(kind, block): function of the activation (1, T, d), None or a new one}."""
        handles = []
        for (kind, block), act in hooks.items():
            if kind == "heads":
                handles.append(self.place(kind, block).register_forward_pre_hook(
                    lambda _, args, act=act: None if (new := act(args[0])) is None else (new,)))
            else:
                handles.append(self.place(kind, block).register_forward_hook(lambda _, __, out, act=act: act(out)))
        try:
            with torch.no_grad():
                return self.net(torch.tensor([ids]))[0]
        finally:
            for handle in handles:
                handle.remove()

    def kinds(self):
        return [kind for kind in ("residual", "attention", "feed_forward", "heads")
                if kind != "feed_forward" or self.net.trf_blocks[0].ff]

    def kept(self, ids):
        found = {}
        hooks = {(kind, block): lambda x, at=(kind, block): found.__setitem__(at, x.clone())
                 for kind in self.kinds() for block in range(len(self.net.trf_blocks))}
        return self.hooked(ids, hooks), found


def vocabulary(config):
    data = config["data"]
    if data["type"] == "text":
        return sorted(set(pathlib.Path(data["path"]).read_text()))
    if data["type"] == "dyck":
        return list("()[]{}<>"[: 2 * data["kinds"]])
    if data["type"] == "induction":
        return [str(i) for i in range(data["symbols"])]
    sys.exit(f"{data['type']}: this script does not know its tokens")


def encoded(config, text):
    names = vocabulary(config)
    return [names.index(c) for c in (text if config["data"]["type"] == "text" else text.split())]


def heed(program, *arguments):
    done = subprocess.run([program, "probe", *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def heads_difference(model, ours):
    repeat, worst = ours["repeat"], 0.0
    with torch.no_grad():
        model.net(torch.tensor(ours["sequences"]))
    t = torch.arange(2 * repeat)
    for head in ours["heads"]:
        w = model.net.trf_blocks[head["block"]].att.attn_weights[:, head["head"]].double()  # (N, T, T)
        scores = {
            "previous_token": w[:, t[1:], t[1:] - 1],
            "first_token": w[:, 1:, 0],
            "duplicate_token": w[:, t[repeat:], t[repeat:] - repeat],
            "induction": w[:, t[repeat:], t[repeat:] - repeat + 1],
            "entropy": -torch.xlogy(w, w).sum(-1),
        }
        worst = max([worst, *(abs(head[name] - float(score.mean())) for name, score in scores.items())])
    return worst


def lens_difference(model, ids, ours):
    """Probabilities. Another likeliest token or rank counts only where the logits are not tied within the limit."""
    streams = []
    hooks = {("residual", block): lambda x: streams.append(x) for block in range(len(model.net.trf_blocks))}
    first = model.net.trf_blocks[0].register_forward_pre_hook(lambda _, args: streams.append(args[0]))
    model.hooked(ids, hooks)
    first.remove()
    worst = 0.0
    for row, stream in zip(ours["blocks"], streams, strict=True):
        with torch.no_grad():
            logits = model.net.out_head(model.net.final_norm(stream))[0].double()
        for t, guess in enumerate(row):
            p = logits[t].softmax(-1)
            worst = max(worst, abs(guess["probability"] - float(p.max())), float(p.max() - p[guess["id"]]))
            if t + 1 < len(ids):
                near = (logits[t] - logits[t, ids[t + 1]]).abs() < LIMIT[model.dtype]
                above = int((logits[t] > logits[t, ids[t + 1]]).sum())
                assert abs(above + 1 - guess["rank"]) <= int(near.sum()) - 1, (t, guess, above)
    return worst


def patch_difference(model, clean, corrupt, answer, wrong, ours):
    def measure(logits):
        return float(logits[-1, answer].double() - logits[-1, wrong].double())

    clean_logits, values = model.kept(clean)
    m_clean, m_corrupt = measure(clean_logits), measure(model.hooked(corrupt, {}))
    worst = max(abs(m_clean - ours["clean"]), abs(m_corrupt - ours["corrupt"]))
    if model.dtype == torch.float32 and abs(m_clean - m_corrupt) < 1:
        sys.exit(f"the prompts differ by {m_clean - m_corrupt:.2g} in the logits; expected at least 1, or --float64")

    def share(kind, block, chosen):
        def act(x):
            x = x.clone()
            x[chosen] = values[kind, block][chosen]
            return x
        return (measure(model.hooked(corrupt, {(kind, block): act})) - m_corrupt) / (m_clean - m_corrupt)

    for kind in model.kinds():
        for block, row in enumerate(ours[kind]):
            width = values[kind, block].shape[-1] // model.heads
            for i, value in enumerate(row):
                chosen = (0, slice(None), slice(i * width, (i + 1) * width)) if kind == "heads" else (0, i)
                worst = max(worst, abs(share(kind, block, chosen) - value))
    return worst, m_clean - m_corrupt


def in_float64(run, folder):
    """A copy of a run that heed computes in float64."""
    copy = pathlib.Path(folder) / run.name
    shutil.copytree(run, copy)
    config = copy / "config.yaml"
    config.write_text(config.read_text().replace("precision: float32", "precision: float64"))
    return copy


def compare(program, run, clean, corrupt, answer, wrong):
    """The largest difference; prints that of each probe."""
    model = Model(run)
    ids, other = encoded(model.config, clean), encoded(model.config, corrupt)
    (right,), (not_right,) = encoded(model.config, answer), encoded(model.config, wrong)
    patch, logits = patch_difference(model, ids, other, right, not_right, heed(
        program, run, "patch", "--clean", clean, "--corrupt", corrupt, "--answer", answer, "--wrong", wrong))
    found = {
        "heads": heads_difference(model, heed(program, run, "heads")),
        "lens": lens_difference(model, ids, heed(program, run, "lens", "--prompt", clean)),
        "patch": patch,
    }
    print(run.name, *(f"{name} {value:.1e}" for name, value in found.items()), f"(prompts {logits:.2f} apart)")
    return max(found.values()) / LIMIT[model.dtype]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default="build/release/heed")
    parser.add_argument("--float64", action="store_true")
    parser.add_argument("given", nargs="+", metavar="RUN CLEAN CORRUPT ANSWER WRONG")
    args = parser.parse_args()
    if len(args.given) % 5:
        parser.error("expected RUN CLEAN CORRUPT ANSWER WRONG, once or several times")
    worst = 0.0
    for i in range(0, len(args.given), 5):
        run, *asked = args.given[i : i + 5]
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(run)
            worst = max(worst, compare(args.heed, in_float64(run, folder) if args.float64 else run, *asked))
    print(f"largest difference: {worst:.2g} of what is allowed")
    sys.exit(worst > 1)


if __name__ == "__main__":
    main()
