"""PyTorch's side of the rows that are no training step, as JSON on standard output: {"ms": median, "mb": peak memory}.

    python tools/extras/bench/torch_ops.py attention_layer_forward | attention_layer | attention | chain [--dropout 0.1]

attention_layer: a causal multi-head layer (one projection for q, k and v, scaled_dot_product_attention, an output
projection) on x (8, 1024, 768) with 12 heads; attention: scaled_dot_product_attention alone on (1, 4, 4096, 64); both
forward and backward. chain: 1000 multiplications of 4 numbers and their backward pass; milliseconds an operation.
"""
import argparse
import json
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F


class CausalAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out_proj = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (t.view(batch, tokens, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(batch, tokens, width))


def attention_layer(_):
    layer, x = CausalAttention(768, 12), torch.randn(8, 1024, 768, requires_grad=True)
    dy = torch.randn(8, 1024, 768)

    def work():
        x.grad = None
        layer.zero_grad(set_to_none=True)
        layer(x).backward(dy)
    return work, 6, 1


def attention_layer_forward(_):
    layer, x = CausalAttention(768, 12), torch.randn(8, 1024, 768)

    def work():
        with torch.no_grad():
            layer(x)
    return work, 10, 1


def attention(dropout):
    q, k, v = (torch.randn(1, 4, 4096, 64, requires_grad=True) for _ in range(3))
    dy = torch.randn(1, 4, 4096, 64)

    def work():
        q.grad = k.grad = v.grad = None
        F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True).backward(dy)
    return work, 6, 1


def chain(_):
    x, factor, dy, length = torch.ones(4, requires_grad=True), torch.full((4,), 0.999), torch.ones(4), 1000

    def work():
        x.grad = None
        y = x
        for _ in range(length):
            y = y * factor
        y.backward(dy)
    return work, 30, length


def main():
    rows = {f.__name__: f for f in (attention_layer_forward, attention_layer, attention, chain)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", choices=rows)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=0)
    a = parser.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    work, rounds, operations = rows[a.row](a.dropout)
    work()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"ms": 1e3 * statistics.median(seconds) / operations, "mb": peak}))


if __name__ == "__main__":
    main()
