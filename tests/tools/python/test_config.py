"""Dicts as configs, and what is refused before heed is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import heedgrad as hg
import numpy as np
import pytest
from conftest import small
from heedgrad.config import set_arguments, yaml, yaml_file


@pytest.mark.parametrize(("value", "text"), [
    (3, "3"), (1e-5, "1e-05"), (True, "true"), (None, "none"), ("gpt", "gpt"),
    ("a: b", '"a: b"'), ("3", '"3"'), ("true", '"true"'), ("", '""'), ("*W_query", '"*W_query"'),
    ("\n", '"\\n"'), ((1, 2), "[1, 2]"), (np.float64(0.5), "0.5"), (np.array([1, 2]), "[1, 2]"),
    (Path("a/b.txt"), "a/b.txt"), ({"type": "sgd", "lr": 0.1}, "{type: sgd, lr: 0.1}"), ({}, "{}"),
])
def test_values(value: object, text: str) -> None:
    assert yaml(value) == text


@pytest.mark.parametrize("value", [object(), float("nan"), float("inf"), b"bytes", {1: 2},
                                   {"": 1}, [object()]])
def test_values_that_a_config_cannot_hold(value: object) -> None:
    with pytest.raises(hg.ConfigError, match=r"^model\.x"):
        yaml({"x": value}, "model")


def test_every_value_of_a_dict_is_read_as_it_was_given(place: Path) -> None:
    config = small(sample={"every": 20, "prompt": "\n", "tokens": 3},
                   train={"steps": 2, "batch_size": 4, "clip_grad_norm": None,
                          "freeze": ["tok_emb.*"]})
    run = hg.train(config, out="runs/a")
    for line in ("  clip_grad_norm: none", '  freeze: [tok_emb.*]', '  prompt: "\\n"', "  lr: 0.003"):
        assert line in run.config.splitlines()


def test_paths_of_a_dict_are_those_of_the_current_folder(place: Path) -> None:
    text = yaml_file({"data": {"path": "my.txt", "tokenizer": {"type": "bpe", "path": "t.json"}},
                      "train": {"weights": "runs/a"}, "plugins": ["liblayer.so"]})
    for name in ("my.txt", "t.json", "runs/a", "liblayer.so"):
        assert str(place / name) in text


def test_a_config_of_the_user_is_not_written_over(write: Callable[[str, str], Path]) -> None:
    write("runs/a.yaml", "seed: 1\n")
    with pytest.raises(hg.ConfigError, match=r"^runs/a\.yaml: is a config of yours"):
        hg.train(small(), out="runs/a")
    assert Path("runs/a.yaml").read_text(encoding="utf-8") == "seed: 1\n"


def test_set_arguments() -> None:
    assert set_arguments(None) == []
    assert set_arguments({"model.activation": "gelu", "seed": 3}) == ["--set=model.activation=gelu", "--set=seed=3"]
