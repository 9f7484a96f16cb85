#!/usr/bin/env python3
"""Writes tests/golden/optimizers/<case>.safetensors: steps of PyTorch's optimizers (made with PyTorch 2.13, CPU).

    python3 -m venv venv && venv/bin/pip install torch==2.13.0 numpy safetensors==0.8.0
    venv/bin/python tools/reference/optimizer_golden.py

Parameters: matrix (9, 15), vector (35), number (). Keys of a file:
  start.<parameter>, gradient.<step>.<parameter>       float32 numbers; steps count from 1
  float32.<step>.<parameter>, float64.<step>.<parameter>            weights after the step
  float32.<state>.<parameter>, float64.<state>.<parameter>          state after the last step
Gradients are multiplied by grad_scale in the precision of the run before a step sees them. The learning rate of step s
is lr / s. CASES stands in tests/train/optim/optimizer_test.cpp too.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

OUT = Path(__file__).resolve().parents[2] / "tests" / "golden" / "optimizers"
STEPS = 6
SHAPES = {"matrix": (9, 15), "vector": (35,), "number": ()}

# name: (class, options, decay, grad_scale)
CASES = {
    "sgd": (torch.optim.SGD, dict(lr=0.1), "all", 1.0),
    "sgd_momentum": (torch.optim.SGD, dict(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.05), "all", 0.37),
    "sgd_nesterov": (torch.optim.SGD, dict(lr=0.1, momentum=0.8, nesterov=True, weight_decay=0.1), "matrices", 1.0),
    "adam": (torch.optim.Adam, dict(lr=0.01), "all", 1.0),
    "adam_decay": (torch.optim.Adam, dict(lr=0.02, betas=(0.4, 0.95), eps=1e-6, weight_decay=0.1), "matrices", 1.0),
    "adamw": (torch.optim.AdamW, dict(lr=0.01), "all", 1.0),
    "adamw_matrices": (torch.optim.AdamW, dict(lr=0.03, betas=(0.9, 0.99), weight_decay=0.1), "matrices", 0.37),
}


def numbers(shape, scale):
    """A third of them tiny and a third large, as gradients are."""
    values = torch.randn(shape) * scale
    sizes = 10.0 ** torch.randint(-4, 2, shape)
    return values * sizes


def run(case, start, gradients, dtype, out):
    kind, options, decay, grad_scale = CASES[case]
    parameters = {name: torch.nn.Parameter(start[name].to(dtype, copy=True)) for name in SHAPES}
    decayed = [p for p in parameters.values() if decay == "all" or p.dim() >= 2]
    others = [p for p in parameters.values() if not (decay == "all" or p.dim() >= 2)]
    groups = [{"params": decayed}] + ([{"params": others, "weight_decay": 0.0}] if others else [])
    optimizer = kind(groups, **options, foreach=False)
    label = str(dtype).removeprefix("torch.")
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = options["lr"] / step
        for name, parameter in parameters.items():
            parameter.grad = gradients[step][name].to(dtype) * grad_scale
        optimizer.step()
        for name, parameter in parameters.items():
            out[f"{label}.{step}.{name}"] = parameter.detach().clone()
    for name, parameter in parameters.items():
        for key, value in optimizer.state[parameter].items():
            if key != "step" and value is not None:
                out[f"{label}.{key}.{name}"] = value.clone()


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    start = {name: numbers(shape, 1.0) for name, shape in SHAPES.items()}
    gradients = {s: {name: numbers(shape, 0.5) for name, shape in SHAPES.items()} for s in range(1, STEPS + 1)}
    for case in CASES:
        out = {f"start.{name}": value for name, value in start.items()}
        out |= {f"gradient.{s}.{name}": v for s, of_step in gradients.items() for name, v in of_step.items()}
        for dtype in (torch.float32, torch.float64):
            run(case, start, gradients, dtype, out)
        save_file(out, OUT / f"{case}.safetensors")
    print(f"{len(CASES)} cases with PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
