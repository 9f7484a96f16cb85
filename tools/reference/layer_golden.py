"""Writes tests/golden/layers/<name>.safetensors: small cases of every layer and option, made with PyTorch 2.13.

    python tools/reference/layer_golden.py [--out tests/golden/layers]

One file a case. The metadata holds "config": YAML text with a `model:`, its first line a comment with the versions (one
key alone, because safetensors writes several in an order of its own, and the files must come out the same each time).
Tensors: x (F64) or ids (I64); context or source_ids where the layer takes one; mask or source_mask (BOOL) where there
is one; dy; param.<path>; y; grad.x, grad.context (not for ids); grad.<path>. All but ids and masks are float64 and were computed in float64; gradients are those of sum(y * dy).
"""
import argparse
import pathlib

import torch
import yaml
from safetensors.torch import save_file

from layer_cases import make_case

B, T, S, D, V = 2, 5, 4, 6, 7  # batch, tokens, tokens of a context, width, vocabulary
ATT = {"d_in": D, "d_out": 4}
LONG = {**ATT, "context_length": T + 1}
MHA = {"type": "multi_head_attention", **LONG, "num_heads": 2}
PACKED = {**MHA, "d_out": D, "num_heads": 3, "packed": True}
BLOCK = {"type": "transformer_block", "d_model": D, "num_heads": 2, "context_length": T + 1}
GPT = {**BLOCK, "type": "gpt", "vocab_size": V, "num_layers": 2, "dropout": 0.1}
CROSS = {"type": "cross_attention", "d_in": D, "d_out": 4, "num_heads": 2}
TRANSLATE = {"type": "encoder_decoder", "source_vocab_size": 9, "vocab_size": V, "source_length": S + 1,
             "context_length": T + 1, "d_model": D, "num_heads": 2, "num_layers": 2, "dropout": 0.1}
CLASSIFY = {"type": "classifier", "vocab_size": V, "num_classes": 3, "context_length": T + 1, "d_model": D,
            "num_heads": 2, "num_layers": 2}
TRANSLATE_RNN = {"type": "rnn_encoder_decoder", "source_vocab_size": 9, "vocab_size": V, "source_length": S + 1,
                 "context_length": T + 1, "d_model": D, "dropout": 0.1}
NANO = {**GPT, "bias": False, "tie_embeddings": True, "init": "gpt2", "activation": "gelu"}

