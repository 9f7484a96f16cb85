#!/usr/bin/env python3
"""Writes tests/golden/safetensors/*.safetensors with the Python package `safetensors`.

    python3 -m venv venv && venv/bin/pip install torch==2.13.0 numpy safetensors==0.8.0
    venv/bin/python tools/reference/safetensors_golden.py

tests/train/files/safetensors_test.cpp writes the same tensors and compares the files byte for byte.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

OUT = Path(__file__).resolve().parents[2] / "tests" / "golden" / "safetensors"


def numbers(*shape, dtype):
    """0.5 i - 1 for element i: exact in every float type here."""
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64) * 0.5 - 1).to(dtype).reshape(shape)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    save_file(
        {
            "b.weight": numbers(2, 3, dtype=torch.float32),
            "a.weight": numbers(3, dtype=torch.float32),
            "empty": numbers(0, 4, dtype=torch.float32),
            "scalar": numbers(dtype=torch.float64),
            "half": numbers(5, dtype=torch.float16),
            "brain": numbers(2, 2, dtype=torch.bfloat16),
            "ids": torch.tensor([[0, 5, -1], [7, 2147483647, -2147483648]], dtype=torch.int64),
            "small_ids": torch.tensor([1, -2, 3], dtype=torch.int32),
            "mask": torch.tensor([[True, False], [True, True]]),
            "state": torch.tensor([0, 1, 127, 128, 255], dtype=torch.uint8),
        },
        OUT / "all_dtypes.safetensors",
        metadata={"note": 'quote " backslash \\ newline \n tab \t bell \x07 e-acute \u00e9'},
    )
    save_file({}, OUT / "empty.safetensors")
    save_file(
        {"z": numbers(2, dtype=torch.float64), "\u00e9": numbers(1, dtype=torch.float64)},
        OUT / "names.safetensors",
    )


if __name__ == "__main__":
    main()
