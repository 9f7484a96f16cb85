"""Writes tests/golden/probe/attribution.json: what TransformerLens attributes to the parts of small models.

    pip install "transformer_lens<4" pyyaml        (made with transformer_lens 3.9.0)
    python tools/reference/attribution_golden.py

The models are those of tests/golden/layers, loaded into HookedTransformer in float64; the script first checks that its
logits are those of torch_layers.py. Each case has the name of a model, ids, an answer, perhaps a wrong answer, the logit
of the answer at the last position (minus that of the wrong one), and the parts that sum to it:

  embedding, position, head, feed_forward   ActivationCache.logit_attrs of the embeddings, of the result of each head
                 (z W_O[h]) and of mlp_out, after apply_ln_to_stack: centred, divided by the cached scale of the last norm
  out_bias       the same of b_O
  final_shift    b_U, into which the bias of the last norm is folded
"""
import json
from importlib.metadata import version
from pathlib import Path

import torch
import yaml
from safetensors import safe_open
from transformer_lens import HookedTransformer, HookedTransformerConfig

import torch_layers

GOLDEN = Path(__file__).resolve().parents[2] / "tests/golden"
# A gpt with biases and a layer_norm; with another eps; with sinusoids; GPT-2's and nanoGPT's options, tied; and rms_norm,
# rope and grouped keys without biases, as `heed import` makes of a Llama.
MODELS = ("gpt", "gpt_norm_eps", "gpt_sinusoidal_tied", "gpt_nano", "gpt_rope_grouped", "gpt_llama")
ACTIVATIONS = {"gelu_tanh": "gelu_new", "gelu": "gelu", "relu": "relu", "silu": "silu", "swiglu": "silu"}


def read(name):
    """The fields of a golden model, and its parameters."""
    with safe_open(GOLDEN / f"layers/{name}.safetensors", "pt") as file:
        fields = yaml.safe_load(file.metadata()["config"])["model"]
        return fields, {key[6:]: file.get_tensor(key) for key in file.keys() if key.startswith("param.")}


def lens_config(fields):
    width, heads = fields["d_model"], fields["num_heads"]
    rope = fields.get("position") == "rope"
    return HookedTransformerConfig(
        n_layers=fields["num_layers"], d_model=width, n_ctx=fields["context_length"], d_head=width // heads,
        n_heads=heads, d_vocab=fields["vocab_size"], d_mlp=fields.get("ff_width", width * fields.get("hidden_multiplier", 4)),
        act_fn=ACTIVATIONS[fields.get("activation", "gelu_tanh")], gated_mlp=fields.get("activation") == "swiglu",
        normalization_type="RMS" if fields.get("norm") == "rms_norm" else "LN", eps=fields.get("norm_eps", 1e-5),
        positional_embedding_type="rotary" if rope else "standard", rotary_dim=width // heads if rope else None,
        rotary_base=fields.get("rope_base", 10000), n_key_value_heads=fields.get("num_kv_heads"), dtype=torch.float64,
        use_attn_result=True, device="cpu", seed=0)


def attention_weights(fields, own, path):
    """W_Q (H, d_model, d), W_O (H, d, d_model) and so on."""
    heads, width = fields["num_heads"], fields["d_model"] // fields["num_heads"]
    kv_heads = fields.get("num_kv_heads") or heads
    grouped = "_" if fields.get("num_kv_heads") else ""
    found = {}
    for letter, name, count, mark in (("Q", "query", heads, ""), ("K", "key", kv_heads, grouped), ("V", "value", kv_heads, grouped)):
        weight = own[f"{path}.W_{name}.weight"]
        bias = own.get(f"{path}.W_{name}.bias", torch.zeros(len(weight)))
        found[f"{mark}W_{letter}"] = weight.T.reshape(-1, count, width).permute(1, 0, 2)
        found[f"{mark}b_{letter}"] = bias.reshape(count, width)
    found["W_O"] = own[f"{path}.out_proj.weight"].T.reshape(heads, width, -1)
    found["b_O"] = own.get(f"{path}.out_proj.bias", torch.zeros(fields["d_model"]))
    return found


def feed_forward_weights(own, path):
    gated = f"{path}.gate_proj.weight" in own
    names = {"W_gate": "gate_proj", "W_in": "up_proj", "W_out": "down_proj"} if gated else {"W_in": "layers.0", "W_out": "layers.2"}
    found = {mine: own[f"{path}.{theirs}.weight"].T for mine, theirs in names.items()}
    for bias, theirs in (("b_in", names["W_in"]), ("b_out", names["W_out"])):
        found[bias] = own.get(f"{path}.{theirs}.bias", torch.zeros(len(own[f"{path}.{theirs}.weight"])))
    return found