# name: (config, inputs beyond plain x or ids)
CASES = {
    "linear": ({"type": "linear", "d_in": D, "d_out": 3}, ""),
    "linear_no_bias": ({"type": "linear", "d_in": D, "d_out": 3, "bias": False}, "unbatched"),
    "embedding": ({"type": "embedding", "vocab_size": V, "d_model": D}, "ids"),
    "positional_learned": ({"type": "positional", "context_length": T + 2, "d_model": D}, ""),
    "positional_sinusoidal": ({"type": "positional", "context_length": T, "d_model": 7, "position": "sinusoidal"}, ""),
    "layer_norm": ({"type": "layer_norm", "d_model": D}, ""),
    "layer_norm_no_bias": ({"type": "layer_norm", "d_model": D, "bias": False}, ""),
    "layer_norm_width_1": ({"type": "layer_norm", "d_model": 1}, ""),
    "rms_norm": ({"type": "rms_norm", "d_model": D}, ""),
    "dropout_in_evaluation": ({"type": "dropout", "dropout": 0.5}, ""),
    "gelu": ({"type": "gelu"}, ""),
    "gelu_tanh": ({"type": "gelu_tanh"}, ""),
    "relu": ({"type": "relu"}, ""),
    "silu": ({"type": "silu"}, ""),
    "feed_forward": ({"type": "feed_forward", "d_model": D}, ""),
    "feed_forward_options": ({"type": "feed_forward", "d_model": D, "hidden_multiplier": 2, "activation": "silu",
                              "bias": False}, "unbatched"),
    "simple_attention": ({"type": "simple_attention"}, ""),
    "simple_attention_mask": ({"type": "simple_attention"}, "keys"),
    "self_attention_v1": ({"type": "self_attention_v1", **ATT}, "unbatched"),
    "self_attention_v1_mask": ({"type": "self_attention_v1", **ATT}, "full"),
    "self_attention_v2": ({"type": "self_attention_v2", **ATT}, ""),
    "self_attention_v2_bias_mask": ({"type": "self_attention_v2", **ATT, "qkv_bias": True}, "keys"),
    "causal_attention": ({"type": "causal_attention", **LONG}, ""),
    "causal_attention_bias_mask": ({"type": "causal_attention", **LONG, "qkv_bias": True, "dropout": 0.1}, "keys"),
    "wrapper": ({"type": "multi_head_attention_wrapper", **LONG, "num_heads": 2}, ""),
    "wrapper_bias_mask": ({"type": "multi_head_attention_wrapper", **LONG, "num_heads": 3, "qkv_bias": True}, "full"),
    "multi_head": (MHA, ""),
    "multi_head_unbatched": (MHA, "unbatched"),
    "multi_head_mask_keys": ({**MHA, "qkv_bias": True}, "keys"),
    "multi_head_mask_full": (MHA, "full"),
    "multi_head_not_causal": ({**MHA, "causal": False}, "keys"),
    "multi_head_no_out_proj": ({**MHA, "out_proj": False}, ""),
    "multi_head_no_out_bias": ({**MHA, "out_bias": False}, ""),
    "packed": (PACKED, ""),
    "packed_bias_not_causal": ({**PACKED, "qkv_bias": True, "causal": False}, "keys"),
    "packed_no_bias": ({**PACKED, "out_bias": False}, "full"),
    "block": (BLOCK, ""),
    "block_options": ({**BLOCK, "qkv_bias": True, "bias": False, "norm": "rms_norm", "activation": "relu",
                       "hidden_multiplier": 2}, "keys"),
    "block_wrapper": ({**BLOCK, "attention": {"type": "multi_head_attention_wrapper"}}, ""),
    "block_simple": ({**BLOCK, "attention": {"type": "simple_attention"}}, "unbatched"),
    "gpt": (GPT, "ids"),
    "gpt_nano": (NANO, "ids"),
    "gpt_mask": ({**GPT, "qkv_bias": True, "norm": "rms_norm", "activation": "silu"}, "ids keys"),
    "gpt_sinusoidal_tied": ({**GPT, "position": "sinusoidal", "tie_embeddings": True, "num_layers": 1}, "ids"),
    "gpt_packed": ({**GPT, "attention": {"type": "multi_head_attention", "packed": True}}, "ids"),
    "gpt_v1": ({**GPT, "num_layers": 1, "attention": {"type": "self_attention_v1"}}, "ids unbatched"),
    "gpt_v2": ({**GPT, "num_layers": 1, "attention": {"type": "self_attention_v2"}}, "ids"),
    "gpt_causal_attention": ({**GPT, "num_layers": 1, "attention": {"type": "causal_attention"}}, "ids"),
    "sequential": ({"type": "sequential", "layers": [{"type": "linear", "d_in": D, "d_out": 4}, {"type": "gelu"},
                    {"type": "linear", "d_in": 4, "d_out": D}, {"type": "layer_norm", "d_model": D}]}, ""),
    "sequential_ids": ({"type": "sequential", "layers": [
        {"type": "embedding", "vocab_size": V, "d_model": D}, {"type": "positional", "context_length": T, "d_model": D},
        BLOCK, {"type": "linear", "d_in": D, "d_out": V}]}, "ids"),
    "cross_attention": (CROSS, "context"),
    "cross_attention_options": ({**CROSS, "d_context": 3, "qkv_bias": True, "out_bias": False}, "context keys"),
    "cross_attention_mask_full": ({**CROSS, "d_out": 6, "out_proj": False}, "context full"),
    "cross_attention_unbatched": (CROSS, "context unbatched"),
    "decoder_block": ({**BLOCK, "type": "decoder_block"}, "context keys"),
    "decoder_block_options": ({**BLOCK, "type": "decoder_block", "qkv_bias": True, "bias": False, "norm": "rms_norm",
                               "activation": "relu", "hidden_multiplier": 2}, "context"),
    "encoder_decoder": (TRANSLATE, "source keys"),
    "encoder_decoder_unbatched": ({**TRANSLATE, "num_layers": 1, "qkv_bias": True}, "source unbatched"),
    "encoder_decoder_mean": ({**TRANSLATE, "context": "mean", "position": "sinusoidal", "norm": "rms_norm"},
                             "source keys"),
    "classifier": (CLASSIFY, "ids keys"),
    "classifier_first": ({**CLASSIFY, "pool": "first", "qkv_bias": True, "norm": "rms_norm"}, "ids full"),
    "classifier_bag_of_words": ({**CLASSIFY, "num_layers": 0, "position": "none"}, "ids keys"),
    "classifier_unbatched": ({**CLASSIFY, "num_layers": 1, "bias": False,
                              "attention": {"type": "self_attention_v2"}}, "ids unbatched"),
    "multi_head_rope": ({**MHA, "d_out": 8, "rope": True, "rope_base": 100.0}, "keys"),
    "multi_head_grouped": ({**MHA, "d_out": 12, "num_heads": 6, "num_kv_heads": 2, "qkv_bias": True}, "full"),
    "multi_head_one_kv_head": ({**MHA, "d_out": 8, "num_heads": 4, "num_kv_heads": 1, "causal": False}, "unbatched"),
    "packed_rope": ({**PACKED, "rope": True}, ""),
    "gpt_rope_grouped": ({**NANO, "d_model": 8, "num_heads": 4, "position": "rope", "num_kv_heads": 2,
                          "norm": "rms_norm", "activation": "silu"}, "ids keys"),
    "rnn": ({"type": "rnn", **ATT}, ""),
    "rnn_no_bias": ({"type": "rnn", **ATT, "bias": False}, "unbatched"),
    "gru": ({"type": "gru", **ATT}, ""),
    "gru_no_bias": ({"type": "gru", **ATT, "bias": False}, "unbatched"),
    "global_attention": ({"type": "global_attention", "d_in": D}, "context keys"),
    "global_attention_dot": ({"type": "global_attention", "d_in": D, "score": "dot"}, "context full"),
    "global_attention_unbatched": ({"type": "global_attention", "d_in": D}, "context unbatched"),
    "rnn_encoder_decoder": (TRANSLATE_RNN, "source keys"),
    "rnn_encoder_decoder_rnn": ({**TRANSLATE_RNN, "cell": "rnn"}, "source unbatched"),
    "rnn_encoder_decoder_additive": ({**TRANSLATE_RNN, "attention": "additive"}, "source keys"),
    "rnn_encoder_decoder_dot": ({**TRANSLATE_RNN, "cell": "rnn", "attention": "dot"}, "source keys"),
    "linear_attention": ({"type": "linear_attention", **ATT, "num_heads": 2}, ""),
    "linear_attention_mask_keys": ({"type": "linear_attention", **ATT, "num_heads": 1, "qkv_bias": True}, "keys"),
    "linear_attention_mask_full": ({"type": "linear_attention", **ATT, "num_heads": 2, "out_bias": False}, "full"),
    "linear_attention_no_out_proj": ({"type": "linear_attention", **ATT, "num_heads": 4, "out_proj": False},
                                     "unbatched"),
    "rwkv_time_mixing": ({"type": "rwkv_time_mixing", **ATT}, ""),
    "rwkv_time_mixing_unbatched": ({"type": "rwkv_time_mixing", "d_in": 3, "d_out": D}, "unbatched"),
    "gpt_linear_attention": ({**GPT, "num_layers": 1, "attention": {"type": "linear_attention"}}, "ids keys"),
    "gpt_rwkv_time_mixing": ({**NANO, "attention": {"type": "rwkv_time_mixing"}}, "ids"),
    "feed_forward_swiglu": ({"type": "feed_forward", "d_model": D, "ff_width": 5, "activation": "swiglu"}, ""),
    "gated_feed_forward": ({"type": "gated_feed_forward", "d_model": D, "ff_width": 7, "bias": False}, "unbatched"),
    "gpt_llama": ({**GPT, "d_model": 8, "num_heads": 4, "position": "rope", "num_kv_heads": 2, "norm": "rms_norm",
                   "norm_eps": 1e-2, "activation": "swiglu", "ff_width": 5, "rope_base": 100.0, "bias": False},
                  "ids keys"),
    "gpt_norm_eps": ({**GPT, "num_layers": 1, "norm_eps": 1e-2, "ff_width": 5, "activation": "silu"}, "ids"),
    "classifier_last": ({**CLASSIFY, "pool": "last"}, "ids keys"),
    "gpt_classifier": ({**GPT, "type": "gpt_classifier", "num_classes": 3}, "ids keys"),
    "gpt_classifier_mean": ({**GPT, "type": "gpt_classifier", "num_classes": 2, "pool": "mean"}, "ids keys"),
    "gpt_classifier_first": ({**GPT, "type": "gpt_classifier", "num_classes": 2, "pool": "first", "d_model": 8,
                              "num_heads": 4, "position": "rope", "num_kv_heads": 2, "norm": "rms_norm",
                              "activation": "swiglu", "ff_width": 5, "bias": False}, "ids keys"),
    "gpt_classifier_unbatched": ({**GPT, "type": "gpt_classifier", "num_classes": 3, "qkv_bias": True},
                                 "ids unbatched"),
    "lstm": ({"type": "lstm", **ATT}, ""),
    "lstm_no_bias": ({"type": "lstm", **ATT, "bias": False}, "unbatched"),
    "conv1d": ({"type": "conv1d", **ATT}, ""),
    "conv1d_both_sides": ({"type": "conv1d", **ATT, "kernel_size": 5, "causal": False, "bias": False}, "unbatched"),
    "conv1d_even": ({"type": "conv1d", **ATT, "kernel_size": 4}, ""),
    "gpt_lstm": ({**GPT, "attention": {"type": "lstm"}}, "ids"),
    "gpt_conv1d": ({**GPT, "attention": {"type": "conv1d", "kernel_size": 2}}, "ids"),
    "rnn_encoder_decoder_lstm": ({**TRANSLATE_RNN, "cell": "lstm", "attention": "additive"}, "source keys"),
    "rnn_encoder_decoder_lstm_none": ({**TRANSLATE_RNN, "cell": "lstm"}, "source unbatched"),
    "rnn_encoder_decoder_conv1d": ({**TRANSLATE_RNN, "encoder_kernel_size": 3, "attention": "dot"}, "source keys"),
    "rnn_encoder_decoder_conv1d_lstm": ({**TRANSLATE_RNN, "encoder_kernel_size": 5, "cell": "lstm"}, "source keys"),
    "global_attention_wide": ({"type": "global_attention", "d_in": D, "d_context": 5}, "context keys"),
    "bahdanau": ({**TRANSLATE_RNN, "type": "bahdanau"}, "source keys"),
    "bahdanau_unbatched": ({**TRANSLATE_RNN, "type": "bahdanau"}, "source unbatched"),
    "simple_attention_sum": ({"type": "simple_attention", "attention_weights": "sum"}, "alike"),
    "simple_attention_none": ({"type": "simple_attention", "attention_weights": "none"}, "keys"),
    "self_attention_v1_sum": ({"type": "self_attention_v1", **ATT, "attention_weights": "sum"}, "full alike"),
    "self_attention_v2_sum": ({"type": "self_attention_v2", **ATT, "attention_weights": "sum"}, "keys alike"),
    "self_attention_v2_none": ({"type": "self_attention_v2", **ATT, "attention_weights": "none"}, "unbatched"),
    "multi_head_sum": ({**MHA, "attention_weights": "sum"}, "full alike"),
    "multi_head_none": ({**MHA, "d_out": 8, "num_heads": 4, "num_kv_heads": 2, "attention_weights": "none"}, "keys"),
    "packed_sum": ({**PACKED, "attention_weights": "sum"}, "alike"),
    "multi_head_window": ({**MHA, "window": 2}, "keys"),
    "multi_head_window_sinks": ({**MHA, "window": 2, "sinks": 1, "attention_weights": "none"}, "full"),
    "multi_head_soft_cap": ({**MHA, "soft_cap": 0.5, "scale": 1, "causal": False}, "full"),
    "multi_head_alibi": ({**MHA, "d_out": 9, "num_heads": 3, "alibi": True, "soft_cap": 2.0, "window": 3}, "unbatched"),
    "multi_head_qk_norm": ({**MHA, "d_out": 8, "num_heads": 4, "num_kv_heads": 2, "qk_norm": "rms_norm", "rope": True},
                           "keys"),
    "multi_head_qk_layer_norm": ({**MHA, "d_out": 12, "num_heads": 4, "qk_norm": "layer_norm", "qkv_bias": True}, ""),
    "packed_window": ({**PACKED, "window": 3, "sinks": 1, "soft_cap": 1.5}, ""),
    "gpt_alibi": ({**GPT, "position": "none", "activation": "relu2",
                   "attention": {"type": "multi_head_attention", "alibi": True, "window": 4}}, "ids keys"),
    "relu2": ({"type": "relu2"}, ""),
    "multi_head_partial_rope": ({**MHA, "d_out": 12, "rope": True, "rotary_fraction": 0.7, "num_kv_heads": 1}, "keys"),
    "packed_partial_rope": ({**PACKED, "d_out": 10, "num_heads": 2, "rope": True, "rotary_fraction": 0.5,
                             "rope_base": 100.0}, "unbatched"),
    "block_parallel": ({**BLOCK, "parallel_residual": True, "qkv_bias": True}, "keys"),
    "gpt_neox": ({**GPT, "d_model": 8, "position": "rope", "rotary_fraction": 0.5, "rope_base": 100.0,
                  "parallel_residual": True, "qkv_bias": True, "activation": "gelu", "norm_eps": 1e-3}, "ids"),
    "multi_head_rope_scaling": ({**MHA, "d_out": 16, "num_heads": 1, "rope": True, "rope_base": 100.0, "rope_scaling": {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}}, "keys"),
    "multi_head_head_dim": ({**MHA, "head_dim": 5, "num_kv_heads": 1, "qkv_bias": True}, "full"),
    "gpt_qwen3": ({**GPT, "num_heads": 4, "head_dim": 2, "num_kv_heads": 2, "position": "rope", "rope_base": 100.0,
                   "norm": "rms_norm", "norm_eps": 1e-2, "activation": "swiglu", "ff_width": 5, "bias": False,
                   "attention": {"type": "multi_head_attention", "qk_norm": "rms_norm"}}, "ids keys"),
    # Gemma 3: a local layer with a base of its own, then one that sees everything.
    "gpt_pattern": ({**NANO, "d_model": 8, "num_layers": 3, "position": "rope", "rope_base": 1000.0, "attention": [
        {"type": "multi_head_attention", "window": 2, "rope_base": 10.0}, {"type": "multi_head_attention"}]}, "ids keys"),
}

