"""GGUF files, read back by the package gguf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import heedgrad as hg
import numpy as np
import pytest
from conftest import TEXT, heed, small

gguf = pytest.importorskip("gguf")


def trained(name: str, tokenizer: Any = "char", **model: Any) -> hg.Run:
    """A run of a few steps with these fields of its model."""
    config = small(data={"type": "text", "path": "my.txt", "tokenizer": tokenizer},
                   train={"steps": 2, "batch_size": 2}, eval={}, sample={})
    config["model"] = {**config["model"], "num_heads": 4, **model}
    return hg.train(config, f"runs/{name}")


def read(run: hg.Run) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """The fields and tensors of the run's file; a matrix is (out, in)."""
    reader = gguf.GGUFReader(hg.to_gguf(run, "model.gguf"))
    return ({name: field.contents() for name, field in reader.fields.items()},
            {tensor.name: tensor.data for tensor in reader.tensors})


def tokenizer_file(pattern: str = "gpt2") -> dict[str, str]:
    """A byte pair encoding of the text, with a token for its end."""
    heed("tokenizer", "train", "my.txt", "--vocab", 280, "--special", "<|endoftext|>", "--pattern",
         pattern, "--out", "tokenizer.json")
    return {"type": "bpe", "path": "tokenizer.json"}


# GGUF's names of a block's parameters, under ours.
BLOCK = {"norm1.scale": "attn_norm.weight", "norm1.shift": "attn_norm.bias",
         "norm2.scale": "ffn_norm.weight", "norm2.shift": "ffn_norm.bias",
         "att.out_proj.weight": "attn_output.weight", "att.out_proj.bias": "attn_output.bias",
         "ff.layers.0.weight": "ffn_up.weight", "ff.layers.0.bias": "ffn_up.bias",
         "ff.layers.2.weight": "ffn_down.weight", "ff.layers.2.bias": "ffn_down.bias"}


def compare(weights: dict[str, Any], tensors: dict[str, Any], block: dict[str, str]) -> int:
    """Every parameter is a tensor, with the same numbers; returns how many were compared."""
    names = {"tok_emb.weight": "token_embd.weight", "final_norm.scale": "output_norm.weight",
             "final_norm.shift": "output_norm.bias", "out_head.weight": "output.weight",
             "pos_emb.weight": "position_embd.weight"}
    for layer in range(2):
        names.update({f"trf_blocks.{layer}.{ours}": f"blk.{layer}.{theirs}"
                      for ours, theirs in block.items()})
    found = [name for name in weights if name in names]
    for name in found:
        assert np.array_equal(weights[name], tensors[names[name]]), name
    return len(found)


def test_gpt2_with_characters(place: Path) -> None:
    text = "Größe — übt «мир» 日本 \\'\"\t" + TEXT
    Path("my.txt").write_text(text, encoding="utf-8")
    run = trained("gpt2")
    fields, tensors = read(run)
    weights = run.weights()
    assert compare(weights, tensors, BLOCK) == 25
    for layer in range(2):
        parts = [weights[f"trf_blocks.{layer}.att.W_{part}.weight"]
                 for part in ("query", "key", "value")]
        assert np.array_equal(tensors[f"blk.{layer}.attn_qkv.weight"], np.concatenate(parts))
        assert not tensors[f"blk.{layer}.attn_qkv.bias"].any()
    assert len(tensors) == 25 + 4
    assert fields["general.architecture"] == "gpt2" and fields["gpt2.attention.head_count"] == 4
    assert fields["gpt2.context_length"] == fields["gpt2.embedding_length"] == 16
    assert fields["gpt2.block_count"] == 2 and fields["gpt2.feed_forward_length"] == 64
    assert fields["gpt2.attention.layer_norm_epsilon"] == pytest.approx(1e-5)
    # A character is a token: as Python's escapes of its bytes.
    assert fields["tokenizer.ggml.model"] == "rwkv"
    tokens = [token.encode().decode("unicode_escape").encode("latin-1").decode()
              for token in fields["tokenizer.ggml.tokens"]]
    vocabulary = json.loads((run.checkpoint / "vocabulary.json").read_text(encoding="utf-8"))
    assert tokens == vocabulary["tokens"] == sorted(set(text))


