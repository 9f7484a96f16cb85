#!/usr/bin/env python3
"""heed import and heed export against transformers.

    python tools/reference/hugging_face.py --heed build/release/heed            every comparison, one line each
    python tools/reference/hugging_face.py --golden tests/golden/hugging_face   the folders that the tests read

Compares logits in float32 (at most 2e-4 apart) and float64 (1e-9), the bytes of weights after export and import, the ids
of AutoTokenizer on random strings, and the losses of AdamW from imported weights. Needs torch, numpy, safetensors,
transformers 5 and tokenizers, of which only this script knows.

In float64 two parts of transformers compute in float32 nevertheless: the angles of rotary positions, and rms_norm. They
are replaced by the same formulas in float64. So are sinusoidal positions, which a file holds as a table in float32.
"""
import argparse
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TEXT = ROOT / "configs/data/the-verdict.txt"
FLOAT32, FLOAT64 = 2e-4, 1e-9
transformers.utils.logging.disable_progress_bar()


class Failed(Exception):
    pass


def expect(ok: bool, what: str):
    if not ok:
        raise Failed(what)


class Heed:
    def __init__(self, program: str):
        self.program = program

    def __call__(self, *arguments, check=True) -> str:
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        expect(not check or done.returncode == 0, f"heed {arguments}: {done.stderr[-2000:]}")
        return done.stdout

    def logits(self, run: pathlib.Path, ids: torch.Tensor, precision: str) -> torch.Tensor:
        given, out = run.parent / "ids.safetensors", run.parent / "y.safetensors"
        save_file({"ids": ids.to(torch.int64).contiguous()}, given)
        self("forward", run, "--in", given, "--out", out, "--precision", precision)
        return load_file(out)["y"]


# ---- transformers

def in_float64(model):
    """The model in float64, also where transformers would go back to float32."""
    model = model.double()
    for module in model.modules():
        name = type(module).__name__
        if name.endswith("RMSNorm"):
            module.forward = lambda x, m=module: m.weight * (
                x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + m.variance_epsilon))
        elif name.endswith("RotaryEmbedding"):
            module.forward = lambda x, position_ids, *_, c=module.config: angles(x, position_ids, c)
    return model


def angles(x, position_ids, config):
    rope = config.rope_parameters
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    width = int(head * rope.get("partial_rotary_factor", 1.0))
    slower = rope["rope_theta"] ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    if rope["rope_type"] == "llama3":
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        turns = rope["original_max_position_embeddings"] * slower / (2 * math.pi)
        kept = ((turns - low) / (high - low)).clamp(0, 1)
        slower = slower * (kept + (1 - kept) / rope["factor"])
    turn = position_ids[..., None].double() * slower
    turn = torch.cat((turn, turn), -1)
    return turn.cos().to(x.dtype), turn.sin().to(x.dtype)


def with_float64_sines(model):
    """A GPT-2 whose learned positions are sines: those that heed computes where it computes in float64."""
    length, width = model.transformer.wpe.weight.shape
    even = torch.arange(0, width, 2, dtype=torch.float64)
    turn = torch.arange(length, dtype=torch.float64)[:, None] * torch.exp(-math.log(10000.0) * even / width)
    sines = torch.stack((turn.sin(), turn.cos()), -1).flatten(1)
    expect((sines - model.transformer.wpe.weight).abs().max() < 1e-7, "the table of an export has sines")
    model.transformer.wpe.weight.data = sines
    return model


def their_logits(model, ids):
    with torch.no_grad():
        return model.eval()(ids).logits


def random_model(kind, seed, **fields):
    """With weights, biases and norms away from 0 and 1, so that every tensor counts."""
    torch.manual_seed(seed)
    config_class, model_class = {"gpt2": (transformers.GPT2Config, transformers.GPT2LMHeadModel),
                                 "gpt_neox": (transformers.GPTNeoXConfig, transformers.GPTNeoXForCausalLM),
                                 "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
                                 "qwen3": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM)}[kind]
    model = model_class(config_class(bos_token_id=None, eos_token_id=None, **fields))
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.15 * torch.randn(p.shape))
    return model.eval()


