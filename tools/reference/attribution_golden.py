"""Writes tests/golden/probe/attribution.json: what TransformerLens attributes to the parts of small models.

    pip install transformer_lens pyyaml            (made with transformer_lens 4.3.0; 3.9.0 gives the same)
    python tools/reference/attribution_golden.py

The models are those of tests/golden/layers in float64, run by torch_layers.py, whose activations fill an ActivationCache
of TransformerLens. Each case has the name of a model, ids, an answer, perhaps a wrong answer, the logit of the answer at
the last position (minus that of the wrong one), and the parts that sum to it:

  embedding, position, head, feed_forward   ActivationCache.logit_attrs of the embeddings, of the result of each head
                 (z W_O[h]) and of mlp_out, after apply_ln_to_stack: centred, divided by the cached scale of the last norm
  out_bias       the same of b_O
  final_shift    b_U, into which the bias of the last norm is folded
"""
import json
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import torch
import yaml
from safetensors import safe_open
from transformer_lens import ActivationCache

import torch_layers

GOLDEN = Path(__file__).resolve().parents[2] / "tests/golden"
# A gpt with biases and a layer_norm; with another eps; with sinusoids; GPT-2's and nanoGPT's options, tied; and rms_norm,
# rope and grouped keys without biases, as `heed import` makes of a Llama.
MODELS = ("gpt", "gpt_norm_eps", "gpt_sinusoidal_tied", "gpt_nano", "gpt_rope_grouped", "gpt_llama")


def read(name):
    """The fields of a golden model, and the model with its parameters."""
    with safe_open(GOLDEN / f"layers/{name}.safetensors", "pt") as file:
        fields = yaml.safe_load(file.metadata()["config"])["model"]
        own = {key[6:]: file.get_tensor(key) for key in file.keys() if key.startswith("param.")}
    net = torch_layers.build(fields).double().eval()
    for path, parameter in net.named_parameters():
        parameter.data.copy_(own[path])
    return fields, net


def run_with_parts(net, ids):
    """Logits (T, V), the input (1, T, d) of the last norm, and (part, block, head): what it writes to that, (1, T, d)."""
    seen = {}

    def keep(name, of_input=False):
        return lambda _, given, result: seen.update({name: given[0] if of_input else result})

    modules = {"embedding": net.tok_emb, "embedded": net.pos_emb}
    modules |= {("feed_forward", b): block.ff for b, block in enumerate(net.trf_blocks)}
    hooks = [module.register_forward_hook(keep(name)) for name, module in modules.items()]
    hooks += [block.att.out_proj.register_forward_hook(keep(("z", b), of_input=True)) for b, block in enumerate(net.trf_blocks)]
    hooks.append(net.final_norm.register_forward_hook(keep("residual", of_input=True)))
    logits = net(torch.tensor([ids]))[0]
    for hook in hooks:
        hook.remove()

    parts = {("embedding", None, None): seen["embedding"]}
    if not isinstance(net.pos_emb, torch.nn.Identity):
        parts["position", None, None] = seen["embedded"] - seen["embedding"]
    for b, block in enumerate(net.trf_blocks):
        width, proj = block.att.width, block.att.out_proj
        for head, z in enumerate(seen["z", b].split(width, dim=-1)):
            parts["head", b, head] = z @ proj.weight[:, head * width:(head + 1) * width].T
        bias = torch.zeros(len(proj.weight)).double() if proj.bias is None else proj.bias
        parts["out_bias", b, None] = bias.expand_as(seen["embedding"])
        parts["feed_forward", b, None] = seen["feed_forward", b]
    return logits, seen["residual"], parts


def attributed(fields, net, ids, answer, wrong):
    logits, residual, parts = run_with_parts(net, ids)
    norm, centred = net.final_norm, fields.get("norm") != "rms_norm"
    unembed = net.out_head.weight * norm.scale  # the weight of the last norm is folded into it
    shift = net.out_head.weight @ norm.shift if getattr(norm, "shift", None) is not None else torch.zeros(len(unembed))
    model = SimpleNamespace(
        cfg=SimpleNamespace(n_layers=fields["num_layers"], normalization_type="LN" if centred else "RMS"),
        tokens_to_residual_directions=lambda tokens: unembed[tokens])
    x = residual - residual.mean(-1, keepdim=True) if centred else residual
    scale = (x.square().mean(-1, keepdim=True) + fields.get("norm_eps", 1e-5)).sqrt()
    cache = ActivationCache({"ln_final.hook_scale": scale}, model)

    stack = torch.stack([part[:, -1] for part in parts.values()])  # (parts, 1, d_model)
    incorrect = None if wrong is None else torch.tensor([wrong])
    values = cache.logit_attrs(stack, torch.tensor([answer]), incorrect_tokens=incorrect, pos_slice=-1)[:, 0].tolist()

    def of_answer(row):
        return (row[answer] - (0 if wrong is None else row[wrong])).item()

    names, values, logit = [*parts, ("final_shift", None, None)], [*values, of_answer(shift)], of_answer(logits[-1])
    assert abs(sum(values) - logit) < 1e-9
    return {"logit": logit,
            "parts": [dict(zip(("part", "block", "head"), name), value=value) for name, value in zip(names, values)]}


@torch.no_grad()
def main():
    torch.manual_seed(1)
    cases = []
    for name in MODELS:
        fields, net = read(name)
        for wrong in (None, 4):
            ids = torch.randint(fields["vocab_size"], (fields["context_length"],)).tolist()
            cases.append({"model": name, "ids": ids, "answer": 2, "wrong": wrong, **attributed(fields, net, ids, 2, wrong)})
    made_by = f"tools/reference/attribution_golden.py with transformer_lens {version('transformer_lens')}"
    lines = ",\n".join(json.dumps(case) for case in cases)
    (GOLDEN / "probe/attribution.json").write_text(f'{{"made_by": "{made_by}",\n"cases": [\n{lines}]}}\n')


if __name__ == "__main__":
    main()
