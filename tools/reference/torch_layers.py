"""heedgrad's layers in PyTorch 2.13: the same names, options, parameter paths and order of construction.

The other scripts of this folder import it; run by itself it checks its layers against each other and against
torch.nn (no heed needed):

    python tools/reference/torch_layers.py

`build({"type": "gpt", ...})` takes the mapping under `model:` of a config. After torch.manual_seed(seed) the parameters
are those that heed draws for that seed. Float64 is build(...).double(): the float32 draws, widened.

Letters: B batch, T tokens, H heads, d width. A mask is true where a query may attend: (B, T) over the keys or
(B, 1, T, T); a query with nothing to attend to gets zeros.
"""
import inspect
import math

import torch
from torch import nn
from torch.nn import functional as F


def allowed_keys(mask, causal, tokens, device=None, window=None, sinks=0):
    """All rules as one (B or 1, 1, T, T) tensor of booleans, or None when everything may be attended to."""
    allowed = torch.ones(tokens, tokens, dtype=torch.bool, device=device).tril()[None, None] if causal else None
    if window is not None:
        near = allowed.triu(1 - window)
        near[..., :sinks] = True
        allowed = allowed & near
    if mask is not None:
        mask = mask.bool()
        mask = mask[:, None, None, :] if mask.dim() == 2 else mask
        allowed = mask if allowed is None else allowed & mask
    return allowed


def alibi_slopes(heads):
    """Press, Smith and Lewis 2022: a geometric sequence; between powers of two, every other slope of twice as many."""
    def of_power(n):
        return [2 ** (-8 * (h + 1) / n) for h in range(n)]
    power = 2 ** (heads.bit_length() - 1)
    return torch.tensor(of_power(power) + of_power(2 * power)[::2][:heads - power], dtype=torch.float64)


def attend(queries, keys, values, scale, allowed, dropout, made_by="softmax", soft_cap=None, alibi=False):
    """(B, H, T, d) each -> context vectors (B, H, T, d) and the weights (B, H, T, T) before dropout."""
    attn_scores = queries @ keys.transpose(-2, -1) * scale
    if soft_cap is not None:
        attn_scores = soft_cap * torch.tanh(attn_scores / soft_cap)
    if alibi:
        at = torch.arange(keys.shape[-2])
        slopes = alibi_slopes(queries.shape[1]).to(attn_scores.dtype)[:, None, None]
        attn_scores = attn_scores - slopes * (at[:, None] - at)
    if made_by != "softmax":  # hidden scores add nothing; a row whose sum is 0 gives zeros
        attn_weights = attn_scores if allowed is None else attn_scores.masked_fill(~allowed, 0.0)
        if made_by == "sum":
            total = attn_weights.sum(-1, keepdim=True)
            attn_weights = attn_weights / total.masked_fill(total == 0, 1.0) * (total != 0)
    elif allowed is None:
        attn_weights = torch.softmax(attn_scores, dim=-1)
    else:
        some = allowed.any(-1, keepdim=True)
        # Rows without any visible key are set to 0 before and after the softmax: no NaN, no
        # gradient.
        attn_scores = attn_scores.masked_fill(~allowed, -torch.inf).masked_fill(~some, 0.0)
        attn_weights = torch.softmax(attn_scores, dim=-1).masked_fill(~some, 0.0)
    return dropout(attn_weights) @ values, attn_weights


class Attention(nn.Module):
    """What the attending layers share: (T, d) is a batch of one, and the last weights are kept."""

    def forward(self, x, mask=None):
        if x.dim() == 2:
            return self.forward(x[None], mask)[0]
        context_vec, self.attn_weights = self.attention(x, mask)
        return context_vec


class SimpleAttention(Attention):
    """Dot products of the inputs themselves, no parameters, not scaled."""

    def __init__(self, attention_weights="softmax"):
        super().__init__()
        self.made_by = attention_weights

    def attention(self, x, mask):
        x = x[:, None]  # one head
        allowed = allowed_keys(mask, False, x.shape[-2])
        context_vec, weights = attend(x, x, x, 1.0, allowed, nn.Identity(), self.made_by)
        return context_vec[:, 0], weights


class SelfAttention_v1(Attention):
    """Bare weights (d_in, d_out), drawn with rand."""

    def __init__(self, d_in, d_out, attention_weights="softmax"):
        super().__init__()
        self.made_by = attention_weights
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def attention(self, x, mask):
        queries, keys, values = ((x @ w)[:, None] for w in (self.W_query, self.W_key, self.W_value))
        allowed = allowed_keys(mask, False, x.shape[1])
        context_vec, weights = attend(queries, keys, values, keys.shape[-1] ** -0.5, allowed, nn.Identity(), self.made_by)
        return context_vec[:, 0], weights


class SelfAttention_v2(Attention):
    """Linear layers in place of bare weights."""

    causal = False

    def __init__(self, d_in, d_out, qkv_bias=False, attention_weights="softmax"):
        super().__init__()
        self.made_by = attention_weights
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Identity()

    def attention(self, x, mask):
        queries, keys, values = self.W_query(x)[:, None], self.W_key(x)[:, None], self.W_value(x)[:, None]
        allowed = allowed_keys(mask, self.causal, x.shape[1])
        scale = keys.shape[-1] ** -0.5
        context_vec, weights = attend(queries, keys, values, scale, allowed, self.dropout, self.made_by)
        return context_vec[:, 0], weights


class CausalAttention(SelfAttention_v2):
    causal = True

    def __init__(self, d_in, d_out, context_length, dropout=0.0, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias)
        self.context_length = context_length
        self.dropout = nn.Dropout(dropout)


class MultiHeadAttentionWrapper(Attention):
    """num_heads CausalAttentions side by side: the output is num_heads x d_out wide."""

    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.0, qkv_bias=False):
        super().__init__()
        head = (d_in, d_out, context_length, dropout, qkv_bias)
        self.heads = nn.ModuleList(CausalAttention(*head) for _ in range(num_heads))

    def attention(self, x, mask):
        context_vec = torch.cat([head(x, mask) for head in self.heads], dim=-1)
        return context_vec, torch.cat([head.attn_weights for head in self.heads], dim=1)