def gpt2_cases():
    for heads in range(1, 13):
        yield "gpt2", dict(vocab_size=50 + heads, n_positions=40, n_embd=12 * heads if heads < 8 else 4 * heads,
                           n_layer=1 + heads % 3, n_head=heads, tie_word_embeddings=heads % 2 == 0,
                           n_inner=None if heads % 3 else 7 * heads,
                           activation_function=("gelu_new", "gelu", "relu", "silu", "gelu_pytorch_tanh")[heads % 5],
                           layer_norm_epsilon=(1e-5, 1e-3)[heads % 2])


def llama_cases():
    for k, (heads, groups) in enumerate(((1, 1), (2, 1), (3, 3), (4, 2), (6, 2), (8, 4), (9, 3), (12, 4))):
        yield "llama", dict(vocab_size=60 + k, max_position_embeddings=48, hidden_size=heads * (4, 8, 16)[k % 3],
                            intermediate_size=20 + 3 * k, num_hidden_layers=1 + k % 3, num_attention_heads=heads,
                            num_key_value_heads=groups, rms_norm_eps=(1e-6, 1e-5, 1e-3)[k % 3],
                            rope_theta=(10000.0, 500000.0, 123.5)[k % 3], tie_word_embeddings=k % 2 == 0,
                            attention_bias=k % 4 > 1, mlp_bias=k % 3 == 1)


def llama3_cases():
    for k, (factor, original) in enumerate(((8.0, 64), (32.0, 20), (2.0, 300))):
        yield "llama", dict(vocab_size=80 + k, max_position_embeddings=48, hidden_size=64, intermediate_size=30 + k,
                            num_hidden_layers=2, num_attention_heads=(2, 4, 1)[k], num_key_value_heads=(1, 2, 1)[k],
                            rope_parameters={"rope_type": "llama3", "rope_theta": (500000.0, 100.0, 10000.0)[k],
                                             "factor": factor, "low_freq_factor": (1.0, 0.5, 2.0)[k],
                                             "high_freq_factor": 4.0, "original_max_position_embeddings": original})


def qwen3_cases():
    for k, (heads, groups, head_dim, width) in enumerate(((2, 1, 8, 20), (4, 2, 16, 24), (3, 3, 6, 18), (5, 1, 4, 32))):
        yield "qwen3", dict(vocab_size=90 + k, max_position_embeddings=40, hidden_size=width, intermediate_size=20 + k,
                            num_hidden_layers=1 + k % 3, num_attention_heads=heads, num_key_value_heads=groups,
                            head_dim=head_dim, attention_bias=k == 2, tie_word_embeddings=k % 2 == 0,
                            rms_norm_eps=(1e-6, 1e-3)[k % 2], rope_theta=(1e6, 123.5)[k % 2])
    yield "llama", dict(vocab_size=95, max_position_embeddings=40, hidden_size=24, intermediate_size=20,
                        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=10)


def neox_cases():
    for k, heads in enumerate((1, 2, 5)):
        yield "gpt_neox", dict(vocab_size=70 + k, max_position_embeddings=32, hidden_size=heads * 8,
                               intermediate_size=30 + k, num_hidden_layers=1 + k, num_attention_heads=heads,
                               rotary_pct=1.0, use_parallel_residual=False, hidden_act=("gelu", "gelu_new", "relu")[k],
                               rope_parameters={"rope_type": "default", "rope_theta": (10000.0, 99.0, 500.0)[k],
                                                "partial_rotary_factor": 1.0},
                               tie_word_embeddings=k == 1)
    for k, heads in enumerate((1, 2, 3, 4)):  # as Pythia: branches side by side, and a part of each head that turns
        yield "gpt_neox", dict(vocab_size=75 + k, max_position_embeddings=32, hidden_size=heads * (16, 8, 16, 32)[k],
                               intermediate_size=34 + k, num_hidden_layers=1 + k % 3, num_attention_heads=heads,
                               rotary_pct=(0.25, 0.5, 0.4, 0.25)[k], use_parallel_residual=k != 1, hidden_act="gelu")