def test_a_tied_model_with_a_byte_pair_encoding(place: Path) -> None:
    run = trained("tied", tokenizer_file(), tie_embeddings=True, qkv_bias=True)
    fields, tensors = read(run)
    assert compare(run.weights(), tensors, BLOCK) == 24 and "output.weight" not in tensors
    assert tensors["blk.0.attn_qkv.bias"].any()
    file = json.loads(Path("tokenizer.json").read_text(encoding="utf-8"))
    by_id = {id: token for token, id in file["model"]["vocab"].items()}
    assert fields["tokenizer.ggml.tokens"] == [by_id[id] for id in range(len(by_id))]
    assert fields["tokenizer.ggml.merges"] == [" ".join(pair) for pair in file["model"]["merges"]]
    assert fields["tokenizer.ggml.model"] == "gpt2" and fields["tokenizer.ggml.pre"] == "gpt-2"
    assert fields["tokenizer.ggml.eos_token_id"] == by_id_of(file, "<|endoftext|>")
    kinds = fields["tokenizer.ggml.token_type"]
    assert kinds[by_id_of(file, "<|endoftext|>")] == gguf.TokenType.CONTROL
    assert kinds.count(gguf.TokenType.NORMAL) == len(kinds) - 1


def by_id_of(file: dict[str, Any], token: str) -> int:
    """The id of a token."""
    return int(file["model"]["vocab"][token])


def test_gpt_neox_with_bytes(place: Path) -> None:
    run = trained("neox", "byte", position="rope", qkv_bias=True, rotary_fraction=0.5,
                  parallel_residual=True)
    fields, tensors = read(run)
    weights = run.weights()
    assert compare(weights, tensors, BLOCK) == 24
    for kind in ("weight", "bias"):
        parts = [weights[f"trf_blocks.1.att.W_{part}.{kind}"] for part in ("query", "key", "value")]
        assert np.array_equal(tensors[f"blk.1.attn_qkv.{kind}"], np.concatenate(parts))
    assert fields["general.architecture"] == "gptneox"
    assert fields["gptneox.rope.dimension_count"] == 2  # of the 4 of a head
    assert fields["gptneox.use_parallel_residual"] is True
    assert fields["tokenizer.ggml.tokens"][:11] == [*(f"\\x0{i}" for i in range(9)), "\\t", "\\n"]
    assert len(fields["tokenizer.ggml.tokens"]) == 256


def test_a_tied_gpt_neox_has_its_output_layer(place: Path) -> None:
    _, tensors = read(trained("neox", position="rope", tie_embeddings=True))
    assert np.array_equal(tensors["output.weight"], tensors["token_embd.weight"])


@pytest.mark.parametrize("data", [
    {"type": "lines", "path": "my.txt", "tokenizer": "char"},
    {"type": "lines", "path": "my.txt", "tokenizer": "byte"},
    {"type": "instructions", "path": "my.json", "tokenizer": "byte"},
])
def test_tokens_of_the_task_begin_and_end_a_text(data: dict[str, str], place: Path) -> None:
    Path("my.txt").write_text("Anna\nBela\n" * 20, encoding="utf-8")
    rows = [{"instruction": f"do {n}", "output": f"out {n}"} for n in range(40)]
    Path("my.json").write_text(json.dumps(rows), encoding="utf-8")
    model = {"type": "gpt", "d_model": 16, "num_heads": 2, "num_layers": 1}
    fields, _ = read(hg.train(small(data=data, model=model, eval={}, sample={},
                                    train={"steps": 1, "batch_size": 2}), "runs/a"))
    begins = data["type"] == "lines"
    tokens = fields["tokenizer.ggml.tokens"]
    assert tokens[-2:] == (["<start>", "<end>"] if begins else [tokens[-2], "<end>"])
    assert fields["tokenizer.ggml.eos_token_id"] == len(tokens) - 1
    assert fields["tokenizer.ggml.add_bos_token"] is begins
    assert fields.get("tokenizer.ggml.bos_token_id") == (len(tokens) - 2 if begins else None)


def test_llama(place: Path) -> None:
    run = trained("llama", tokenizer_file("gpt4"), position="rope", norm="rms_norm",
                  activation="swiglu", num_kv_heads=2, rope_base=5000, bias=False)
    fields, tensors = read(run)
    weights = run.weights()
    gated = {**{name: theirs for name, theirs in BLOCK.items() if "ff." not in name},
             **{f"ff.{ours}.weight": f"ffn_{theirs}.weight"
                for ours, theirs in feed_forward(weights)}}
    compared = compare(weights, tensors, gated)
    for layer in range(2):
        for part, name, heads in (("query", "q", 4), ("key", "k", 2)):
            ours = weights[f"trf_blocks.{layer}.att.W_{part}.weight"]
            theirs = tensors[f"blk.{layer}.attn_{name}.weight"]
            # llama.cpp rotates rows 2i and 2i + 1 of a head, heed rows i and i + width / 2.
            for head in range(heads):
                for i in range(2):
                    assert np.array_equal(theirs[head * 4 + 2 * i], ours[head * 4 + i])
                    assert np.array_equal(theirs[head * 4 + 2 * i + 1], ours[head * 4 + 2 + i])
        assert np.array_equal(tensors[f"blk.{layer}.attn_v.weight"],
                              weights[f"trf_blocks.{layer}.att.W_value.weight"])
    assert compared + 6 == len(tensors) == len(weights)
    assert fields["llama.attention.head_count_kv"] == 2
    assert fields["llama.rope.freq_base"] == 5000
    assert fields["tokenizer.ggml.pre"] == "dbrx"  # llama-bpe would ignore merges


