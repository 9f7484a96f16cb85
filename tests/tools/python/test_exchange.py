"""The keys that peft and transformers write, against those that heed knows. Skips without them."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from heedgrad import _program

# Keys of the other two that heed refuses if they say something, whatever that is.
REFUSED = {"alora_invocation_tokens", "arrow_config", "corda_config", "kasa_config",
           "layer_replication", "loftq_config", "lora_bias", "lora_ga_config", "megatron_config",
           "modules_to_save", "monteclora_config", "target_parameters", "trainable_token_indices",
           "use_bdlora", "use_dora", "use_qalora", "velora_config"}
# Of transformers: what only models that heed does not read have.
OTHER_MODELS = {"cross_attention_hidden_size", "pruned_heads", "quantization_config"}


def test_every_key_of_peft_is_in_the_table() -> None:
    peft = pytest.importorskip("peft")
    page = (ROOT / "tools/extras/hugging_face/README.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(\w+)`", page)) | REFUSED
    names = {field.name for field in dataclasses.fields(peft.LoraConfig)}
    assert len(names) > 20 and names - known == set()


def said_of(config: dict[str, Any], folder: Path) -> str:
    """The message about a folder with this config.json and no weights."""
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return subprocess.run([_program.program(), "import", folder, "--out", "run"], check=False,
                          capture_output=True, text=True).stderr


@pytest.mark.parametrize("kind", ["gpt2", "gpt_neox", "llama", "qwen3"])
def test_every_key_of_transformers_is_known(kind: str, place: Path) -> None:
    transformers = pytest.importorskip("transformers")
    usual = transformers.AutoConfig.for_model(kind).to_dict()
    assert len(usual) > 20
    unknown = {key for key in usual if key not in OTHER_MODELS
               and "does not know" in said_of({"model_type": kind, key: usual[key] or 7}, place)}
    assert unknown == set()
    assert "warp: heed does not know" in said_of({"model_type": kind, "warp": 7}, place)