def save_in_some_way(model, folder, way):
    """As one file, several, in half precision, or without the prefix of the body's tensors."""
    model.save_pretrained(folder, max_shard_size="20KB" if way == "sharded" else "5GB")
    file = folder / "model.safetensors"
    if way == "sharded":
        expect((folder / "model.safetensors.index.json").exists(), "several files")
    if way in ("bfloat16", "float16"):
        narrow = {k: v.to(getattr(torch, way)) for k, v in load_file(file).items()}
        save_file(narrow, file, metadata={"format": "pt"})
    if way == "bare":
        prefix = model.base_model_prefix + "."
        tensors = {k.removeprefix(prefix): v for k, v in load_file(file).items()}
        if model.config.model_type == "gpt2":  # the buffers of old versions
            for n in range(model.config.n_layer):
                tensors[f"h.{n}.attn.bias"] = torch.ones(1, 1, 4, 4, dtype=torch.uint8)
                tensors[f"h.{n}.attn.masked_bias"] = torch.tensor(-1e4)
        save_file(tensors, file, metadata={"format": "pt"})


def weights_of(run):
    return (run / "checkpoints" / sorted(os.listdir(run / "checkpoints"))[-1] / "model.safetensors").read_bytes()


def compare_logits(heed, run, model, seed, finish=lambda model: model):
    """The largest differences in float32 and float64. finish: what a model in float64 still needs."""
    config, generator = model.config, torch.Generator().manual_seed(seed)
    length = getattr(config, "max_position_embeddings", None) or config.n_positions
    ids = torch.randint(config.vocab_size, (2, length), generator=generator)
    single = (heed.logits(run, ids, "float32") - their_logits(model.float(), ids)).abs().max().item()
    double = (heed.logits(run, ids, "float64") - their_logits(finish(in_float64(model)), ids)).abs().max().item()
    expect(single <= FLOAT32 and double <= FLOAT64, f"logits differ by {single:.1e} and {double:.1e}")
    return single, double


def check_random(heed, work):
    worst, count = [0.0, 0.0], 0
    ways = ("one", "sharded", "bare", "bfloat16", "float16")
    for k, (kind, fields) in enumerate([*gpt2_cases(), *llama_cases(), *neox_cases(), *llama3_cases(),
                                            *qwen3_cases()]):
        way = ways[k % len(ways)]
        folder, run, back, again = (work / f"{name}{k}" for name in ("hf", "run", "back", "again"))
        save_in_some_way(random_model(kind, k, **fields), folder, way)
        heed("import", folder, "--out", run)
        if way == "bare":  # transformers wants the prefix
            model = random_model(kind, k, **fields)
        else:
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        worst = [max(pair) for pair in zip(worst, compare_logits(heed, run, model, k))]
        heed("export", run, back)
        heed("import", back, "--out", again)
        expect(weights_of(run) == weights_of(again), f"{kind} {fields}: the bytes of an export's import")
        exported = AutoModelForCausalLM.from_pretrained(back)
        worst = [max(pair) for pair in zip(worst, compare_logits(heed, run, exported, k))]
        count += 1
    print(f"random models       {count} of gpt2, llama, gpt_neox and qwen3: logits within {worst[0]:.1e} in float32, "
          f"{worst[1]:.1e} in float64; imports of exports are the same bytes")


# ---- Models trained here