LATENT = {"type": "latent_attention", **LONG, "d_out": 12, "num_heads": 2}
# Of the extra alternatives, numbered from 500: new cases above leave their seeds as they are.
ALTERNATIVES = {
    "latent_attention": (LATENT, ""),
    "latent_attention_query_latent": ({**LATENT, "num_heads": 3, "d_latent": 5, "d_query_latent": 7, "d_rope": 6,
                                       "rope_base": 100.0, "dropout": 0.1}, "keys"),
    "latent_attention_no_rope": ({**LATENT, "d_query_latent": 3, "rope": False, "out_bias": False}, "full"),
    "latent_attention_unbatched": ({**LATENT, "num_heads": 4, "d_latent": 9}, "unbatched"),
    "gpt_latent_attention": ({**GPT, "attention": {"type": "latent_attention", "d_latent": 5}}, "ids keys"),
    "gpt_latent_attention_rope": ({**NANO, "position": "rope", "rope_base": 100.0, "attention": {
        "type": "latent_attention", "d_latent": 4}}, "ids"),
    "gated_delta_net": ({"type": "gated_delta_net", **ATT, "num_heads": 2}, ""),
    "gated_delta_net_unbatched": ({"type": "gated_delta_net", "d_in": 3, "d_out": D, "num_heads": 1, "kernel_size": 2},
                                  "unbatched"),
    "gpt_gated_delta_net": ({**NANO, "attention": {"type": "gated_delta_net", "kernel_size": 1}}, "ids"),
    "mixture_of_experts": ({"type": "mixture_of_experts", "d_model": D, "num_experts": 4}, ""),
    "mixture_of_experts_swiglu": ({"type": "mixture_of_experts", "d_model": D, "num_experts": 5, "top_k": 3, "ff_width": 7,
                                   "activation": "swiglu", "bias": False}, ""),
    "mixture_of_experts_switch": ({"type": "mixture_of_experts", "d_model": D, "num_experts": 3, "top_k": 1,
                                   "hidden_multiplier": 2, "activation": "relu"}, "unbatched"),
    "gpt_mixture_of_experts": ({**NANO, "feed_forward": {"type": "mixture_of_experts", "num_experts": 3}}, "ids"),
    # Qwen3-Next: most layers keep a memory of a fixed size.
    "gpt_hybrid": ({**NANO, "d_model": 8, "num_layers": 3, "position": "rope", "attention": [
        {"type": "gated_delta_net", "kernel_size": 2}, {"type": "gated_delta_net", "num_heads": 1},
        {"type": "multi_head_attention"}]}, "ids"),
}

