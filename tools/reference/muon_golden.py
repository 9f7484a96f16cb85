#!/usr/bin/env python3
"""Writes tests/golden/muon: steps and losses of torch.optim.Muon, and of learning rates by pattern (PyTorch 2.13, CPU).

    python3 -m venv venv && venv/bin/pip install torch==2.13.0 numpy safetensors==0.8.0 pyyaml
    venv/bin/python tools/reference/muon_golden.py

torch.optim.Muon rounds its Newton-Schulz iteration to bfloat16, which has three digits; after 100 steps that is 1e-4 to
3e-4 of a loss. So "float32" and "float64" here are its own code in the precision of the run: while it runs,
Tensor.bfloat16 is a copy of the tensor. Nothing else is changed. "bfloat16" is PyTorch as it is published, in float32.

steps.safetensors: <case>.<shape> is a matrix (m, n), "wide" (9, 15), "tall" (15, 9), "square" (12, 12). Keys:
  start.<shape>, gradient.<step>.<shape>                            float32 numbers; steps count from 1
  <precision>.<case>.<step>.<shape>                                 weights after the step
  <precision>.<case>.momentum_buffer.<shape>                        after the last step
traces.json: {<name>: {"config": our YAML, "float64", "float32", "bfloat16": {"loss": [...], "grad_norm": [...]}}} of 100
steps; "bfloat16" only of Muon. CASES and what a config says stand in train/extras/optimizers/tests too.
"""
import contextlib
import fnmatch
import json
import pathlib

import torch
import yaml
from safetensors.torch import save_file

import train_traces
from optimizer_golden import numbers

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "tests" / "golden" / "muon"
STEPS = 6
SHAPES = {"wide": (9, 15), "tall": (15, 9), "square": (12, 12)}

# name: (options, grad_scale); the learning rate of step s is lr / s
CASES = {
    "usual": (dict(lr=0.02), 1.0),
    "match_rms_adamw": (dict(lr=0.01, momentum=0.8, nesterov=False, weight_decay=0.3, adjust_lr_fn="match_rms_adamw",
                             ns_steps=3), 0.37),
}


@contextlib.contextmanager
def without_bfloat16():
    rounded = torch.Tensor.bfloat16
    torch.Tensor.bfloat16 = torch.Tensor.clone  # a copy, since Muon divides the result in place
    yield
    torch.Tensor.bfloat16 = rounded


def steps():
    torch.manual_seed(1)
    out = {f"start.{name}": numbers(shape, 1.0) for name, shape in SHAPES.items()}
    for step in range(1, STEPS + 1):
        out |= {f"gradient.{step}.{name}": numbers(shape, 0.5) for name, shape in SHAPES.items()}
    for case, (options, grad_scale) in CASES.items():
        for dtype in (torch.float32, torch.float64):
            label = f"{str(dtype).removeprefix('torch.')}.{case}"
            weights = {name: torch.nn.Parameter(out[f"start.{name}"].to(dtype, copy=True)) for name in SHAPES}
            optimizer = torch.optim.Muon(weights.values(), **options)
            for step in range(1, STEPS + 1):
                optimizer.param_groups[0]["lr"] = options["lr"] / step
                for name, weight in weights.items():
                    weight.grad = out[f"gradient.{step}.{name}"].to(dtype) * grad_scale
                with without_bfloat16():
                    optimizer.step()
                out |= {f"{label}.{step}.{name}": weight.detach().clone() for name, weight in weights.items()}
            for name, weight in weights.items():
                out[f"{label}.momentum_buffer.{name}"] = optimizer.state[weight]["momentum_buffer"].clone()
    save_file(out, OUT / "steps.safetensors")