TRAINED = {
    "gpt2 char": "position: learned, qkv_bias: false, dropout: 0.1",
    "gpt2 nano": "position: learned, bias: false, tie_embeddings: true, init: gpt2, activation: gelu",
    "gpt2 packed": "position: sinusoidal, attention: {type: multi_head_attention, packed: true}, activation: relu",
    "gpt2 unscaled": "position: learned, attention: {type: multi_head_attention, scale: 1}",
    "gpt_neox": "position: rope, qkv_bias: true, rope_base: 500",
    "gpt_neox bare": "position: rope, bias: false, attention: {type: multi_head_attention, packed: true}",
    "llama": "position: rope, norm: rms_norm, bias: false, activation: swiglu, ff_width: 40, num_kv_heads: 2, "
             "norm_eps: 1e-6",
    "llama biases": "position: rope, norm: rms_norm, bias: true, activation: swiglu, tie_embeddings: true",
    "llama qkv": "position: rope, norm: rms_norm, bias: false, qkv_bias: true, activation: swiglu",
    "qwen3": "position: rope, norm: rms_norm, bias: false, activation: swiglu, head_dim: 6, num_kv_heads: 2, "
             "attention: {qk_norm: rms_norm}",
    "gpt_neox parallel": "position: rope, rotary_fraction: 0.5, parallel_residual: true, qkv_bias: true",
    "llama scaled": "position: rope, norm: rms_norm, activation: swiglu, attention: {rope_scaling: {factor: 4, "
                    "original_max_position_embeddings: 16}}",
    "llama packed": "position: rope, norm: rms_norm, activation: swiglu, "
                    "attention: {type: multi_head_attention, packed: true}"}


def train(heed, work, name, options, tokenizer):
    config, run = work / "config.yaml", work / name.replace(" ", "_")
    config.write_text(f"""\
data: {{type: text, path: {TEXT}, tokenizer: {tokenizer}}}
model: {{type: gpt, context_length: 24, d_model: 32, num_heads: 4, num_layers: 2, {options}}}
train: {{steps: 20, batch_size: 4}}
optimizer: {{type: adamw, lr: 3e-3}}
""")
    heed("train", config, "--out", run)
    return run


def random_strings(alphabet, count, seed):
    rng = random.Random(seed)
    return ["".join(rng.choice(alphabet) for _ in range(rng.randint(1, 30))) for _ in range(count)]


def check_ids(heed, work, run, tokenizer, strings):
    """AutoTokenizer's ids are ours, on each of the strings."""
    theirs = [tokenizer(s, add_special_tokens=False)["input_ids"] for s in strings]
    ours = heed_ids(heed, work, run, strings)
    wrong = [found for found in zip(strings, ours, theirs) if found[1] != found[2]]
    expect(not wrong, f"ids differ: {wrong[:1]}")
    for ids, string in list(zip(theirs, strings))[:1000]:
        expect(tokenizer.decode(ids) == string, f"{string!r} does not come back")


def heed_ids(heed, work, run, strings):
    """Ids by the definition of the run's own tokenizer: that of characters and bytes here, of BPE from heed."""
    kind = run["kind"]
    if kind == "char":
        characters = sorted(set(TEXT.read_text()))
        return [[characters.index(c) for c in s] for s in strings]
    if kind == "byte":
        return [list(s.encode()) for s in strings]
    # All in one file, between special tokens, which are encoded apart; the first id is that of the special token.
    (work / "s.txt").write_bytes("<|endoftext|>".join(["", *strings]).encode())
    all_ids = json.loads(heed("tokenizer", "encode", work / "s.txt", "--tokenizer", run["path"], "--special-tokens",
                              "--json"))["ids"]
    ids = []
    for token in all_ids:
        ids.append([]) if token == all_ids[0] else ids[-1].append(token)
    return ids