def feed_forward(weights: dict[str, Any]) -> list[tuple[str, str]]:
    """Names of the three matrices of a gated feed-forward, with GGUF's."""
    names = {name.split(".")[3] for name in weights if name.startswith("trf_blocks.0.ff.")}
    return [(name, {"gate_proj": "gate", "up_proj": "up", "down_proj": "down"}[name])
            for name in sorted(names)]


def test_a_model_without_a_tokenizer(place: Path) -> None:
    config = small(data={"type": "synthetic", "vocab_size": 11}, eval={}, sample={},
                   train={"steps": 1, "batch_size": 2})
    fields, tensors = read(hg.train(config, "runs/a"))
    assert fields["tokenizer.ggml.model"] == "none" and fields["gpt2.vocab_size"] == 11
    assert tensors["token_embd.weight"].shape == (11, 16)


@pytest.mark.parametrize(("field", "model"), [
    ("model.activation: GGUF has no key .* got gelu$", {"activation": "gelu"}),
    ("activation", {"activation": "relu"}),
    ("model.activation", {"activation": "gelu", "position": "rope"}),
    ("model.attention.scale: GGUF has no key",
     {"attention": {"type": "multi_head_attention", "scale": 1}}),
    ("position|norm", {"norm": "rms_norm"}),
    ("causal", {"attention": {"type": "multi_head_attention", "causal": False}}),
    ("attention", {"attention": {"type": "linear_attention"}}),
])
@pytest.mark.filterwarnings("ignore:the model sees")
def test_what_gguf_cannot_say_is_refused_by_the_fields_name(field: str, model: dict[str, Any],
                                                            place: Path) -> None:
    run = trained("a", **model)
    with pytest.raises(hg.ConfigError, match=field):
        hg.to_gguf(run, "model.gguf")
    assert not list(place.glob("model.gguf*"))


def test_an_adapter_is_merged(place: Path) -> None:
    base = trained("base")
    learned = hg.train("runs/base.yaml", "runs/lora", weights=base,
                       set={"train.lora": {"rank": 2}, "train.steps": 5})
    with pytest.raises(hg.ConfigError, match="train.lora"):
        hg.to_gguf(learned, "model.gguf")
    _, before = read(base)
    hg.to_gguf(learned, "merged.gguf", merge=True)
    after = {tensor.name: tensor.data for tensor in gguf.GGUFReader("merged.gguf").tensors}
    assert np.array_equal(after["token_embd.weight"], before["token_embd.weight"])
    assert not np.array_equal(after["blk.0.attn_qkv.weight"], before["blk.0.attn_qkv.weight"])


def test_a_folder_that_is_not_there(mine: hg.Run) -> None:
    with pytest.raises(hg.Error, match="^nowhere/model.gguf: there is no folder nowhere$"):
        hg.to_gguf(mine, "nowhere/model.gguf")


def test_a_file_of_others_is_not_replaced(place: Path) -> None:
    run = trained("again")
    for _ in range(2):
        path = hg.to_gguf(run, "mine.gguf")
    path.write_bytes(b"GGUF of others")
    with pytest.raises(hg.Error, match="nothing in it says that heed made it"):
        hg.to_gguf(run, path)
    assert path.read_bytes() == b"GGUF of others"
    with pytest.raises(hg.Error, match="Is a directory"):
        hg.to_gguf(run, place)


def test_words_are_refused(place: Path) -> None:
    with pytest.raises(hg.ConfigError, match="^data.tokenizer: expected bpe, .* got words$"):
        hg.to_gguf(trained("a", "words"), "model.gguf")


@pytest.mark.parametrize(("change", "text"), [
    ({"normalizer": {"type": "NFC"}}, r"changes the text before it is cut \(NFC\)"),
    ({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}},
     "begins a text with a blank"),
    ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": r"\w+"}}, {"type": "ByteLevel"}]}},
     "no name for the pattern"),
])
def test_tokenizers_that_are_refused(change: dict[str, Any], text: str) -> None:
    from heedgrad.gguf_file import _pattern_name

    with pytest.raises(hg.ConfigError, match=f"^data.tokenizer: .*{text}"):
        _pattern_name({"normalizer": None, "pre_tokenizer": None, "model": {"ignore_merges": False},
                       **change})


def test_a_tensor_that_gguf_has_not() -> None:
    from heedgrad.gguf_file import gguf_tensors

    with pytest.raises(hg.ConfigError, match="^model.zork.weight: GGUF has no tensor for it"):
        gguf_tensors("llama", {"num_hidden_layers": 1}, {"model.zork.weight": np.zeros(1)})