class MultiHeadAttention(Attention):
    """One projection for all heads, split into d_out / num_heads columns each.

    packed: the parameters and the initialisation of torch.nn.MultiheadAttention: out_proj is drawn as any Linear, then
    in_proj_weight by xavier_uniform_, then all biases become zero.
    """

    def __init__(self, d_in, d_out, context_length, num_heads, dropout=0.0, qkv_bias=False, out_proj=True,
                 out_bias=True, causal=True, packed=False, num_kv_heads=None, rope=False, rope_base=10000.0, scale="auto",
                 attention_weights="softmax", window=None, sinks=0, soft_cap=None, alibi=False, qk_norm="none",
                 rotary_fraction=1.0, rope_scaling=None, head_dim=None, norm_eps=1e-5):
        super().__init__()
        self.window, self.sinks, self.soft_cap, self.alibi = window, sinks, soft_cap, alibi
        assert head_dim or d_out % num_heads == 0, f"d_out {d_out} is not divisible by num_heads {num_heads}"
        kv_heads = num_kv_heads or num_heads
        self.group, width = num_heads // kv_heads, head_dim or d_out // num_heads
        self.scale = width**-0.5 if scale == "auto" else scale
        self.made_by = attention_weights
        turned = int(rotary_fraction * width)
        self.angles = rotary_angles(context_length, turned, rope_base, rope_scaling) if rope else None  # stays float64
        self.d_out, self.width, self.causal, self.packed = d_out, width, causal, packed
        if packed:
            self.in_proj_weight = nn.Parameter(torch.empty(3 * d_out, d_in))
            self.register_parameter("in_proj_bias", nn.Parameter(torch.zeros(3 * d_out)) if qkv_bias else None)
        else:
            self.W_query = nn.Linear(d_in, num_heads * width, bias=qkv_bias)
            self.W_key = nn.Linear(d_in, kv_heads * width, bias=qkv_bias)
            self.W_value = nn.Linear(d_in, kv_heads * width, bias=qkv_bias)
        self.out_proj = nn.Linear(num_heads * width, d_out, bias=out_bias) if out_proj else nn.Identity()
        if qk_norm != "none":
            self.q_norm, self.k_norm = (norm_layer(qk_norm, width, False, norm_eps) for _ in range(2))
        self.dropout = nn.Dropout(dropout)
        if packed:
            nn.init.xavier_uniform_(self.in_proj_weight)
            if out_proj and out_bias:
                nn.init.zeros_(self.out_proj.bias)

    def attention(self, x, mask):
        batch, tokens, _ = x.shape
        if self.packed:
            projected = F.linear(x, self.in_proj_weight, self.in_proj_bias).split(self.d_out, dim=-1)
        else:
            projected = self.W_query(x), self.W_key(x), self.W_value(x)
        split = [p.reshape(batch, tokens, -1, self.width).transpose(1, 2) for p in projected]  # (B, H or Hkv, T, width)
        if hasattr(self, "q_norm"):
            split[:2] = self.q_norm(split[0]), self.k_norm(split[1])
        if self.angles is not None:
            split[:2] = [rotate(p, self.angles) for p in split[:2]]
        split[1:] = [p.repeat_interleave(self.group, dim=1) for p in split[1:]]
        allowed = allowed_keys(mask, self.causal, tokens, None, self.window, self.sinks)
        context_vec, weights = attend(*split, self.scale, allowed, self.dropout, self.made_by, self.soft_cap, self.alibi)
        return self.out_proj(context_vec.transpose(1, 2).reshape(batch, tokens, -1)), weights


def rotary_angles(positions, width, base, scaling=None):
    """(positions, width) float64: the angle of each number; a number and the one half a head later turn together.

    scaling: as transformers' _compute_llama3_parameters, whose lines these are in another order.
    """
    frequency = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    if scaling:
        original, low, high = (scaling[k] for k in ("original_max_position_embeddings", "low_freq_factor", "high_freq_factor"))
        length = 2 * math.pi / frequency
        slow = frequency / scaling["factor"]
        smooth = (original / length - low) / (high - low)
        between = (1 - smooth) * slow + smooth * frequency
        frequency = torch.where(length > original / low, slow, torch.where(length < original / high, frequency, between))
    angle = torch.arange(positions, dtype=torch.float64)[:, None] * frequency
    return torch.cat([angle, angle], dim=-1)


def rotate(x, angles):
    """x (B, H, T, width), its first numbers turned by angles (>= T, so many), as Llama and GPT-NeoX do."""
    angles = angles[: x.shape[-2]]
    x, rest = x.split([angles.shape[-1], x.shape[-1] - angles.shape[-1]], dim=-1)
    low, high = x.chunk(2, dim=-1)
    turned = x * angles.cos().to(x.dtype) + torch.cat([-high, low], dim=-1) * angles.sin().to(x.dtype)
    return torch.cat([turned, rest], dim=-1)


class CrossAttention(nn.Module):
    """Queries from x, keys and values from a context (.., S, d_context); the mask is over the context."""

    def __init__(self, d_in, d_out, num_heads, d_context=None, dropout=0.0, qkv_bias=False, out_proj=True, out_bias=True):
        super().__init__()
        d_context = d_in if d_context is None else d_context
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_context, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_context, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out, bias=out_bias) if out_proj else nn.Identity()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, context, mask=None):
        if x.dim() == 2:
            return self.forward(x[None], context[None], mask)[0]
        projected = self.W_query(x), self.W_key(context), self.W_value(context)
        split = [p.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for p in projected]  # (B, H, T or S, d / H)
        allowed = allowed_keys(mask, False, None)
        context_vec, self.attn_weights = attend(*split, split[0].shape[-1] ** -0.5, allowed, self.dropout)
        return self.out_proj(context_vec.transpose(1, 2).flatten(-2))


class LayerNorm(nn.Module):
    """Biased variance, as torch.nn.LayerNorm; `scale` and `shift` are the book's names."""

    def __init__(self, d_model, eps=1e-5, bias=True):
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(d_model))
        self.register_parameter("shift", nn.Parameter(torch.zeros(d_model)) if bias else None)

    def forward(self, x):
        return F.layer_norm(x, self.scale.shape, self.scale, self.shift, self.eps)


