"""One PyTorch training process: the GPT of a heed config, the trainer's step, as JSON on standard output.

    python tools/extras/bench/torch_step.py --layers 4 --heads 4 --width 128 --context 64 --batch 12 --vocab 65 \
        --dropout 0.0 --steps 100 [--bias] [--compile]

A step is a forward pass, a backward pass, clipping to norm 1 and AdamW, with attention by
scaled_dot_product_attention, as one would write it for speed. Prints {"ms": median of the steps, "mb": peak memory}.
"""
import argparse
import json
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads, dropout, bias):
        super().__init__()
        self.heads, self.p = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width, bias=bias), nn.LayerNorm(width, bias=bias)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias), nn.Linear(width, width, bias)
        self.up, self.down = nn.Linear(width, 4 * width, bias), nn.Linear(4 * width, width, bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        batch, tokens, width = x.shape
        split = lambda t: t.view(batch, tokens, self.heads, -1).transpose(1, 2)
        q, k, v = (split(t) for t in self.qkv(self.norm1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p, is_causal=True)
        x = x + self.drop(self.out(y.transpose(1, 2).reshape(batch, tokens, width)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)))))


class GPT(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(a.vocab, a.width), nn.Embedding(a.context, a.width)
        self.blocks = nn.ModuleList(Block(a.width, a.heads, a.dropout, a.bias) for _ in range(a.layers))
        self.norm, self.head = nn.LayerNorm(a.width, bias=a.bias), nn.Linear(a.width, a.vocab, bias=False)
        self.head.weight = self.tokens.weight
        self.drop = nn.Dropout(a.dropout)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, 0.0, 0.02)

    def forward(self, ids, targets):
        x = self.drop(self.tokens(ids) + self.positions.weight)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("layers", "heads", "width", "context", "batch", "vocab", "steps"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--warm-up", type=int, default=3, help="steps before those that are timed")
    parser.add_argument("--bias", action="store_true")
    parser.add_argument("--compile", action="store_true")
    a = parser.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    model = GPT(a)
    loss_of = torch.compile(model) if a.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, (0.9, 0.99), weight_decay=0.1)
    ids, targets = (torch.randint(0, a.vocab, (a.batch, a.context)) for _ in range(2))
    seconds = []
    for _ in range(a.warm_up + a.steps):
        start = time.perf_counter()
        loss = loss_of(ids, targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"ms": 1e3 * statistics.median(seconds[a.warm_up:]), "mb": peak}))


if __name__ == "__main__":
    main()