MODEL = {"context_length": T + 1, "d_model": D, "num_heads": 2, "num_layers": 2}
PICTURES = {"type": "encoder", "patch_size": 2, "image_height": 4, "image_width": 6, **MODEL}
PATCHES = {"type": "patch_embedding", "patch_size": 2, "image_width": 6, "d_model": D}
# Of encoders, from 600.
ENCODERS = {
    "patch_embedding": (PATCHES, "picture"),
    "patch_embedding_colours": ({**PATCHES, "channels": 3, "bias": False}, "picture unbatched"),
    "patch_embedding_class_token": ({**PATCHES, "channels": 2, "patch_size": 1, "class_token": True}, "picture"),
    "encoder": ({"type": "encoder", **MODEL}, "full"),
    "encoder_masked": ({"type": "encoder", "vocab_size": V, **MODEL, "dropout": 0.1}, "ids keys"),
    "encoder_of_classes": ({"type": "encoder", "vocab_size": V, **MODEL, "num_classes": 3, "pool": "first",
                            "position": "none"}, "ids keys"),
    "encoder_of_vectors": ({"type": "encoder", **MODEL, "num_classes": 3, "pool": "last", "norm": "rms_norm"}, "keys"),
    "encoder_of_pictures": ({**PICTURES, "num_classes": 4}, "picture"),
    "encoder_class_token": ({**PICTURES, "image_height": 2, "channels": 2, "class_token": True, "num_classes": 2,
                             "pool": "first", "position": "sinusoidal", "bias": False}, "picture unbatched"),
}