class RMSNorm(nn.Module):
    """eps is 1e-5 in both precisions (torch's own default would change with the precision). No shift."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return F.rms_norm(x, self.scale.shape, self.scale, self.eps)


class Positional(nn.Module):
    """x (.., T, d) plus one vector a position: learned (drawn as nn.Embedding) or sinusoidal (Vaswani et al., 3.5)."""

    def __init__(self, context_length, d_model, position="learned"):
        super().__init__()
        self.context_length = context_length
        if position == "learned":
            self.weight = nn.Parameter(torch.empty(context_length, d_model).normal_())
        else:
            assert position == "sinusoidal", position
            self.register_parameter("weight", None)
            self.table = sinusoids(context_length, d_model)  # a plain attribute: stays float64, rounded once when added

    def forward(self, x):
        table = self.table.to(x.dtype) if self.weight is None else self.weight
        return x + table[: x.shape[-2]]


def sinusoids(positions, width):
    """(positions, width) float64: sin(t / 10000^(2i/width)) in column 2i, the cosine of the same angle in 2i + 1."""
    column = torch.arange(width, dtype=torch.float64)
    even = column - column % 2
    angle = torch.arange(positions, dtype=torch.float64)[:, None] * torch.exp(even * (-math.log(10000.0) / width))
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


class ReLU2(nn.ReLU):
    def forward(self, x):
        return super().forward(x) ** 2


def activation_layer(name):
    return {"gelu_tanh": lambda: nn.GELU(approximate="tanh"), "gelu": nn.GELU, "relu": nn.ReLU, "relu2": ReLU2,
            "silu": nn.SiLU}[name]()


class FeedForward(nn.Module):
    def __new__(cls, d_model, hidden_multiplier=4, activation="gelu_tanh", bias=True, ff_width=None):
        if activation == "swiglu":
            return GatedFeedForward(d_model, ff_width or d_model * hidden_multiplier, bias)
        return super().__new__(cls)

    def __init__(self, d_model, hidden_multiplier=4, activation="gelu_tanh", bias=True, ff_width=None):
        super().__init__()
        hidden = ff_width or d_model * hidden_multiplier
        self.layers = nn.Sequential(nn.Linear(d_model, hidden, bias=bias), activation_layer(activation),
                                    nn.Linear(hidden, d_model, bias=bias))

    def forward(self, x):
        return self.layers(x)


class GatedFeedForward(nn.Module):
    """transformers' LlamaMLP."""

    def __init__(self, d_model, ff_width, bias=True):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, ff_width, bias=bias)
        self.up_proj = nn.Linear(d_model, ff_width, bias=bias)
        self.down_proj = nn.Linear(ff_width, d_model, bias=bias)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class MixtureOfExperts(nn.Module):
    """Mixtral's (all experts of all tokens, weighted by 0 where they were not chosen); Switch's with top_k 1."""

    def __init__(self, d_model, num_experts=8, top_k=2, load_balancing=0.01, hidden_multiplier=4, activation="gelu_tanh",
                 bias=True, ff_width=None):
        super().__init__()
        self.top_k = top_k
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(d_model, hidden_multiplier, activation, bias, ff_width)
                                     for _ in range(num_experts))

    def forward(self, x):
        p = F.softmax(self.router(x), dim=-1)
        chosen, experts = p.topk(self.top_k, dim=-1)
        chosen = chosen / chosen.sum(-1, keepdim=True) if self.top_k > 1 else chosen
        weights = torch.zeros_like(p).scatter(-1, experts, chosen)  # (.., num_experts)
        return sum(weights[..., e, None] * expert(x) for e, expert in enumerate(self.experts))


def norm_layer(name, d_model, bias, eps=1e-5):
    return {"layer_norm": lambda: LayerNorm(d_model, eps=eps, bias=bias),
            "rms_norm": lambda: RMSNorm(d_model, eps=eps)}[name]()


class TransformerBlock(nn.Module):
    """x + att(norm1(x)), then x + ff(norm2(x)), dropout on both branches.

    `attention` names any attending layer; what it does not say of width, context, heads, dropout and biases comes from
    the block. A wrapper's heads are d_model / num_heads wide, so that the block's width comes out.
    feed_forward none: the first line alone. A mapping names any other layer, which the block fills in as the attention.
    parallel_residual: x + att(norm1(x)) + ff(norm2(x)).
    """

    def __init__(self, d_model, num_heads, context_length, dropout=0.0, qkv_bias=False, bias=True, norm="layer_norm",
                 activation="gelu_tanh", hidden_multiplier=4, attention=None, feed_forward="feed_forward",
                 norm_eps=1e-5, ff_width=None, parallel_residual=False, **of_the_model):
        super().__init__()
        self.parallel_residual = parallel_residual
        given = {"type": "multi_head_attention", **(attention or {})}
        heads = given.get("num_heads", num_heads)
        per_head = given["type"] == "multi_head_attention_wrapper"
        fill = {"d_in": d_model, "d_out": d_model // heads if per_head else d_model, "context_length": context_length,
                "num_heads": heads, "dropout": dropout, "qkv_bias": qkv_bias, "out_bias": bias, "norm_eps": norm_eps,
                **of_the_model}
        fields = inspect.signature(LAYERS[given["type"]]).parameters
        self.att = build({**{k: v for k, v in fill.items() if k in fields}, **given})
        fill = {"d_model": d_model, "hidden_multiplier": hidden_multiplier, "activation": activation, "bias": bias,
                "ff_width": ff_width}
        given = feed_forward if isinstance(feed_forward, dict) else {"type": "feed_forward"}
        self.ff = build({**fill, **given}) if feed_forward != "none" else None
        self.norm1 = norm_layer(norm, d_model, bias, norm_eps)
        self.norm2 = norm_layer(norm, d_model, bias, norm_eps) if self.ff else None
        self.drop_shortcut = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended = x + self.drop_shortcut(self.att(self.norm1(x), mask))
        read = x if self.parallel_residual else attended
        return attended + self.drop_shortcut(self.ff(self.norm2(read))) if self.ff else attended


class GPT(nn.Module):
    """ids (T) or (B, T) -> logits (.., T, vocab_size).

    tie_embeddings: out_head is built (and drawn) as ever, then shares tok_emb's weight; the one name is tok_emb.weight.
    init gpt2: after the modules' own draws, in the order of nn.Module.apply (children first), every matrix is drawn
    anew from N(0, 0.02) and every bias set to zero, a tied weight twice (at tok_emb and at out_head); then the projections
    that end in a shortcut are drawn once more with 0.02 / sqrt(2 num_layers), in the order of their names. This is
    nanoGPT's order, and where 16 divides d_model^2 the weights are nanoGPT's own.
    """

    def __init__(self, vocab_size, context_length, d_model, num_heads, num_layers, dropout=0.0, qkv_bias=False,
                 bias=True, tie_embeddings=False, norm="layer_norm", activation="gelu_tanh", position="learned",
                 init="torch", hidden_multiplier=4, attention=None, num_kv_heads=None, feed_forward="feed_forward",
                 norm_eps=1e-5, ff_width=None, rope_base=10000.0, rotary_fraction=1.0, parallel_residual=False,
                 head_dim=None, num_classes=None):
        super().__init__()
        rope = position == "rope"
        block = (d_model, num_heads, context_length, dropout, qkv_bias, bias, norm, activation, hidden_multiplier)
        kinds = attention if isinstance(attention, list) else [attention]  # the blocks take them in turn
        of_block = dict(num_kv_heads=num_kv_heads, rope=rope, rope_base=rope_base, rotary_fraction=rotary_fraction,
                        head_dim=head_dim, feed_forward=feed_forward, norm_eps=norm_eps, ff_width=ff_width,
                        parallel_residual=parallel_residual)
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.pos_emb = nn.Identity() if position in ("rope", "none") else Positional(context_length, d_model, position)
        self.drop_emb = nn.Dropout(dropout)
        self.trf_blocks = nn.ModuleList(TransformerBlock(*block, kinds[i % len(kinds)], **of_block)
                                        for i in range(num_layers))
        self.final_norm = norm_layer(norm, d_model, bias, norm_eps)
        self.out_head = (nn.Linear(d_model, vocab_size, bias=False) if num_classes is None else
                         nn.Linear(d_model, num_classes))
        if tie_embeddings:
            self.out_head.weight = self.tok_emb.weight
        if init == "gpt2":
            self.apply(initialise_as_gpt2)
            for name, p in self.named_parameters():
                if name.endswith(("att.out_proj.weight", "att.output.weight", "att.o_proj.weight",
                                  "layers.2.weight", "down_proj.weight")):
                    branches = num_layers if feed_forward == "none" else 2 * num_layers
                    nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(branches))
        else:
            assert init == "torch", init

    def states(self, ids, mask=None):
        x = self.drop_emb(self.pos_emb(self.tok_emb(ids)))
        for block in self.trf_blocks:
            x = block(x, mask)
        return self.final_norm(x)

    def forward(self, ids, mask=None):
        if ids.dim() == 1:
            return self.forward(ids[None], mask)[0]
        return self.out_head(self.states(ids, mask))