class MuonAndAdamW:
    """The matrices of blocks by Muon, the rest by AdamW, whose rate keeps its ratio to Muon's."""

    def __init__(self, net, config, patched):
        fields, self.patched = dict(config), patched
        adamw = dict(fields.pop("adamw"))
        del fields["type"]
        named = list(net.named_parameters())
        chosen = [p for name, p in named if fnmatch.fnmatch(name, "*blocks.*") and p.dim() == 2]
        rest = [p for _, p in named if all(p is not other for other in chosen)]
        self.ratio, decay = adamw["lr"] / fields["lr"], adamw.pop("weight_decay", 0.01)
        self.muon = torch.optim.Muon(chosen, **fields)
        self.adamw = torch.optim.AdamW([{"params": [p for p in rest if p.dim() >= 2], "weight_decay": decay},
                                        {"params": [p for p in rest if p.dim() < 2], "weight_decay": 0.0}], **adamw)
        self.param_groups = self.muon.param_groups

    def zero_grad(self):
        self.muon.zero_grad()
        self.adamw.zero_grad()

    def step(self):
        for group in self.adamw.param_groups:
            group["lr"] = self.param_groups[0]["lr"] * self.ratio
        with without_bfloat16() if self.patched else contextlib.nullcontext():
            self.muon.step()
        self.adamw.step()


class WithRates:
    """An optimizer with a group for each parameter, whose rate the last pattern that fits multiplies."""

    def __init__(self, net, config):
        fields = dict(config)
        rates, kind, decay = fields.pop("rates"), fields.pop("type"), fields.pop("weight_decay")
        groups = []
        for name, parameter in net.named_parameters():
            factors = [factor for pattern, factor in rates.items() if fnmatch.fnmatch(name, pattern)]
            groups.append({"params": [parameter], "weight_decay": decay if parameter.dim() >= 2 else 0.0,
                           "factor": factors[-1] if factors else 1.0})
        self.optimizer = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[kind](groups, **fields)
        self.param_groups, self.zero_grad = self.optimizer.param_groups, self.optimizer.zero_grad

    def step(self):
        for group in self.param_groups:
            group["lr"] *= group["factor"]
        self.optimizer.step()


def config_of(optimizer, dropout=0.0, accumulate=1):
    config = train_traces.configs()["dropout_00_separate_matrices"]
    config["optimizer"] = optimizer
    config["model"]["dropout"] = dropout
    config["schedule"]["min_lr"] = optimizer["lr"] / 20
    config["train"]["accumulate"] = accumulate
    return config


TRACES = {
    "muon": config_of({"type": "muon", "lr": 0.02, "adamw": {"lr": 3.0e-3, "betas": [0.9, 0.99]}}),
    "muon_match_rms_adamw": config_of(
        {"type": "muon", "lr": 4.0e-3, "momentum": 0.9, "nesterov": False, "weight_decay": 0.2,
         "adjust_lr_fn": "match_rms_adamw", "adamw": {"lr": 2.0e-3, "weight_decay": 0.1}}, dropout=0.1, accumulate=2),
    "rates": config_of({"type": "adamw", "lr": 3.0e-3, "betas": [0.9, 0.99], "weight_decay": 0.1,
                        "rates": {"*.weight": 0.5, "tok_emb.*": 0.1, "trf_blocks.1.*": 2.0}}),
}


def trace_of(config, text, dtype, patched=True):
    makes = MuonAndAdamW if config["optimizer"]["type"] == "muon" else WithRates
    arguments = [patched] if makes is MuonAndAdamW else []
    train_traces.make_optimizer = lambda net, fields: makes(net, fields, *arguments)
    return train_traces.train(config, text, dtype, 1)


def traces():
    text = (ROOT / "configs/data/tinyshakespeare.txt").read_bytes().decode("utf-8")
    out = {"made_by": f"tools/reference/muon_golden.py with PyTorch {torch.__version__}"}
    for name, config in TRACES.items():
        out[name] = {"float64": trace_of(config, text, torch.float64), "float32": trace_of(config, text, torch.float32)}
        if config["optimizer"]["type"] == "muon":
            out[name]["bfloat16"] = trace_of(config, text, torch.float32, patched=False)
        config["data"]["path"] = "../../../configs/data/tinyshakespeare.txt"
        out[name]["config"] = yaml.safe_dump(config, sort_keys=False, default_flow_style=None)
        losses = {label: trace["loss"] for label, trace in out[name].items() if label != "config"}
        apart = {label: max(abs(a - b) for a, b in zip(loss, losses["float64"])) for label, loss in losses.items()}
        print(f"{name:24s} loss {losses['float64'][0]:.4f} -> {losses['float64'][-1]:.4f}, at most apart: {apart}")
    (OUT / "traces.json").write_text(json.dumps(out, indent=0) + "\n")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    steps()
    traces()
    print(f"made with PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
