"""Models as GGUF files, which llama.cpp and programs built on it read, by the package gguf."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from ._optional import optional
from ._program import path_of
from .errors import ConfigError, Error
from .run import Run

Array = NDArray[Any]

# The function of a feed-forward that each architecture of llama.cpp computes, under its name in
# config.json and in a config of heed. ggml's gelu is the one by tanh.
_ACTIVATIONS = {"gpt2": ("gelu_new", "gelu_tanh"), "gpt_neox": ("gelu_new", "gelu_tanh"),
                "llama": ("silu", "silu"), "qwen3": ("silu", "silu")}
_MARK = "heedgrad.step"  # the key of every file
_NAMES = {"gpt2": "gpt2", "gpt_neox": "gptneox", "llama": "llama", "qwen3": "qwen3"}

# Where the pieces of a byte pair encoding end, under llama.cpp's names. The names say too whether a
# piece that is a token is taken as it is (ignore_merges).
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_PATTERNS: dict[str, dict[bool, str]] = {
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+":
        {True: "llama-bpe", False: "dbrx"},
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+": {False: "qwen2"},
    _GPT2: {False: "gpt-2"},
}


def to_gguf(run: Run | str | os.PathLike[str], file: str | os.PathLike[str], *, merge: bool = False) -> Path:
    """Writes a trained gpt with its tokenizer as a GGUF file, in float32.

    Models are those of ``heed export``: gpt2, gpt_neox, llama and qwen3, and what llama.cpp computes
    for them: gelu_tanh for the first two, silu for the others. Tokenizers are byte pair encodings,
    characters and bytes. Anything else is refused by the field's name, with a ConfigError. A
    model without a tokenizer becomes a file without one. ``merge``: of a run with ``train.lora``,
    the base with what was learned in it. Needs the package gguf.

    >>> import heedgrad as hg
    >>> path = hg.to_gguf("runs/mine", "mine.gguf")
    """
    gguf = optional("gguf", "to_gguf")
    run, path = Run(run), Path(path_of(file, "file"))
    if not path.parent.is_dir():
        raise Error(f"{path}: there is no folder {path.parent}")
    _require_ours(path)
    with tempfile.TemporaryDirectory(prefix="heedgrad-") as folder:
        exported = run.export(Path(folder) / "model", merge=merge)
        config = json.loads((exported / "config.json").read_text(encoding="utf-8"))
        tensors = load_file(exported / "model.safetensors")
        tokenizer = exported / "tokenizer.json"
        tokens = json.loads(tokenizer.read_text(encoding="utf-8")) if tokenizer.exists() else None
    kind = config["model_type"]
    _require_sayable(kind, config)
    _require_tokenizer(run.config, tokens)
    partial = path.with_name(path.name + ".part")
    writer = gguf.GGUFWriter(partial, _NAMES[kind])
    try:
        writer.add_uint32(_MARK, run.step)
        writer.add_name(run.path.resolve().name)
        writer.add_file_type(gguf.LlamaFileType.ALL_F32)
        _SIZES[kind](writer, config)
        _write_tokenizer(gguf, writer, tokens, config)
        for name, array in gguf_tensors(kind, config, tensors).items():
            writer.add_tensor(name, np.ascontiguousarray(array, np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    except BaseException:
        writer.close()
        partial.unlink(missing_ok=True)
        raise
    writer.close()
    partial.replace(path)
    return path


def _require_ours(path: Path) -> None:
    """Refuses to replace a file that no call of to_gguf has written."""
    try:
        with path.open("rb") as file:
            begin = file.read(4096)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from None
    if begin and _MARK.encode() not in begin:
        raise Error(f"{path}: is there, and nothing in it says that heed made it; give another file")


def _require_tokenizer(config: str, tokens: dict[str, Any] | None) -> None:
    """Refuses a run whose tokenizer heed export has no file for."""
    has = re.search(r"^data:\n(?:  .*\n)*?  tokenizer:\s+(?:type: )?(\S+)$", config, re.MULTILINE)
    if tokens is None and has is not None:
        raise ConfigError("data.tokenizer: expected bpe, char or byte, which GGUF has, got "
                          f"{has.group(1)}")


def _require_sayable(kind: str, config: dict[str, Any]) -> None:
    key = "activation_function" if kind == "gpt2" else "hidden_act"
    theirs, ours = _ACTIVATIONS[kind]
    if config[key] != theirs:
        used = config["heedgrad"]["model"]["activation"] if "heedgrad" in config else config[key]
        raise ConfigError("model.activation: GGUF has no key for it, and llama.cpp computes "
                          f"{ours} for {_NAMES[kind]}; got {used}")
    if not config.get("scale_attn_weights", True):
        raise ConfigError("model.attention.scale: GGUF has no key for it; expected auto, "
                          "1 / sqrt(head width)")


def _sizes(writer: Any, layers: int, width: int, heads: int, context: int, hidden: int, vocabulary: int) -> None:
    writer.add_block_count(layers)
    writer.add_embedding_length(width)
    writer.add_head_count(heads)
    writer.add_context_length(context)
    writer.add_feed_forward_length(hidden)
    writer.add_vocab_size(vocabulary)


def _gpt2_sizes(writer: Any, c: dict[str, Any]) -> None:
    _sizes(writer, c["n_layer"], c["n_embd"], c["n_head"], c["n_positions"], c["n_inner"], c["vocab_size"])
    writer.add_layer_norm_eps(c["layer_norm_epsilon"])


def _rotary_sizes(writer: Any, c: dict[str, Any]) -> None:
    _sizes(writer, c["num_hidden_layers"], c["hidden_size"], c["num_attention_heads"],
           c["max_position_embeddings"], c["intermediate_size"], c["vocab_size"])
    parameters = c.get("rope_parameters") or {}
    if parameters.get("rope_type", "default") != "default":
        raise ConfigError("model.attention.rope_scaling: GGUF has it as a tensor of factors, which "
                          "is not written; expected factor 1")
    width = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    writer.add_rope_dimension_count(int(width * parameters.get("partial_rotary_factor", 1)))
    writer.add_rope_freq_base(float(c.get("rope_theta") or c.get("rotary_emb_base") or parameters["rope_theta"]))


def _gpt_neox_sizes(writer: Any, c: dict[str, Any]) -> None:
    _rotary_sizes(writer, c)
    writer.add_layer_norm_eps(c["layer_norm_eps"])
    writer.add_parallel_residual(c["use_parallel_residual"])


def _llama_sizes(writer: Any, c: dict[str, Any]) -> None:
    _rotary_sizes(writer, c)
    writer.add_layer_norm_rms_eps(c["rms_norm_eps"])
    writer.add_head_count_kv(c["num_key_value_heads"])
    writer.add_key_length(c["head_dim"])
    writer.add_value_length(c["head_dim"])


_SIZES: dict[str, Callable[[Any, dict[str, Any]], None]] = {
    "gpt2": _gpt2_sizes, "gpt_neox": _gpt_neox_sizes, "llama": _llama_sizes,
    "qwen3": _llama_sizes}


def gguf_tensors(kind: str, config: dict[str, Any], tensors: dict[str, Array]) -> dict[str, Array]:
    """The tensors of a Hugging Face folder under GGUF's names and in its layout.

    A matrix is (out, in). gpt2 stores (in, out) in Hugging Face's files; gpt_neox has its queries,
    keys and values head after head there, and all queries, all keys, all values here; llama.cpp
    rotates neighbours of a llama's query, where the others rotate i with i + d/2.
    """
    gguf = optional("gguf", "to_gguf")
    layers = config.get("n_layer") or config["num_hidden_layers"]
    names = gguf.get_tensor_name_map(
        {"gpt2": gguf.MODEL_ARCH.GPT2, "gpt_neox": gguf.MODEL_ARCH.GPTNEOX,
         "llama": gguf.MODEL_ARCH.LLAMA, "qwen3": gguf.MODEL_ARCH.QWEN3}[kind], layers)
    found = {}
    for name, array in tensors.items():
        their_name = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if their_name is None:
            raise ConfigError(f"{name}: GGUF has no tensor for it in {_NAMES[kind]}")
        found[their_name] = _laid_out(kind, config, name, array)
    if kind == "gpt_neox":  # alone among the four, llama.cpp does not take the embedding for it
        found.setdefault("output.weight", found["token_embd.weight"])
    return found


def _laid_out(kind: str, config: dict[str, Any], name: str, array: Array) -> Array:
    part = name.split(".")[-2]
    laid_out = array
    if kind == "gpt2" and part in ("c_attn", "c_proj", "c_fc") and array.ndim == 2:
        laid_out = array.T
    if kind == "gpt_neox" and part == "query_key_value":
        split = array.reshape(config["num_attention_heads"], 3, -1, *array.shape[1:])
        laid_out = split.swapaxes(0, 1).reshape(array.shape)
    if kind == "llama" and part in ("q_proj", "k_proj"):
        heads = config["num_attention_heads" if part == "q_proj" else "num_key_value_heads"]
        halves = array.reshape(heads, 2, -1, *array.shape[1:])
        laid_out = halves.swapaxes(1, 2).reshape(array.shape)
    return laid_out


def _write_tokenizer(gguf: Any, writer: Any, tokenizer: dict[str, Any] | None, config: dict[str, Any]) -> None:
    if tokenizer is None:
        writer.add_tokenizer_model("none")
        return
    model = tokenizer["model"]
    added = {entry["id"]: entry for entry in tokenizer["added_tokens"]}
    texts = {id: text for text, id in model["vocab"].items()}
    texts.update({id: entry["content"] for id, entry in added.items()})
    kinds = []
    ordered = []
    for id in range(config["vocab_size"]):
        special = id in added and added[id]["special"]
        kinds.append(gguf.TokenType.CONTROL if special else
                     gguf.TokenType.USER_DEFINED if id in added else
                     gguf.TokenType.NORMAL if id in texts else gguf.TokenType.UNUSED)
        ordered.append(texts.get(id, f"[PAD{id}]"))
    if model["merges"]:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(_pattern_name(tokenizer))
        writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]])
    else:  # a token for each character or byte: RWKV's has no merges, the longest token wins
        writer.add_tokenizer_model("rwkv")
        to_byte = _bytes_of_letters()
        ordered = [text if id in added or id not in texts else
                   repr(bytes(to_byte[letter] for letter in text))[2:-1]
                   for id, text in enumerate(ordered)]
    writer.add_token_list(ordered)
    writer.add_token_types(kinds)
    ends = config["eos_token_id"]
    if ends is not None:
        writer.add_eos_token_id(ends[0] if isinstance(ends, list) else ends)
    begins = tokenizer["post_processor"] is not None
    if begins:
        writer.add_bos_token_id(config["bos_token_id"])
    writer.add_add_bos_token(begins)


def _pattern_name(tokenizer: dict[str, Any]) -> str:
    """llama.cpp's name of the pattern. Raises ConfigError for a tokenizer that it does not have."""
    if tokenizer["normalizer"] is not None:
        raise ConfigError("data.tokenizer: changes the text before it is cut "
                          f"({tokenizer['normalizer']['type']}), which GGUF has no key for")
    cutters = tokenizer["pre_tokenizer"]
    cutters = cutters.get("pretokenizers", [cutters])
    if any(cutter.get("add_prefix_space") for cutter in cutters):
        raise ConfigError("data.tokenizer: begins a text with a blank (add_prefix_space), which "
                          "GGUF has no key for")
    pattern = ""
    if [cutter["type"] for cutter in cutters] == ["ByteLevel"] and cutters[0]["use_regex"]:
        pattern = _GPT2
    if [cutter["type"] for cutter in cutters] == ["Split", "ByteLevel"]:
        pattern = cutters[0]["pattern"].get("Regex", "")
    name = _PATTERNS.get(pattern, {}).get(tokenizer["model"]["ignore_merges"])
    if name is not None:
        return name
    raise ConfigError("data.tokenizer: llama.cpp has no name for the pattern by which it cuts a "
                      f"text: {json.dumps(tokenizer['pre_tokenizer'])}")


def _bytes_of_letters() -> dict[str, int]:
    """The letter that stands for each byte in a tokenizer.json: itself if it can be printed.

    >>> letters = _bytes_of_letters()
    >>> len(letters), letters["a"], letters["Ġ"], letters["Ċ"]
    (256, 97, 32, 10)
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in printable}
    for byte in range(256):
        if byte not in printable:
            letters[chr(256 + len(letters) - len(printable))] = byte
    return letters