class GPTClassifier(GPT):
    """ids (.., T) -> logits (.., num_classes); the book's, with the last real token chosen by the mask."""

    def __init__(self, num_classes, pool="last", **of_gpt):
        super().__init__(**of_gpt, num_classes=num_classes)
        self.pool = pool

    def forward(self, ids, mask=None):
        if ids.dim() == 1:
            return self.forward(ids[None], mask)[0]
        return self.out_head(pooled(self.states(ids, mask), mask, self.pool))


def pooled(x, mask, pool):
    """(B, T, d) -> (B, d): the mean over the tokens that the mask (B, T) keeps, or the first or last of them."""
    keep = torch.ones(x.shape[:2], dtype=torch.bool) if mask is None else mask.bool()
    if pool == "mean":
        return masked_mean(x, keep)[:, 0]
    order = torch.arange(x.shape[1]).expand(x.shape[:2])
    chosen = (order.masked_fill(~keep, -1).argmax(1) if pool == "last" else
              order.masked_fill(~keep, x.shape[1]).argmin(1))
    return x[torch.arange(x.shape[0]), chosen]


def initialise_as_gpt2(module):
    if not isinstance(module, (LayerNorm, RMSNorm, RwkvTimeMixing)):
        for p in module.parameters(recurse=False):
            nn.init.normal_(p, mean=0.0, std=0.02) if p.dim() >= 2 else nn.init.zeros_(p)


class DecoderBlock(nn.Module):
    """x + att(norm1(x)), then x + cross_att(norm2(x), context), then x + ff(norm3(x)), dropout on all three branches."""

    def __init__(self, d_model, num_heads, context_length, dropout=0.0, qkv_bias=False, bias=True, norm="layer_norm",
                 activation="gelu_tanh", hidden_multiplier=4):
        super().__init__()
        common = dict(dropout=dropout, qkv_bias=qkv_bias, out_bias=bias)
        self.att = MultiHeadAttention(d_model, d_model, context_length, num_heads, **common)
        self.cross_att = CrossAttention(d_model, d_model, num_heads, **common)
        self.ff = FeedForward(d_model, hidden_multiplier, activation, bias)
        self.norm1 = norm_layer(norm, d_model, bias)
        self.norm2 = norm_layer(norm, d_model, bias)
        self.norm3 = norm_layer(norm, d_model, bias)
        self.drop_shortcut = nn.Dropout(dropout)

    def forward(self, x, context, mask=None):
        x = x + self.drop_shortcut(self.att(self.norm1(x)))
        x = x + self.drop_shortcut(self.cross_att(self.norm2(x), context, mask))
        return x + self.drop_shortcut(self.ff(self.norm3(x)))


def masked_mean(x, mask):
    """x (B, T, d), mask (B, T) or None -> (B, 1, d): the mean of what the mask keeps, 0 where it keeps nothing."""
    if mask is None:
        return x.mean(1, keepdim=True)
    keep = mask.bool().to(x.dtype)[..., None]
    return (x * keep).sum(1, keepdim=True) / keep.sum(1, keepdim=True).clamp(min=1)


class EncoderDecoder(nn.Module):
    """source_ids (.., S) and ids (.., T) -> logits (.., T, vocab_size); context mean: one vector in place of all states."""

    def __init__(self, source_vocab_size, vocab_size, source_length, context_length, d_model, num_heads, num_layers,
                 dropout=0.0, qkv_bias=False, bias=True, norm="layer_norm", activation="gelu_tanh", position="learned",
                 context="attention", hidden_multiplier=4):
        super().__init__()
        rest = (dropout, qkv_bias, bias, norm, activation, hidden_multiplier)
        self.context = context
        self.source_emb = nn.Embedding(source_vocab_size, d_model)
        self.source_pos = Positional(source_length, d_model, position)
        self.encoder_blocks = nn.ModuleList(
            TransformerBlock(d_model, num_heads, source_length, *rest, attention={"type": "multi_head_attention",
                                                                                  "causal": False})
            for _ in range(num_layers))
        self.encoder_norm = norm_layer(norm, d_model, bias)
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.pos_emb = Positional(context_length, d_model, position)
        self.decoder_blocks = nn.ModuleList(DecoderBlock(d_model, num_heads, context_length, *rest)
                                            for _ in range(num_layers))
        self.final_norm = norm_layer(norm, d_model, bias)
        self.out_head = nn.Linear(d_model, vocab_size, bias=False)
        self.drop_emb = nn.Dropout(dropout)

    def forward(self, source_ids, ids, source_mask=None):
        if ids.dim() == 1:
            return self.forward(source_ids[None], ids[None], source_mask)[0]
        states = self.drop_emb(self.source_pos(self.source_emb(source_ids)))
        for block in self.encoder_blocks:
            states = block(states, source_mask)
        states = self.encoder_norm(states)
        if self.context == "mean":
            states, source_mask = masked_mean(states, source_mask), None
        x = self.drop_emb(self.pos_emb(self.tok_emb(ids)))
        for block in self.decoder_blocks:
            x = block(x, states, source_mask)
        return self.out_head(self.final_norm(x))


class Recurrent:
    """What RNN, GRU and LSTM share: x (T, d_in) or (B, T, d_in) -> all h, and steps that leave padding out."""

    def forward(self, x, mask=None):
        assert mask is None
        return super().forward(x)[0]

    def states(self, x, initial, tokens=None):
        """The states (B, T, d) after `initial` (B, d); where tokens (B, T) is 0, the state stays as it was."""
        if tokens is None:
            return super().forward(x, initial[None])[0]
        h, states = initial, []
        for t in range(x.shape[1]):
            h = torch.where(tokens[:, t, None].bool(), super().forward(x[:, t:t + 1], h[None])[0][:, 0], h)
            states.append(h)
        return torch.stack(states, 1)


class RNN(Recurrent, nn.RNN):
    def __init__(self, d_in, d_out, bias=True):
        super().__init__(d_in, d_out, bias=bias, batch_first=True)


class GRU(Recurrent, nn.GRU):
    def __init__(self, d_in, d_out, bias=True):
        super().__init__(d_in, d_out, bias=bias, batch_first=True)