def check_trained(heed, work):
    bpe = work / "bpe.json"
    heed("tokenizer", "train", TEXT, "--vocab", 400, "--special", "<|endoftext|>", "--out", bpe)
    worst, tokens = [0.0, 0.0], 0
    text_characters = sorted(set(TEXT.read_text()))
    wide = text_characters + [chr(c) for c in (*range(32, 127), 0xE9, 0xDF, 0x416, 0x4E2D, 0x1F600, 0x301, 10, 9)]
    for k, (name, options) in enumerate(TRAINED.items()):
        kind = ("char", "byte", "bpe")[k % 3]
        run = train(heed, work, name, options, f"{{type: bpe, path: {bpe}}}" if kind == "bpe" else kind)
        folder, again = work / f"trained{k}", work / f"again{k}"
        printed = heed("export", run, folder)
        heed("import", folder, "--out", again)
        expect(weights_of(run) == weights_of(again), f"{name}: the bytes of an export's import")
        space = {}
        exec("\n".join(printed.splitlines()[1:]), space)  # the lines that heed prints
        model, tokenizer = space["model"], space["tokenizer"]
        expect(type(model).__name__.lower().startswith(name.split()[0].replace("_", "")), name)
        finish = [with_float64_sines] if "sinusoidal" in options else []
        for here in (run, again):
            worst = [max(pair) for pair in zip(worst, compare_logits(heed, here, model.float(), k, *finish))]
        strings = random_strings(text_characters if kind == "char" else wide, 10_000, k)
        if k < 3:
            check_ids(heed, work, {"kind": kind, "path": bpe}, tokenizer, strings)
            if kind == "char":
                try:
                    ids = tokenizer("a\u4e2d")["input_ids"]
                except Exception:  # as heed refuses it
                    ids = None
                expect(ids is None, f"an unknown character gives {ids}")
            tokens += len(strings)
        heed("export", again, work / "second", "--dtype", "bfloat16")
        half = AutoModelForCausalLM.from_pretrained(work / "second")
        expect(all((a == b.to(torch.bfloat16)).all() for a, b in
                   zip(half.state_dict().values(), AutoModelForCausalLM.from_pretrained(folder).state_dict().values())),
               f"{name}: bfloat16")
        shutil.rmtree(work / "second")
    print(f"models trained here {len(TRAINED)}: logits within {worst[0]:.1e} in float32, {worst[1]:.1e} in float64; "
          f"imports of exports are the same bytes; AutoTokenizer's ids on {tokens:,} random strings")


# ---- Training from imported weights

def check_training(heed, work):
    """12 steps of AdamW on windows in order, from the same weights, with and without a frozen embedding."""
    text = TEXT.read_text()[:20000]
    (work / "text.txt").write_text(text)
    characters = sorted(set(text))
    ids = torch.tensor([characters.index(c) for c in text])
    worst = 0.0
    for k, (kind, fields) in enumerate((
            ("gpt2", dict(n_positions=16, n_embd=24, n_layer=2, n_head=3, resid_pdrop=0.0, embd_pdrop=0.0,
                          attn_pdrop=0.0)),
            ("llama", dict(max_position_embeddings=16, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
                           num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=False)))):
        for frozen in (False, True):
            folder, run = work / f"start{k}{frozen}", work / f"on{k}{frozen}"
            torch.manual_seed(k)
            random_model(kind, k, vocab_size=len(characters), **fields).save_pretrained(folder)
            model = AutoModelForCausalLM.from_pretrained(folder).float().train()
            losses = torch_losses(model, ids, frozen)
            shape = {"gpt2": "num_heads: 3, qkv_bias: true, tie_embeddings: true",
                     "llama": "num_heads: 4, num_kv_heads: 2, norm: rms_norm, norm_eps: 1e-6, position: rope, "
                              "bias: false, activation: swiglu, ff_width: 40"}[kind]
            (work / "on.yaml").write_text(f"""\
data: {{type: text, path: text.txt, sampling: windows, shuffle: false}}
model: {{type: gpt, context_length: 16, d_model: 24, num_layers: 2, {shape}}}
train: {{steps: 12, batch_size: 4, log_every: 1, freeze: {'["tok_emb.*"]' if frozen else '[]'}}}
optimizer: {{type: adamw, lr: 3e-3, weight_decay: 0.01, decay: all}}
""")
            heed("train", work / "on.yaml", "--weights", folder, "--out", run)
            rows = [line.split(",") for line in (run / "metrics.csv").read_text().splitlines()[1:]]
            ours = [float(row[1]) for row in rows]
            expect(len(ours) == 12, "12 losses")
            worst = max(worst, max(abs(a - b) for a, b in zip(ours, losses)))
            if frozen:
                before = load_file(folder / "model.safetensors")
                name = {"gpt2": "transformer.wte.weight", "llama": "model.embed_tokens.weight"}[kind]
                after = load_file(run / "checkpoints/step-000012/model.safetensors")["tok_emb.weight"]
                expect(torch.equal(before[name], after), "the bits of a frozen embedding")
    expect(worst <= 2e-3, f"losses differ by {worst:.1e}")
    print(f"12 steps of AdamW   gpt2 and llama, the embedding trained and frozen: losses within {worst:.1e}")


