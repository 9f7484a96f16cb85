"""Random configs of every layer with inputs and weights, and what PyTorch 2.13 makes of them.

Shared by forward_cases.py (against `heed forward`) and layer_golden.py (files for the tests). A case is a config
mapping, its inputs (x or ids, perhaps context or source_ids, a mask, dy) and its weights by parameter path, all but ids and mask in float64.
"""
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

import torch_layers

SIZES = (1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 127, 128, 129)
ACTIVATIONS = ("gelu_tanh", "gelu", "relu", "relu2", "silu")
NORMS = ("layer_norm", "rms_norm")
ATTENTION = ("simple_attention", "self_attention_v1", "self_attention_v2", "causal_attention",
             "multi_head_attention_wrapper", "multi_head_attention", "linear_attention", "latent_attention")
NO_QKV_BIAS = ("simple_attention", "self_attention_v1", "rwkv_time_mixing", "latent_attention")


@dataclass
class Case:
    config: dict
    inputs: dict[str, Tensor]
    weights: dict[str, Tensor]

    def outputs(self, dtype: torch.dtype) -> dict[str, Tensor]:
        """y, grad.x and grad.<path> of sum(y * dy), computed in `dtype`."""
        net = torch_layers.build(self.config).to(dtype).eval()
        for path, p in net.named_parameters():
            p.data.copy_(self.weights[path])
        y, leaves = self._forward(net, dtype)
        y.backward(self.inputs["dy"].to(dtype))
        out = {"y": y.detach()}
        for name, leaf in leaves.items():
            out["grad." + name] = leaf.grad
        for path, p in net.named_parameters():
            out["grad." + path] = torch.zeros_like(p) if p.grad is None else p.grad
        return out

    def _forward(self, net: nn.Module, dtype: torch.dtype):
        """y, and what of the inputs has gradients, by name."""
        leaves = {k: self.inputs[k].to(dtype, copy=True).requires_grad_() for k in ("x", "context") if k in self.inputs}
        ids = {k: self.inputs[k].long() for k in ("source_ids", "ids") if k in self.inputs}
        masks = [self.inputs[k] for k in ("mask", "source_mask") if k in self.inputs]
        return net(*leaves.values(), *ids.values(), *masks), leaves

    def near_kink(self) -> bool:
        """Whether rounding may choose another slope of a relu, or another expert of a token."""
        net, smallest = torch_layers.build(self.config).double().eval(), [1.0]
        for path, p in net.named_parameters():
            p.data.copy_(self.weights[path])
        for module in net.modules():
            if isinstance(module, nn.ReLU):
                module.register_forward_hook(lambda _, args, __: smallest.append(args[0].abs().min().item()))
            if isinstance(module, torch_layers.MixtureOfExperts) and len(module.experts) > module.top_k:
                gap = lambda p, k: (p[..., k - 1] - p[..., k]).min().item()
                module.router.register_forward_hook(lambda _, __, scores, k=module.top_k: smallest.append(
                    gap(scores.sort(dim=-1, descending=True).values, k)))
        self._forward(net, torch.float64)
        return min(smallest) < 2e-6


def make_case(config: dict, inputs: dict[str, Tensor], seed: int) -> Case:
    """Draws weights near those of the initialisation, but with no zeros and ones left, and the cotangent dy."""
    while True:
        torch.manual_seed(seed)
        net = torch_layers.build(config).double().eval()
        with torch.no_grad():
            for module in net.modules():
                for name, p in module.named_parameters(recurse=False):
                    if isinstance(module, torch_layers.SelfAttention_v1):
                        p.mul_(p.shape[0] ** -0.5)  # raw torch.rand weights make the scores too large to compare
                    p.add_(0.1 * torch.randn(p.shape, dtype=torch.float64))
        case = Case(config, dict(inputs), {k: p.detach().clone() for k, p in net.named_parameters()})
        with torch.no_grad():
            y, _ = case._forward(net, torch.float64)
        case.inputs["dy"] = torch.randn(y.shape, dtype=torch.float64)
        if not case.near_kink():
            return case
        seed += 1_000_003


def float_input(rng: random.Random, *shape: int, scale: float = 1.0) -> Tensor:
    """Float64 as a rule; now and then a narrower type, which both sides widen."""
    g = torch.Generator().manual_seed(rng.randrange(1 << 31))
    x = torch.randn(shape, dtype=torch.float64, generator=g) * scale
    return x.to(rng.choice((torch.float64,) * 6 + (torch.float32, torch.float16, torch.bfloat16)))