class LSTM(Recurrent, nn.LSTM):
    """Its states are h and c side by side, (B, T, 2 d)."""

    def __init__(self, d_in, d_out, bias=True):
        super().__init__(d_in, d_out, bias=bias, batch_first=True)

    def states(self, x, initial, tokens=None):
        d = self.hidden_size
        s, states = initial, []
        for t in range(x.shape[1]):
            h, c = s[:, :d].contiguous(), s[:, d:].contiguous()
            _, (h, c) = nn.LSTM.forward(self, x[:, t:t + 1], (h[None], c[None]))
            after = torch.cat([h[0], c[0]], -1)
            s = after if tokens is None else torch.where(tokens[:, t, None].bool(), after, s)
            states.append(s)
        return torch.stack(states, 1)


class Conv1d(nn.Conv1d):
    """x (T, d_in) or (B, T, d_in) -> (.., T, d_out): a window over the tokens, those before or those on both sides."""

    def __init__(self, d_in, d_out, kernel_size=3, causal=True, bias=True):
        super().__init__(d_in, d_out, kernel_size, bias=bias)
        around = kernel_size - 1
        self.around = (around, 0) if causal else (around // 2, around // 2)

    def forward(self, x, mask=None):
        assert mask is None
        return super().forward(F.pad(x.transpose(-1, -2), self.around)).transpose(-1, -2)


class GlobalAttention(nn.Module):
    """x (.., T, d), context (.., S, d) -> (.., T, d): Luong's dot or Bahdanau's additive scores, over the context."""

    def __init__(self, d_in, score="additive", d_context=None):
        super().__init__()
        if score == "additive":
            self.W_query = nn.Linear(d_in, d_in, bias=False)
            self.W_key = nn.Linear(d_context or d_in, d_in, bias=False)
            self.v = nn.Linear(d_in, 1, bias=False)
        self.score = score

    def forward(self, x, context, mask=None):
        if x.dim() == 2:
            return self.forward(x[None], context[None], mask)[0]
        if self.score == "dot":
            scores = x @ context.transpose(1, 2)
        else:
            scores = self.v(torch.tanh(self.W_query(x)[:, :, None] + self.W_key(context)[:, None]))[..., 0]
        if mask is None:
            return torch.softmax(scores, -1) @ context
        allowed = (mask[:, None] if mask.dim() == 2 else mask[:, 0]).bool()
        some = allowed.any(-1, keepdim=True)
        scores = scores.masked_fill(~allowed, -torch.inf).masked_fill(~some, 0.0)
        return torch.softmax(scores, -1).masked_fill(~some, 0.0) @ context


class RnnEncoderDecoder(nn.Module):
    """source_ids (.., S) and ids (.., T) -> logits (.., T, vocab_size); the encoder's last state begins the decoder."""

    def __init__(self, source_vocab_size, vocab_size, source_length, context_length, d_model, cell="gru",
                 encoder_kernel_size=None, attention="none", dropout=0.0):
        super().__init__()
        make_cell = {"gru": GRU, "rnn": RNN, "lstm": LSTM}[cell]
        self.d_model, self.width = d_model, d_model * (1 + (cell == "lstm"))  # of h; of a state
        self.source_emb = nn.Embedding(source_vocab_size, d_model)
        self.encoder = (Conv1d(d_model, d_model, encoder_kernel_size, causal=False) if encoder_kernel_size
                        else make_cell(d_model, d_model))
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.decoder = make_cell(d_model, d_model)
        self.cross_att = None if attention == "none" else GlobalAttention(d_model, attention)
        self.out_head = nn.Linear(d_model if attention == "none" else 2 * d_model, vocab_size, bias=False)
        self.drop_emb = nn.Dropout(dropout)

    def forward(self, source_ids, ids, source_mask=None):
        if ids.dim() == 1:
            return self.forward(source_ids[None], ids[None], source_mask)[0]
        source = self.drop_emb(self.source_emb(source_ids))
        none = source.new_zeros(len(source), self.width)
        if isinstance(self.encoder, Conv1d):
            hidden = source if source_mask is None else source * source_mask[:, :, None]
            states = torch.tanh(self.encoder(hidden))
            first = torch.cat([masked_mean(states, source_mask)[:, 0], none[:, self.d_model:]], -1)
        else:
            states = self.encoder.states(source, none, source_mask)
            first = states[:, -1]
        x = self.decoder.states(self.drop_emb(self.tok_emb(ids)), first)[..., :self.d_model]
        if self.cross_att is not None:
            x = torch.cat([x, self.cross_att(x, states[..., :self.d_model], source_mask)], -1)
        return self.out_head(x)


class Bahdanau(nn.Module):
    """Bahdanau et al. 2014, appendix A, with torch.nn.GRU's gates: the sums of the paper, one token after the other."""

    def __init__(self, source_vocab_size, vocab_size, source_length, context_length, d_model, dropout=0.0):
        super().__init__()
        d = d_model
        self.source_emb = nn.Embedding(source_vocab_size, d)
        self.encoder, self.encoder_reverse = GRU(d, d), GRU(d, d)
        self.tok_emb = nn.Embedding(vocab_size, d)
        self.W_initial = nn.Linear(d, d, bias=False)
        self.cross_att = GlobalAttention(d, d_context=2 * d)
        self.decoder = GRU(3 * d, d)
        self.W_hidden = nn.Linear(4 * d, 2 * d, bias=False)
        self.out_head = nn.Linear(d, vocab_size, bias=False)
        self.drop_emb = nn.Dropout(dropout)

    def forward(self, source_ids, ids, source_mask=None):
        if ids.dim() == 1:
            return self.forward(source_ids[None], ids[None], source_mask)[0]
        source = self.drop_emb(self.source_emb(source_ids))
        none = torch.zeros_like(source[:, 0])
        ahead = self.encoder.states(source, none, source_mask)
        back = self.encoder_reverse.states(source.flip(1), none, None if source_mask is None else source_mask.flip(1))
        h = torch.cat([ahead, back.flip(1)], -1)
        s, logits = torch.tanh(self.W_initial(back[:, -1])), []
        for y in self.drop_emb(self.tok_emb(ids)).unbind(1):
            c = self.cross_att(s[:, None], h, source_mask)[:, 0]
            hidden = self.W_hidden(torch.cat([s, y, c], -1))
            logits.append(self.out_head(hidden.unflatten(-1, (-1, 2)).max(-1).values))
            s = self.decoder.states(torch.cat([y, c], -1)[:, None], s)[:, 0]
        return torch.stack(logits, 1)


class LinearAttention(nn.Module):
    """Katharopoulos et al. 2020, equations (8) to (12): all weights phi(q) phi(k)^T at once, divided by their sums."""

    def __init__(self, d_in, d_out, num_heads, context_length=None, qkv_bias=False, out_proj=True, out_bias=True):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out, bias=out_bias) if out_proj else nn.Identity()

    def forward(self, x, mask=None):
        if x.dim() == 2:
            return self.forward(x[None], mask)[0]
        queries, keys, values = (w(x).unflatten(2, (self.num_heads, -1)).transpose(1, 2)
                                 for w in (self.W_query, self.W_key, self.W_value))  # (B, H, T, d)
        # elu(x) + 1; where x < 0 as e^x, because 1 + (e^x - 1) rounds
        queries, keys = (torch.where(a > 0, a + 1, torch.exp(a.clamp(max=0))) for a in (queries, keys))
        weights = (queries @ keys.transpose(2, 3)) * allowed_keys(mask, True, x.shape[1], x.device)
        total = weights.sum(-1, keepdim=True)
        context_vec = weights @ values / total.masked_fill(total == 0, 1.0)
        return self.out_proj(context_vec.transpose(1, 2).flatten(2))