def torch_losses(model, ids, frozen):
    model.get_input_embeddings().weight.requires_grad_(not frozen)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3, weight_decay=0.01)
    losses = []
    for step in range(12):
        begin = [(4 * step + b) * 16 for b in range(4)]
        x = torch.stack([ids[o:o + 16] for o in begin])
        y = torch.stack([ids[o + 1:o + 17] for o in begin])
        loss = torch.nn.functional.cross_entropy(model(x).logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# ---- Golden folders

GOLDEN = {  # by folder: model_type and fields
    "gpt2": ("gpt2", dict(vocab_size=13, n_positions=6, n_embd=6, n_layer=2, n_head=3, n_inner=5)),
    "gpt_neox": ("gpt_neox", dict(
        vocab_size=13, max_position_embeddings=6, hidden_size=8, intermediate_size=5, num_hidden_layers=2,
        num_attention_heads=2, rotary_pct=1.0, use_parallel_residual=False, hidden_act="gelu_new",
        rope_parameters={"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 1.0})),
    "llama": ("llama", dict(
        vocab_size=13, max_position_embeddings=6, hidden_size=8, intermediate_size=5, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, rope_theta=100.0, rms_norm_eps=1e-3, attention_bias=True)),
    "pythia": ("gpt_neox", dict(
        vocab_size=13, max_position_embeddings=6, hidden_size=16, intermediate_size=5, num_hidden_layers=2,
        num_attention_heads=2, rotary_pct=0.25, rotary_emb_base=3)),
    "llama3": ("llama", dict(
        vocab_size=13, max_position_embeddings=6, hidden_size=16, intermediate_size=5, num_hidden_layers=1,
        num_attention_heads=2, rope_parameters={
            "rope_type": "llama3", "rope_theta": 100.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32})),
    "qwen3": ("qwen3", dict(
        vocab_size=13, max_position_embeddings=6, hidden_size=8, intermediate_size=5, num_hidden_layers=2,
        num_attention_heads=3, num_key_value_heads=1, head_dim=4, rope_theta=100.0, rms_norm_eps=1e-3))}


def write_golden(out):
    for k, (name, (kind, fields)) in enumerate(GOLDEN.items()):
        folder = out / name
        shutil.rmtree(folder, ignore_errors=True)
        model = random_model(kind, k, **fields)
        model.save_pretrained(folder, max_shard_size="3KB" if name == "llama" else "5GB")
        (folder / "generation_config.json").unlink()
        ids = torch.randint(13, (2, 6), generator=torch.Generator().manual_seed(k))
        logits = their_logits(in_float64(model), ids)
        made = f"tools/reference/hugging_face.py with transformers {transformers.__version__}, PyTorch {torch.__version__}"
        save_file({"ids": ids, "y": logits}, folder / "expected.safetensors", metadata={"made_by": made})
        for file in folder.iterdir():
            file.chmod(0o644)
    print(f"wrote {', '.join(GOLDEN)} in {out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default="build/release/heed")
    parser.add_argument("--golden", type=pathlib.Path)
    parser.add_argument("--only", choices=("random", "trained", "training"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.golden:
        return write_golden(arguments.golden)
    heed = Heed(arguments.heed)
    for name, check in (("random", check_random), ("trained", check_trained), ("training", check_training)):
        if arguments.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                check(heed, pathlib.Path(folder))


if __name__ == "__main__":
    main()
