#!/usr/bin/env python3
"""Writes tests/golden/random/torch.txt and mcg31.txt: the random numbers of PyTorch on the CPU.

    python3 tools/reference/random_golden.py [--out tests/golden/random]

Needs torch (made with 2.13). A file is a script: one call a line, `name arguments = results`, all on one
stream that `seed S` starts anew. So a call that takes one word too many or too few spoils every line
behind it. Floats are the hexadecimal bits of their float32; arguments are decimal.
"""
import argparse
import math
import pathlib
import struct

import torch
from torch.utils.data import DataLoader


def bits(values):
    return " ".join(f"{struct.unpack('<I', struct.pack('<f', v))[0]:08x}" for v in values)


def plain(values):
    return " ".join(str(int(v)) for v in values)


def dropout_input(n):
    """Both signs and zeros, exact in float32; the test makes the same."""
    return (torch.arange(n) % 13 - 6) * 0.375


class Script:
    """Each method makes one call of PyTorch and returns the line that records it."""

    def __init__(self):
        self.lines = []

    def add(self, call, results=""):
        self.lines.append(f"{call} = {results}" if results else call)

    def note(self, text):
        self.lines.append(f"# {text}")

    def seed(self, value):
        torch.manual_seed(value)
        self.add(f"seed {value % 2**64}")

    def words(self, n):
        """Raw words, two at a time: the full range of int64 is the only call that shows all bits."""
        pairs = torch.empty(n // 2, dtype=torch.int64).random_(-(2**63), None).tolist()
        words = [w for p in pairs for w in (p % 2**64 >> 32, p % 2**32)]
        self.add(f"words {n}", plain(words))

    def uniform(self, n, low, high):
        x = torch.rand(n) if (low, high) == (0, 1) else torch.empty(n).uniform_(low, high)
        self.add(f"uniform {n} {low!r} {high!r}", bits(x.tolist()))

    def normal(self, n, mean=0.0, std=1.0):
        x = torch.randn(n) if (mean, std) == (0, 1) else torch.empty(n).normal_(mean, std)
        self.add(f"normal {n} {mean!r} {std!r}", bits(x.tolist()))

    def bernoulli(self, n, p):
        self.add(f"bernoulli {n} {p!r}", bits(torch.empty(n).bernoulli_(p).tolist()))

    def randint(self, n, low, high):
        self.add(f"randint {n} {low} {high}", plain(torch.randint(low, high, (n,)).tolist()))

    def int63(self):
        self.add("int63", plain([torch.empty((), dtype=torch.int64).random_().item()]))

    def randperm(self, n):
        self.add(f"randperm {n}", plain(torch.randperm(n).tolist()))

    def linear(self, d_in, d_out):
        layer = torch.nn.Linear(d_in, d_out)
        values = layer.weight.flatten().tolist() + layer.bias.tolist()
        self.add(f"linear {d_in} {d_out}", bits(values))

    def embedding(self, rows, width):
        values = torch.nn.Embedding(rows, width).weight.flatten().tolist()
        self.add(f"embedding {rows} {width}", bits(values))

    def layer_norm(self, width):
        torch.nn.LayerNorm(width)
        self.note(f"LayerNorm({width}) draws nothing")

    def dropout(self, n, p, training=True):
        y = torch.nn.functional.dropout(dropout_input(n), p, training)
        self.add(f"dropout {n} {p!r} {int(training)}", bits(y.tolist()))

    def loader(self, n):
        order = [int(b[0]) for b in DataLoader(list(range(n)), batch_size=1, shuffle=True)]
        self.add(f"loader {n}", plain(order))

    def loader_unshuffled(self):
        assert len(list(DataLoader(list(range(3)), batch_size=1))) == 3
        self.add("loader_unshuffled")


def separate_calls(s):
    """One kind of call a seed."""
    for seed in (0, 1, 123, 2**32 - 1, 2**32 + 123, -1):
        s.seed(seed)
        s.words(8)
    s.seed(123)
    s.words(1300)
    for n in (1, 6, 16, 623, 625, 1000):
        s.seed(123)
        s.uniform(n, 0, 1)
    for low, high in ((-0.31, 0.77), (-0.0312, 0.0312), (0.1, 3.3), (-1.0, 1.0), (2.0, 2.0)):
        s.seed(5)
        s.uniform(100, low, high)
    for n in (1, 5, 8, 15, 16, 17, 31, 32, 40, 100, 1000, 1024, 1040, 1041):
        s.seed(233983427)
        s.normal(n)
        s.uniform(1, 0, 1)
    for n in (7, 33, 1000):
        s.seed(7)
        s.normal(n, 0.3, 0.02)
    for low, high in ((0, 10), (-5, 5), (0, 1), (0, 2**28 - 1), (0, 2**28), (0, 2**40), (-(2**63), 2**63 - 1)):
        s.seed(0)
        s.randint(20, low, high)
    for n in (0, 1, 2, 10, 50, 1000):
        s.seed(123)
        s.randperm(n)
        s.words(2)
    for p in (0.1, 0.2, 0.3, 0.5, 0.15, 0.9):
        s.seed(123)
        s.dropout(300, p)
        s.bernoulli(70, p)
    for seed, n in ((123, 10), (7, 1), (7, 0), (42, 700)):
        s.seed(seed)
        if n:
            s.loader(n)
        s.loader_unshuffled()
        s.words(2)


def interleaved(s):
    """Where each call leaves the stream, and the half of a normal pair that waits for the next call."""
    for seed in (123, 20240229):
        s.seed(seed)
        for n in (5, 1, 16, 3):
            s.randint(9, 0, 10)
            s.normal(n)
            s.uniform(7, 0, 1)
            s.randint(3, 0, 2**30)
            s.normal(40)
            s.randperm(50)
            s.int63()
            s.normal(3, -1.0, 0.25)
            s.linear(3, 2)
            s.linear(7, 5)
            s.layer_norm(9)
            s.embedding(6, 3)
            s.embedding(2, 5)
            s.dropout(33, 0.2)
            s.dropout(33, 0.0)
            s.dropout(33, 1.0)
            s.dropout(33, 0.5, training=False)
            s.dropout(0, 0.5)
            s.bernoulli(5, 0.3)
            s.bernoulli(5, 0.0)
            s.loader(10)
            s.loader_unshuffled()
            s.normal(17, 0.0, 0.02)
            s.words(10)


MODULUS, MULTIPLIER = 2**31 - 1, 1132489760


def mcg31(first_word, p, n, first):
    """MKL's MCG31m1 as PyTorch up to 2.6 ran it on Linux: one word seeds the mask, then a recursion."""
    x = first_word % MODULUS or 1
    kept = []
    if first < 10**6:
        for _ in range(first):
            x = x * MULTIPLIER % MODULUS
    else:
        x = x * pow(MULTIPLIER, first, MODULUS) % MODULUS
    for _ in range(n):
        kept.append("1" if x / MODULUS < 1.0 - p else "0")
        x = x * MULTIPLIER % MODULUS
    return "".join(kept)


def mcg31_threshold(p):
    """The smallest x that is dropped: bisection on the comparison itself."""
    low, high = 0, MODULUS
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle / MODULUS < 1.0 - p else (low, middle)
    return low


def mcg31_script(s):
    for seed in (123, 0, 20240229):
        for p in (0.1, 0.2, 0.5, 0.9, 1e-9):
            for n, first in ((36, 0), (300, 0), (70, 1), (129, 12345), (65, 2**31 - 10), (65, 2**40 + 7)):
                torch.manual_seed(seed)
                word = torch.empty(1, dtype=torch.int64).random_(-(2**63), None).item() % 2**64 >> 32
                s.add(f"mcg31 {seed} {p!r} {n} {first}", mcg31(word, p, n, first))
    for p in [0.1, 0.2, 0.3, 0.5, 1e-9, 1e-12, 1 - 1e-12] + [i / 97 for i in range(1, 97)] + [math.pi / 7]:
        s.add(f"threshold {p!r}", str(mcg31_threshold(p)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("tests/golden/random"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, parts in (("torch.txt", (separate_calls, interleaved)), ("mcg31.txt", (mcg31_script,))):
        script = Script()
        script.note(f"Made by tools/reference/random_golden.py with PyTorch {torch.__version__}")
        for part in parts:
            part(script)
        (out / name).write_text("\n".join(script.lines) + "\n")
        print(out / name, len(script.lines), "lines")


if __name__ == "__main__":
    main()