class RwkvTimeMixing(nn.Module):
    """RWKV-4's time mixing, with the parameters of the published code; wkv by its formula, one token at a time."""

    def __init__(self, d_in, d_out, context_length=None):
        super().__init__()
        channel, x = torch.arange(d_out), torch.arange(d_in) / d_in
        decay = -5 + 8 * (channel / max(d_out - 1, 1)) ** 0.7
        self.time_decay = nn.Parameter(decay)
        self.time_first = nn.Parameter(math.log(0.3) + 0.5 * ((channel + 1) % 3 - 1))
        self.time_mix_k = nn.Parameter(x.clone()[None, None])
        self.time_mix_v = nn.Parameter(x.clone()[None, None])
        self.time_mix_r = nn.Parameter(x.sqrt()[None, None])
        self.key = nn.Linear(d_in, d_out, bias=False)
        self.value = nn.Linear(d_in, d_out, bias=False)
        self.receptance = nn.Linear(d_in, d_out, bias=False)
        self.output = nn.Linear(d_out, d_out, bias=False)

    def wkv(self, k, v):
        w, u = -torch.exp(self.time_decay), self.time_first
        out = []
        for t in range(k.shape[1]):
            distance = torch.arange(t - 1, -1, -1, dtype=k.dtype)[:, None]  # t - 1 - s for s < t
            exponents = torch.cat([distance * w + k[:, :t], u + k[:, t:t + 1]], 1)  # (B, t + 1, d)
            weights = torch.exp(exponents - exponents.amax(1, keepdim=True).detach())
            out.append((weights * v[:, :t + 1]).sum(1) / weights.sum(1))
        return torch.stack(out, 1)

    def forward(self, x, mask=None):
        if x.dim() == 2:
            return self.forward(x[None])[0]
        before = F.pad(x, (0, 0, 1, -1))  # the token before each, 0 before the first
        mixed = lambda mu: x * mu + before * (1 - mu)
        k, v = self.key(mixed(self.time_mix_k)), self.value(mixed(self.time_mix_v))
        return self.output(torch.sigmoid(self.receptance(mixed(self.time_mix_r))) * self.wkv(k, v))