def lens_model(fields, own):
    """The model, with the weights of norms folded into what reads them."""
    config = lens_config(fields)
    model = HookedTransformer(config, tokenizer=None)
    state = {"embed.W_E": own["tok_emb.weight"], "unembed.W_U": own.get("out_head.weight", own["tok_emb.weight"]).T,
             "unembed.b_U": torch.zeros(config.d_vocab)}
    if fields.get("position") != "rope":
        state["pos_embed.W_pos"] = own["pos_emb.weight"] if "pos_emb.weight" in own else sinusoids(fields)
    norms = {"ln_final": "final_norm"}
    for block in range(config.n_layers):
        lens, ours = f"blocks.{block}", f"trf_blocks.{block}"
        norms |= {f"{lens}.ln1": f"{ours}.norm1", f"{lens}.ln2": f"{ours}.norm2"}
        state |= {f"{lens}.attn.{key}": value for key, value in attention_weights(fields, own, f"{ours}.att").items()}
        state |= {f"{lens}.mlp.{key}": value for key, value in feed_forward_weights(own, f"{ours}.ff").items()}
    for lens, ours in norms.items():
        state[f"{lens}.w"] = own[f"{ours}.scale"]
        if config.normalization_type == "LN":
            state[f"{lens}.b"] = own.get(f"{ours}.shift", torch.zeros(config.d_model))
    state = {key: value.double().contiguous() for key, value in state.items()}
    has_bias = config.normalization_type == "LN"
    # Makes the norms those of folded weights, but rounds to float32 on the way: the weights come once more.
    model.load_and_process_state_dict(dict(state), fold_ln=True, center_writing_weights=False, center_unembed=False,
                                      fold_value_biases=False)
    model.load_state_dict(model.fold_layer_norm(dict(state), fold_biases=has_bias, center_weights=has_bias), strict=False)
    return model.eval()


def sinusoids(fields):
    layer = torch_layers.build({"type": "positional", "context_length": fields["context_length"],
                                "d_model": fields["d_model"], "position": "sinusoidal"}).double()
    return layer(torch.zeros(1, fields["context_length"], fields["d_model"], dtype=torch.float64))[0].detach()


def reference_logits(fields, own, ids):
    net = torch_layers.build(fields).double().eval()
    for path, parameter in net.named_parameters():
        parameter.data.copy_(own[path])
    with torch.no_grad():
        return net(torch.tensor([ids]))


def attributed(model, fields, ids, answer, wrong):
    with torch.no_grad():
        logits, cache = model.run_with_cache(torch.tensor([ids]))
    tokens = torch.tensor([answer])
    incorrect = None if wrong is None else torch.tensor([wrong])
    names, written = [("embedding", None, None)], [cache["hook_embed"]]
    if model.cfg.positional_embedding_type == "standard":
        names.append(("position", None, None))
        written.append(cache["hook_pos_embed"])
    for block in range(model.cfg.n_layers):
        for head in range(model.cfg.n_heads):
            names.append(("head", block, head))
            written.append(cache["result", block][:, :, head])
        names += [("out_bias", block, None), ("feed_forward", block, None)]
        written += [model.b_O[block].expand_as(written[0]), cache["mlp_out", block]]
    stack = torch.stack([part[:, -1] for part in written])  # (parts, 1, d_model)
    values = cache.logit_attrs(stack, tokens, incorrect_tokens=incorrect, pos_slice=-1)[:, 0]
    shift = model.b_U[answer] - (0 if wrong is None else model.b_U[wrong])
    logit = logits[0, -1, answer] - (0 if wrong is None else logits[0, -1, wrong])
    parts = [*zip(names, values.tolist()), (("final_shift", None, None), shift.item())]
    assert abs(sum(value for _, value in parts) - logit.item()) < 1e-9
    return {"logit": logit.item(), "parts": [dict(zip(("part", "block", "head"), name), value=value) for name, value in parts]}


def main():
    torch.manual_seed(1)
    cases = []
    for name in MODELS:
        fields, own = read(name)
        model = lens_model(fields, own)
        for wrong in (None, 4):
            ids = torch.randint(fields["vocab_size"], (fields["context_length"],)).tolist()
            ours = reference_logits(fields, own, ids)  # TransformerLens rounds the angles of rope to float32
            assert torch.allclose(model(torch.tensor([ids])), ours, atol=1e-8, rtol=0), name
            cases.append({"model": name, "ids": ids, "answer": 2, "wrong": wrong, **attributed(model, fields, ids, 2, wrong)})
    made_by = f"tools/reference/attribution_golden.py with transformer_lens {version('transformer_lens')}"
    lines = ",\n".join(json.dumps(case) for case in cases)
    (GOLDEN / "probe/attribution.json").write_text(f'{{"made_by": "{made_by}",\n"cases": [\n{lines}]}}\n')


if __name__ == "__main__":
    main()