def padding_mask(rng: random.Random, batch: int, keys: int, queries: int | None) -> Tensor:
    """(B, S) or, with queries, perhaps (B, 1, T, S), bool or bytes; some rows may attend to nothing."""
    g = torch.Generator().manual_seed(rng.randrange(1 << 31))
    shape = rng.choice(((batch, keys), (batch, 1, queries, keys))) if queries else (batch, keys)
    keep = torch.rand(shape, generator=g) < rng.choice((0.1, 0.5, 0.8))
    return keep if rng.random() < 0.5 else keep.to(torch.uint8)


def draw_attention(rng: random.Random, kind: str, d_in: int, context: int) -> dict:
    config = {"type": kind}
    if kind == "simple_attention":
        return config
    d_out = rng.choice(SIZES)
    heads = rng.randint(1, 6)
    if kind == "multi_head_attention":
        d_out = heads * rng.choice((1, 2, 3, 4, 5, 7, 8, 16, 17, 20, 21))
        packed = rng.random() < 0.4
        d_in = d_out if packed else d_in
        config |= {"packed": packed, "causal": rng.random() < 0.5, "out_bias": rng.random() < 0.5,
                   "out_proj": packed or rng.random() < 0.7, "rope": d_out // heads % 2 == 0 and rng.random() < 0.4}
        if config["rope"] and rng.random() < 0.4:
            config["rotary_fraction"] = rng.choice(range(2, d_out // heads + 1, 2)) / (d_out // heads)
        if rng.random() < 0.3:
            config["scale"] = rng.choice((0, 0.05, 1))
        if rng.random() < 0.3:
            config["soft_cap"] = rng.choice((0.5, 5, 50))
        if config["out_proj"] and not packed and rng.random() < 0.3:
            config["head_dim"] = 2 * rng.randint(1, 9)
            config.pop("rotary_fraction", None)
        if config["causal"] and context > 1 and rng.random() < 0.5:
            config |= {"window": rng.randint(1, context - 1), "sinks": rng.choice((0, 0, 1, 5))}
        if config["causal"] and not config["rope"] and rng.random() < 0.4:
            config["alibi"] = True
        if not packed:
            config["qk_norm"] = rng.choice(("none", "none", "rms_norm", "layer_norm"))
        if not packed and rng.random() < 0.4:
            config["num_kv_heads"] = rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
    if kind == "latent_attention":
        d_out = heads * rng.choice((1, 2, 3, 4, 5, 7, 8, 16, 17, 20, 21))
        config |= {"num_heads": heads, "context_length": context, "out_bias": rng.random() < 0.5, "rope": rng.random() < 0.7,
                   "d_latent": rng.choice(SIZES[1:12]), "dropout": rng.choice((0.0, 0.1))}
        if rng.random() < 0.5:
            config["d_query_latent"] = rng.choice(SIZES[1:12])
        if config["rope"] and rng.random() < 0.7:
            config["d_rope"] = rng.choice((2, 4, 6, 16, 18))
    if kind == "linear_attention":
        d_out = heads * rng.choice((1, 2, 3, 4, 5, 7, 8, 16, 17, 20, 21))
        config |= {"num_heads": heads, "out_proj": rng.random() < 0.7, "out_bias": rng.random() < 0.5}
    if not config.get("out_proj", True):
        config["out_bias"] = False  # there is none in either
    config |= {"d_in": d_in, "d_out": d_out}
    if kind not in NO_QKV_BIAS:
        config["qkv_bias"] = rng.random() < 0.5
    if kind in ("causal_attention", "multi_head_attention_wrapper", "multi_head_attention"):
        config |= {"context_length": context, "dropout": rng.choice((0.0, 0.1))}
    if kind.startswith("multi_head"):
        config["num_heads"] = heads
    return config


def draw_model(rng: random.Random, kind: str, context: int) -> dict:
    """A transformer_block, a gpt or a classifier."""
    heads = rng.randint(1, 4)
    config = {"type": kind, "d_model": heads * rng.choice((1, 2, 4, 8, 9, 16)), "num_heads": heads,
              "context_length": context, "dropout": rng.choice((0.0, 0.1)), "qkv_bias": rng.random() < 0.5,
              "bias": rng.random() < 0.5, "norm": rng.choice(NORMS), "activation": rng.choice(ACTIVATIONS + ("swiglu",))}
    if rng.random() < 0.5:
        config |= {"hidden_multiplier": rng.randint(1, 4)}
    else:
        config |= {"ff_width": rng.randint(1, 40), "norm_eps": rng.choice((1e-6, 1e-3))}
    if kind in ("transformer_block", "gpt"):
        config["parallel_residual"] = rng.random() < 0.3
    if rng.random() < 0.5:
        inner = {"type": rng.choice(ATTENTION + ("linear_attention", "rwkv_time_mixing"))}
        if inner["type"] == "multi_head_attention":
            inner |= {"packed": rng.random() < 0.5, "causal": rng.random() < 0.5, "out_bias": rng.random() < 0.5}
        if inner["type"] not in NO_QKV_BIAS:
            inner["qkv_bias"] = rng.random() < 0.5
        config["attention"] = inner
    if kind == "gpt" and "attention" not in config and rng.random() < 0.4:
        config["num_kv_heads"] = rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
    rope = kind == "gpt" and "attention" not in config and config["d_model"] // heads % 2 == 0
    if kind == "gpt":
        config |= {"vocab_size": rng.choice(SIZES), "num_layers": rng.randint(1, 3),
                   "tie_embeddings": rng.random() < 0.5, "position": rng.choice(("learned", "sinusoidal", "rope")[: 3 if rope else 2]),
                   "init": rng.choice(("torch", "gpt2"))}
    if kind == "classifier":
        config |= {"vocab_size": rng.choice(SIZES), "num_classes": rng.choice(SIZES), "num_layers": rng.randint(0, 3),
                   "position": rng.choice(("learned", "sinusoidal", "none")), "pool": rng.choice(("mean", "first"))}
    return config


def draw_sequential(rng: random.Random, context: int) -> tuple[dict, int, int]:
    """The config, its vocabulary (0 when it takes vectors) and the width of its input."""
    d, wide, act = rng.choice(SIZES[1:16]), rng.choice(SIZES[:16]), rng.choice(ACTIVATIONS)
    linear = [{"type": "linear", "d_in": d, "d_out": wide}, {"type": act}, {"type": "linear", "d_in": wide, "d_out": d}]
    attend = [{"type": "layer_norm", "d_model": d}, {"type": "causal_attention", "d_in": d, "d_out": wide,
              "context_length": context}, {"type": "rms_norm", "d_model": wide}]
    embed = [{"type": "embedding", "vocab_size": wide, "d_model": d},
             {"type": "positional", "context_length": context, "d_model": d}]
    layers, vocab = rng.choice(((linear, 0), (attend, 0), (linear + attend, 0), (embed + linear, wide)))
    return {"type": "sequential", "layers": layers}, vocab, d


def draw_simple(rng: random.Random, kind: str, context: int) -> tuple[dict, int, int]:
    d, bias = rng.choice(SIZES), rng.random() < 0.5
    return {
        "linear": ({"type": kind, "d_in": d, "d_out": rng.choice(SIZES), "bias": bias}, 0, d),
        "embedding": ({"type": kind, "vocab_size": rng.choice(SIZES), "d_model": d}, -1, d),
        "positional": ({"type": kind, "context_length": context, "d_model": d,
                        "position": rng.choice(("learned", "sinusoidal"))}, 0, d),
        "layer_norm": ({"type": kind, "d_model": d, "bias": bias}, 0, d),
        "rnn": ({"type": kind, "d_in": d, "d_out": rng.choice(SIZES), "bias": bias}, 0, d),
        "rwkv_time_mixing": ({"type": kind, "d_in": d, "d_out": rng.choice(SIZES)}, 0, d),
        "gated_delta_net": ({"type": kind, "d_in": d, "d_out": 12, "num_heads": rng.choice((1, 2, 4)),
                             "kernel_size": rng.randint(1, 5)}, 0, d),
        "gru": ({"type": kind, "d_in": d, "d_out": rng.choice(SIZES), "bias": bias}, 0, d),
        "lstm": ({"type": kind, "d_in": d, "d_out": rng.choice(SIZES), "bias": bias}, 0, d),
        "conv1d": ({"type": kind, "d_in": d, "d_out": rng.choice(SIZES), "kernel_size": rng.choice((1, 3, 5, 9)),
                    "causal": rng.random() < 0.5, "bias": bias}, 0, d),
        "rms_norm": ({"type": kind, "d_model": d}, 0, d),
        "dropout": ({"type": kind, "dropout": 0.3}, 0, d),
        "feed_forward": ({"type": kind, "d_model": min(d, 65), "bias": bias, "hidden_multiplier": rng.randint(1, 4),
                          "activation": rng.choice(ACTIVATIONS)}, 0, min(d, 65)),
        "gated_feed_forward": ({"type": kind, "d_model": min(d, 65), "bias": bias, "ff_width": rng.randint(1, 90)},
                               0, min(d, 65)),
        "mixture_of_experts": ({"type": kind, "d_model": min(d, 65), "bias": bias, "ff_width": rng.randint(1, 40),
                                "num_experts": rng.randint(3, 9), "top_k": rng.randint(1, 3),
                                "activation": rng.choice((*ACTIVATIONS, "swiglu"))}, 0, min(d, 65)),
    }.get(kind, ({"type": kind}, 0, d))


def draw_context_case(rng: random.Random, kind: str) -> Case:
    """Layers that read from a second sequence, of S tokens."""
    batch, tokens, source = rng.randint(1, 4), rng.choice(SIZES[:16]), rng.choice(SIZES[:16])
    if kind == "cross_attention":
        heads = rng.randint(1, 4)
        config = {"type": kind, "d_in": rng.choice(SIZES), "d_out": heads * rng.choice((1, 2, 3, 5, 8, 16, 21)),
                  "num_heads": heads, "dropout": rng.choice((0.0, 0.1)), "qkv_bias": rng.random() < 0.5,
                  "out_proj": rng.random() < 0.7, "out_bias": rng.random() < 0.5}
        if rng.random() < 0.7:
            config["d_context"] = rng.choice(SIZES)
    elif kind == "global_attention":
        config = {"type": kind, "d_in": rng.choice(SIZES), "score": rng.choice(("additive", "dot"))}
    elif kind == "rnn_encoder_decoder":
        config = {"type": kind, "d_model": rng.choice(SIZES), "context_length": tokens + rng.choice((0, 0, 1, 7)),
                  "cell": rng.choice(("gru", "rnn", "lstm")), "attention": rng.choice(("none", "additive", "dot")),
                  "dropout": rng.choice((0.0, 0.1))}
        if rng.random() < 0.3:
            config["encoder_kernel_size"] = rng.choice((1, 3, 5))
    elif kind == "bahdanau":
        config = {"type": kind, "d_model": rng.choice(SIZES[:16]), "context_length": tokens + rng.choice((0, 0, 1, 7)),
                  "dropout": rng.choice((0.0, 0.1))}
    else:
        config = draw_model(rng, "transformer_block", tokens + rng.choice((0, 0, 1, 7)))
        for field in ("attention", "parallel_residual"):
            config.pop(field, None)
        config["type"] = kind
    single = rng.random() < 0.3
    lead = () if single else (batch,)
    inputs = {}
    reads_ids = kind.endswith("encoder_decoder") or kind == "bahdanau"
    if reads_ids:
        config |= {"source_vocab_size": rng.choice(SIZES), "vocab_size": rng.choice(SIZES),
                   "source_length": source + rng.choice((0, 1, 7))}
        if kind == "encoder_decoder":
            config |= {"num_layers": rng.randint(1, 3), "position": rng.choice(("learned", "sinusoidal")),
                       "context": rng.choice(("attention", "mean"))}
        for name, vocab, length in (("source_ids", "source_vocab_size", source), ("ids", "vocab_size", tokens)):
            g = torch.Generator().manual_seed(rng.randrange(1 << 31))
            inputs[name] = torch.randint(config[vocab], (*lead, length), generator=g)
    else:
        inputs["x"] = float_input(rng, *lead, tokens, config.get("d_in", config.get("d_model")))
        width = config.get("d_context", config.get("d_in", config.get("d_model")))
        inputs["context"] = float_input(rng, *lead, source, width)
    if not single and rng.random() < 0.6:
        name = "source_mask" if reads_ids else "mask"
        inputs[name] = padding_mask(rng, batch, source, queries=None if name == "source_mask" else tokens)
    return make_case(config, inputs, rng.randrange(1 << 31))


def draw_encoder_case(rng: random.Random, kind: str) -> Case:
    """A patch_embedding or an encoder, of pictures, ids or vectors."""
    patch, rows, columns, channels = rng.choice((1, 2, 3, 4, 7)), rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 3)
    lead = () if rng.random() < 0.3 else (rng.randint(1, 4),)
    reads = "pictures" if kind == "patch_embedding" else rng.choice(("pictures", "ids", "vectors"))
    token, tokens = rng.random() < 0.5, rows * columns
    pictures = {"patch_size": patch, "image_width": columns * patch, "channels": channels, "class_token": token}
    if kind == "patch_embedding":
        config = {"type": kind, "d_model": rng.choice(SIZES[:12]), "bias": rng.random() < 0.5, **pictures}
    else:
        config = draw_model(rng, kind, tokens + token)
        config |= {"num_layers": rng.randint(0, 3), "position": rng.choice(("learned", "sinusoidal", "none"))}
        if reads == "pictures":
            config |= {**pictures, "image_height": rows * patch}
        if reads == "ids":
            config["vocab_size"] = rng.choice(SIZES)
        if rng.random() < 0.6:
            config |= {"num_classes": rng.choice(SIZES), "pool": rng.choice(("mean", "first", "last"))}
    inputs = {}
    if reads == "pictures":
        inputs["x"] = float_input(rng, *lead, channels, rows * patch, columns * patch)
    elif reads == "vectors":
        inputs["x"] = float_input(rng, *lead, tokens, config["d_model"])
    else:
        inputs["ids"] = torch.randint(config["vocab_size"], (*lead, tokens),
                                      generator=torch.Generator().manual_seed(rng.randrange(1 << 31)))
    if reads != "pictures" and lead and rng.random() < 0.5:
        inputs["mask"] = padding_mask(rng, lead[0], tokens, queries=tokens)
    return make_case(config, inputs, rng.randrange(1 << 31))


def draw_case(rng: random.Random, kind: str) -> Case:
    if kind in ("encoder", "patch_embedding"):
        return draw_encoder_case(rng, kind)
    if kind in ("cross_attention", "decoder_block", "encoder_decoder", "global_attention", "rnn_encoder_decoder", "bahdanau"):
        return draw_context_case(rng, kind)
    batch, tokens = rng.randint(1, 4), rng.choice(SIZES)
    context = tokens + rng.choice((0, 0, 1, 7))
    attends, vocab = kind in ATTENTION, 0
    if kind in ATTENTION:
        d = rng.choice(SIZES)
        config = draw_attention(rng, kind, d, context)
        d = config.get("d_in", d)
    elif kind in ("transformer_block", "gpt", "classifier"):
        config = draw_model(rng, kind, context)
        attends = kind == "classifier" or config.get("attention", {}).get("type") != "rwkv_time_mixing"
        d, vocab = config["d_model"], config.get("vocab_size", 0)
    else:
        config, vocab, d = draw_sequential(rng, context) if kind == "sequential" else draw_simple(rng, kind, context)
        vocab = config["vocab_size"] if vocab == -1 else vocab
    lead = (tokens,) if rng.random() < 0.3 else (batch, tokens)
    inputs = {}
    if vocab:
        g = torch.Generator().manual_seed(rng.randrange(1 << 31))
        ids = torch.randint(vocab, lead, generator=g)
        inputs["ids"] = ids if rng.random() < 0.5 else ids.to(torch.int32)
    else:
        scores_are_squares = "simple_attention" in (kind, config.get("attention", {}).get("type"))
        scale = d**-0.25 if scores_are_squares else rng.choice((0.3, 1.0, 1.0, 3.0))
        inputs["x"] = float_input(rng, *lead, d, scale=scale)
    if attends and len(lead) == 2 and rng.random() < 0.5:
        inputs["mask"] = padding_mask(rng, batch, tokens, queries=tokens)
    return make_case(config, inputs, rng.randrange(1 << 31))


# Attention and whole models are drawn more often than the simple layers.
KINDS = (tuple(torch_layers.LAYERS) + ATTENTION[2:] + ("multi_head_attention",) * 4 + ("transformer_block", "gpt") * 4
         + ("rwkv_time_mixing",))


def draw_cases(seed: int, count: int, kinds: Sequence[str] = KINDS):
    """Every one of these layers at least once (when count allows), then at random."""
    rng = random.Random(seed)
    for i in range(count):
        yield draw_case(rng, kinds[i] if i < len(kinds) else rng.choice(kinds))