def inputs_of(config: dict, what: str) -> dict:
    lead = (T,) if "unbatched" in what else (B, T)
    width = config.get("d_in", config.get("d_model", D))
    if "source" in what:
        inputs = {"source_ids": torch.randint(9, (*lead[:-1], S)), "ids": torch.randint(V, lead)}
    elif "ids" in what:
        inputs = {"ids": torch.randint(V, lead)}
    elif "picture" in what:
        size = (config.get("channels", 1), config.get("image_height", 4), config["image_width"])
        inputs = {"x": torch.rand(*lead[:-1], *size, dtype=torch.float64)}
    else:
        inputs = {"x": torch.randn(*lead, width, dtype=torch.float64)}
        if "alike" in what:  # tokens so alike that no sum of scores is near 0
            inputs["x"] = 0.5 * inputs["x"] + torch.linspace(1, 2, width, dtype=torch.float64)
    keys, mask = T, "mask"
    if "context" in what:
        inputs["context"] = torch.randn(*lead[:-1], S, config.get("d_context", width), dtype=torch.float64)
        keys = S
    if "source" in what:
        keys, mask = S, "source_mask"
    if "keys" in what:  # hides the first key of sequence 0: with causality, query 0 sees nothing
        inputs[mask] = torch.tensor([[0, 1, 1, 0, 1], [1, 1, 0, 0, 0]]).bool()[:, :keys]
    if "full" in what:
        inputs[mask] = torch.rand(B, 1, T, keys) < 0.5
        inputs[mask][1, 0, 2] = False  # a query that sees nothing
    return inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default="tests/golden/layers")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    cases = [*enumerate(CASES.items()), *enumerate(ALTERNATIVES.items(), 500), *enumerate(ENCODERS.items(), 600)]
    for index, (name, (config, what)) in cases:
        torch.manual_seed(1000 + index)
        case = make_case(config, inputs_of(config, what), seed=2000 + index)
        tensors = {**case.inputs, **{"param." + k: v for k, v in case.weights.items()}, **case.outputs(torch.float64)}
        assert all(t.isfinite().all() for t in tensors.values()), name
        made_by = f"# {name}: made by tools/reference/layer_golden.py with PyTorch {torch.__version__}\n"
        metadata = {"config": made_by + yaml.safe_dump({"model": config}, sort_keys=False)}
        path = out / f"{name}.safetensors"
        save_file({k: v.contiguous() for k, v in tensors.items()}, path, metadata=metadata)
        path.chmod(0o644)
    total = sum(f.stat().st_size for f in out.glob("*.safetensors"))
    print(f"{len(cases)} cases, {total / 1024:.0f} KiB, in {out}")


if __name__ == "__main__":
    main()