class LatentAttention(Attention):
    """DeepSeek-V2's multi-head latent attention, equations (9) to (19), with the norms of the published code."""

    def __init__(self, d_in, d_out, context_length, num_heads, d_latent=None, d_query_latent=None, rope=True, d_rope=None,
                 rope_base=10000.0, dropout=0.0, out_bias=True):
        super().__init__()
        self.num_heads, head = num_heads, d_out // num_heads
        d_latent, d_query = d_latent or max(1, d_out // 4), d_query_latent or d_in
        d_rope = (d_rope or (head + 3) // 4 * 2) if rope else 0
        self.scale = (head + d_rope) ** -0.5
        self.angles = rotary_angles(context_length, d_rope, rope_base) if rope else None  # stays float64
        linear = lambda width, out: nn.Linear(width, out, bias=False)
        if d_query_latent:
            self.W_DQ = linear(d_in, d_query)
            self.q_norm = RMSNorm(d_query, 1e-6)
        self.up = "W_UQ" if d_query_latent else "W_query"
        setattr(self, self.up, linear(d_query, d_out))
        if rope:
            self.W_QR = linear(d_query, num_heads * d_rope)
        self.W_DKV = linear(d_in, d_latent)
        self.kv_norm = RMSNorm(d_latent, 1e-6)
        self.W_UK = linear(d_latent, d_out)
        self.W_UV = linear(d_latent, d_out)
        if rope:
            self.W_KR = linear(d_in, d_rope)
        self.out_proj = nn.Linear(d_out, d_out, bias=out_bias)
        self.dropout = nn.Dropout(dropout)

    def attention(self, x, mask):
        split = lambda a: a.unflatten(2, (self.num_heads, -1)).transpose(1, 2)  # (B, H, T, width)
        c_Q = self.q_norm(self.W_DQ(x)) if self.up == "W_UQ" else x
        c_KV = self.kv_norm(self.W_DKV(x))
        queries, keys, values = split(getattr(self, self.up)(c_Q)), split(self.W_UK(c_KV)), split(self.W_UV(c_KV))
        if self.angles is not None:
            shared = rotate(self.W_KR(x)[:, None], self.angles)  # one for all heads
            queries = torch.cat([queries, rotate(split(self.W_QR(c_Q)), self.angles)], dim=-1)
            keys = torch.cat([keys, shared.expand(-1, self.num_heads, -1, -1)], dim=-1)
        allowed = allowed_keys(mask, True, x.shape[1])
        context_vec, weights = attend(queries, keys, values, self.scale, allowed, self.dropout)
        return self.out_proj(context_vec.transpose(1, 2).flatten(2)), weights


class GatedDeltaNet(nn.Module):
    """Gated DeltaNet (Yang et al. 2024), with the parameters of the authors' code; equation (10) as it is printed."""

    def __init__(self, d_in, d_out, num_heads, context_length=None, kernel_size=4):
        super().__init__()
        self.heads, linear = num_heads, lambda out: nn.Linear(d_in, out, bias=False)
        self.q_proj, self.k_proj, self.v_proj = linear(d_out), linear(d_out), linear(d_out)
        self.a_proj, self.b_proj = linear(num_heads), linear(num_heads)
        self.A_log = nn.Parameter(torch.empty(num_heads).uniform_(0, 16).clamp(min=1e-6).log())
        step = torch.empty(num_heads).uniform_(math.log(0.001), math.log(0.1)).exp().clamp(min=1e-4)
        self.dt_bias = nn.Parameter(step + torch.log(-torch.expm1(-step)))
        for name in "qkv":
            conv = nn.Conv1d(d_out, d_out, kernel_size, groups=d_out, padding=kernel_size - 1, bias=False)
            setattr(self, name + "_conv1d", conv)
        self.g_proj = linear(d_out)
        self.o_norm = RMSNorm(d_out // num_heads)
        self.o_proj = nn.Linear(d_out, d_out, bias=False)

    def convolved(self, name, x):
        projected = getattr(self, name + "_proj")(x).transpose(1, 2)
        y = F.silu(getattr(self, name + "_conv1d")(projected)[:, :, : x.shape[1]])
        return y.transpose(1, 2).unflatten(2, (self.heads, -1))  # (B, T, H, d)

    def forward(self, x, mask=None):
        if x.dim() == 2:
            return self.forward(x[None])[0]
        unit = lambda a: a / torch.sqrt((a * a).sum(-1, keepdim=True) + 1e-6)
        q, k, v = unit(self.convolved("q", x)), unit(self.convolved("k", x)), self.convolved("v", x)
        width = q.shape[-1]
        alpha = torch.exp(-torch.exp(self.A_log) * F.softplus(self.a_proj(x) + self.dt_bias, threshold=1e9))
        beta = torch.sigmoid(self.b_proj(x))  # (B, T, H)
        state, rows = x.new_zeros(x.shape[0], self.heads, width, width), []
        for t in range(x.shape[1]):
            outer = lambda a, b: a[:, t, :, :, None] * b[:, t, :, None, :]  # (B, H, d, d)
            a, b = alpha[:, t, :, None, None], beta[:, t, :, None, None]
            state = state @ (a * (torch.eye(width, dtype=x.dtype) - b * outer(k, k))) + b * outer(v, k)
            rows.append((state @ q[:, t, :, :, None])[..., 0] * width**-0.5)
        o = self.o_norm(torch.stack(rows, 1)) * F.silu(self.g_proj(x)).unflatten(2, (self.heads, -1))
        return self.o_proj(o.flatten(2))


class Classifier(nn.Module):
    """ids (.., T) -> logits (.., num_classes), from the mean over the tokens or from the first one."""

    def __init__(self, vocab_size, num_classes, context_length, d_model, num_layers, num_heads=1, dropout=0.0,
                 qkv_bias=False, bias=True, norm="layer_norm", activation="gelu_tanh", position="learned", pool="mean",
                 hidden_multiplier=4, attention=None, norm_eps=1e-5, ff_width=None):
        super().__init__()
        attention = {"type": "multi_head_attention", "causal": False} if attention is None else attention
        block = (d_model, num_heads, context_length, dropout, qkv_bias, bias, norm, activation, hidden_multiplier,
                 attention, "feed_forward", norm_eps, ff_width)
        self.pool = pool
        self.tok_emb = nn.Embedding(vocab_size, d_model)
        self.pos_emb = nn.Identity() if position == "none" else Positional(context_length, d_model, position)
        self.drop_emb = nn.Dropout(dropout)
        self.trf_blocks = nn.ModuleList(TransformerBlock(*block) for _ in range(num_layers))
        self.final_norm = norm_layer(norm, d_model, bias, norm_eps)
        self.out_head = nn.Linear(d_model, num_classes, bias=bias)

    def forward(self, ids, mask=None):
        if ids.dim() == 1:
            return self.forward(ids[None], mask)[0]
        x = self.drop_emb(self.pos_emb(self.tok_emb(ids)))
        for block in self.trf_blocks:
            x = block(x, mask)
        x = self.final_norm(x)
        keep = None if mask is None or mask.dim() == 4 else mask
        return self.out_head(pooled(x, keep, self.pool))


class PatchEmbedding(nn.Conv2d):
    """x (.., channels, H, image_width) -> (.., N, d_model), class_token in front."""

    def __init__(self, patch_size, d_model, image_width, channels=1, class_token=False, bias=True):
        super().__init__(channels, d_model, patch_size, stride=patch_size, bias=bias)
        self.class_token = nn.Parameter(torch.empty(d_model).normal_(0, 0.02)) if class_token else None

    def forward(self, x, mask=None):
        y = super().forward(x).flatten(-2).transpose(-1, -2)
        if self.class_token is None:
            return y
        return torch.cat([self.class_token.expand(*y.shape[:-2], 1, -1), y], -2)


class Encoder(nn.Module):
    """ids, pictures or vectors -> logits of classes or of tokens, or the states."""

    def __init__(self, d_model, context_length, num_layers, vocab_size=0, num_classes=0, patch_size=0, image_height=0,
                 image_width=0, channels=1, class_token=False, num_heads=1, dropout=0.0, qkv_bias=False, bias=True,
                 norm="layer_norm", activation="gelu_tanh", position="learned", pool="mean", hidden_multiplier=4,
                 attention=None, norm_eps=1e-5, ff_width=None):
        super().__init__()
        attention = {"type": "multi_head_attention", "causal": False} if attention is None else attention
        block = (d_model, num_heads, context_length, dropout, qkv_bias, bias, norm, activation, hidden_multiplier,
                 attention, "feed_forward", norm_eps, ff_width)
        ids = vocab_size > 0 and patch_size == 0
        outputs = num_classes or (vocab_size if ids else 0)
        self.pool, self.classifies, self.rank = pool, num_classes > 0, 4 if patch_size else 2 if ids else 3
        self.tok_emb = nn.Embedding(vocab_size, d_model) if ids else nn.Identity()
        self.pos_emb = nn.Identity() if position == "none" else Positional(context_length, d_model, position)
        self.drop_emb = nn.Dropout(dropout)
        self.trf_blocks = nn.ModuleList(TransformerBlock(*block) for _ in range(num_layers))
        self.final_norm = norm_layer(norm, d_model, bias, norm_eps)
        self.patch_emb = (PatchEmbedding(patch_size, d_model, image_width, channels, class_token, bias) if patch_size
                          else nn.Identity())
        self.out_head = nn.Linear(d_model, outputs, bias=bias) if outputs else nn.Identity()

    def forward(self, x, mask=None):
        if x.dim() < self.rank:
            return self.forward(x[None], mask)[0]
        x = self.drop_emb(self.pos_emb(self.patch_emb(self.tok_emb(x))))
        for block in self.trf_blocks:
            x = block(x, mask)
        x = self.final_norm(x)
        keep = None if mask is None or mask.dim() == 4 else mask
        return self.out_head(pooled(x, keep, self.pool) if self.classifies else x)


class Linear(nn.Linear):
    def __init__(self, d_in, d_out, bias=True):
        super().__init__(d_in, d_out, bias=bias)


class Embedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)


class Dropout(nn.Dropout):
    def __init__(self, dropout):
        super().__init__(dropout)


class Sequential(nn.Sequential):
    """Paths are nn.Sequential's: 0.weight, 1.scale, ..."""

    def __init__(self, layers):
        super().__init__(*(build(layer) for layer in layers))


LAYERS = {
    "linear": Linear, "embedding": Embedding, "positional": Positional, "layer_norm": LayerNorm, "rms_norm": RMSNorm,
    "dropout": Dropout, "gelu_tanh": lambda: activation_layer("gelu_tanh"), "gelu": nn.GELU, "relu": nn.ReLU, "relu2": ReLU2,
    "silu": nn.SiLU, "simple_attention": SimpleAttention, "self_attention_v1": SelfAttention_v1,
    "self_attention_v2": SelfAttention_v2, "causal_attention": CausalAttention,
    "multi_head_attention_wrapper": MultiHeadAttentionWrapper, "multi_head_attention": MultiHeadAttention,
    "feed_forward": FeedForward, "gated_feed_forward": GatedFeedForward, "transformer_block": TransformerBlock, "gpt": GPT, "sequential": Sequential,
    "cross_attention": CrossAttention, "decoder_block": DecoderBlock, "encoder_decoder": EncoderDecoder,
    "classifier": Classifier, "encoder": Encoder, "gpt_classifier": GPTClassifier, "patch_embedding": PatchEmbedding, "rnn": RNN, "gru": GRU, "lstm": LSTM, "conv1d": Conv1d, "global_attention": GlobalAttention,
    "bahdanau": Bahdanau, "rnn_encoder_decoder": RnnEncoderDecoder, "linear_attention": LinearAttention, "rwkv_time_mixing": RwkvTimeMixing,
    "latent_attention": LatentAttention, "gated_delta_net": GatedDeltaNet, "mixture_of_experts": MixtureOfExperts,
}


def build(config: dict) -> nn.Module:
    """The module that a config's `model:` mapping describes, drawn from the default generator."""
    fields = dict(config)
    return LAYERS[fields.pop("type")](**fields)


def _equal(name, a, b, tolerance=1e-12):
    worst = (a - b).abs().max().item()
    print(f"  {name:58s} {worst:.1e}")
    assert worst <= tolerance, name


def check_decoder_block(x, context, mask):
    """Against torch.nn.MultiheadAttention and torch.nn.TransformerDecoderLayer, given the same weights."""
    block = build(dict(type="decoder_block", d_model=12, num_heads=3, context_length=7, qkv_bias=True, activation="gelu"))
    torchs = nn.TransformerDecoderLayer(12, 3, 48, 0.0, F.gelu, batch_first=True, norm_first=True)
    for ours, theirs in ((block.att, torchs.self_attn), (block.cross_att, torchs.multihead_attn)):
        for part in ("weight", "bias"):
            rows = [getattr(getattr(ours, name), part).data for name in ("W_query", "W_key", "W_value")]
            getattr(theirs, "in_proj_" + part).data.copy_(torch.cat(rows))
        theirs.out_proj.load_state_dict(ours.out_proj.state_dict())
    torchs.linear1.load_state_dict(block.ff.layers[0].state_dict())
    torchs.linear2.load_state_dict(block.ff.layers[2].state_dict())
    hidden = mask == 0
    theirs = torchs.multihead_attn(x, context, context, key_padding_mask=hidden, need_weights=False)[0]
    _equal("cross attention against torch.nn.MultiheadAttention", block.cross_att(x, context, mask), theirs)
    later = torch.ones(7, 7, dtype=torch.bool).triu(1)
    theirs = torchs(x, context, tgt_mask=later, memory_key_padding_mask=hidden)
    _equal("decoder block against torch.nn.TransformerDecoderLayer", block(x, context, mask), theirs)


def check_mixture_of_experts(x):
    """Against transformers' Mixtral, given the same weights."""
    from transformers import MixtralConfig
    from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock
    ours = build(dict(type="mixture_of_experts", d_model=12, num_experts=5, activation="swiglu", ff_width=7, bias=False))
    config = MixtralConfig(hidden_size=12, intermediate_size=7, num_local_experts=5, num_experts_per_tok=2)
    config._experts_implementation = "eager"
    theirs = MixtralSparseMoeBlock(config)
    theirs.gate.weight.data.copy_(ours.router.weight)
    for e, expert in enumerate(ours.experts):
        theirs.experts.gate_up_proj.data[e].copy_(torch.cat([expert.gate_proj.weight, expert.up_proj.weight]))
        theirs.experts.down_proj.data[e].copy_(expert.down_proj.weight)
    _equal("mixture of experts against transformers' Mixtral", ours(x), theirs(x), 1e-6)  # its softmax is in float32


def _self_check():
    torch.set_default_dtype(torch.float64)
    x = torch.randn(3, 7, 12)
    mha = build(dict(type="multi_head_attention", d_in=12, d_out=8, context_length=7, num_heads=4, qkv_bias=True,
                     out_proj=False))
    wrapper = build(dict(type="multi_head_attention_wrapper", d_in=12, d_out=2, context_length=7, num_heads=4,
                         qkv_bias=True))
    for h, head in enumerate(wrapper.heads):
        for name in ("W_query", "W_key", "W_value"):
            for part in ("weight", "bias"):
                rows = getattr(getattr(mha, name), part)[2 * h:2 * h + 2]
                getattr(getattr(head, name), part).data.copy_(rows)
    mask = torch.rand(3, 7) < 0.6
    _equal("weight split against wrapper, causal and padded", mha(x, mask), wrapper(x, mask))

    for bias in (False, True):
        torch.manual_seed(5)
        packed = build(dict(type="multi_head_attention", d_in=12, d_out=12, context_length=7, num_heads=3, causal=False,
                            qkv_bias=bias, out_bias=bias, packed=True))
        torch.manual_seed(5)
        torchs = nn.MultiheadAttention(12, 3, bias=bias, batch_first=True)
        assert list(packed.state_dict()) == list(torchs.state_dict()), list(packed.state_dict())
        assert all(torch.equal(a, b) for a, b in zip(packed.parameters(), torchs.parameters()))
        mask[:, 3] = True
        _equal(f"packed against torch.nn.MultiheadAttention, bias {bias}", packed(x, mask),
               torchs(x, x, x, key_padding_mask=~mask, need_weights=False)[0])

    check_mixture_of_experts(x)
    check_decoder_block(x, torch.randn(3, 5, 12), torch.tensor([[1, 1, 1, 0, 0], [1, 0, 1, 1, 1], [1, 1, 1, 1, 1]]))

    _equal("fused sdpa", attend(x, x, x, 12**-0.5, None, nn.Identity())[0], F.scaled_dot_product_attention(x, x, x))
    v1, v2 = SelfAttention_v1(12, 5), SelfAttention_v2(12, 5)
    for name in ("W_query", "W_key", "W_value"):
        getattr(v1, name).data.copy_(getattr(v2, name).weight.T)
    _equal("v1 with the transposed weights of v2", v1(x[0]), v2(x)[0])
    y = mha(x, torch.zeros(3, 7))
    y.sum().backward()
    assert not y.any() and not any(p.grad.any() for p in mha.parameters())
    table = sinusoids(9, 5)
    _equal("sinusoid at t 8, column 3", table[8, 3], torch.tensor(math.cos(8 / 10000 ** (2 / 5))))

    torch.set_default_dtype(torch.float32)
    counted = MultiHeadAttention(768, 768, 1024, 12)
    assert sum(p.numel() for p in counted.parameters()) == 2360064
    gpt = dict(type="gpt", vocab_size=11, context_length=6, d_model=8, num_heads=2, num_layers=2, dropout=0.1)
    for extra in ({}, {"tie_embeddings": True, "init": "gpt2", "bias": False},
                  {"attention": {"type": "simple_attention"}},
                  {"attention": {"type": "multi_head_attention_wrapper"}, "position": "sinusoidal", "norm": "rms_norm"}):
        logits = build({**gpt, **extra}).eval()(torch.tensor([1, 2, 3]))
        assert logits.shape == (3, 11) and logits.isfinite().all()
    print("torch_layers agree, PyTorch", torch.__version__)


if __name__ == "__main__":
    _self_check()
