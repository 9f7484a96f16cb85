"""gradcheck, tour, layers, validate."""

from __future__ import annotations

import json
from pathlib import Path

import heedgrad as hg
import numpy as np
import pytest
from conftest import heed, small
from heedgrad.config import config_file


def test_gradcheck() -> None:
    check = hg.gradcheck("linear")
    assert check == json.loads(heed("gradcheck", "linear", "--json"))
    assert check and repr(check).endswith(", all passed")
    assert check.table().columns()[:2] == ["layer", "options"]


def test_gradcheck_that_fails(place: Path) -> None:
    check = hg.gradcheck("linear", tolerance=1e-30)
    assert not check and "FAILED linear, " in repr(check)
    check["findings"] = [{"layer": "linear", "what": "threads", "passed": False, "message": "other bits"}]
    assert "FAILED linear, threads: other bits" in repr(check)


def test_gradcheck_of_a_config(place: Path) -> None:
    tiny = small(model={"type": "gpt", "context_length": 4, "d_model": 4, "num_heads": 1, "num_layers": 1})
    assert hg.gradcheck(tiny, {"model.num_heads": 2}, threads=1)


def test_tour() -> None:
    numbers = hg.tour("causal")
    printed = json.loads(heed("tour", "causal", "--json"))
    assert list(numbers) == list(printed)
    assert numbers["causal.masked_scores"][0, 1] == -np.inf
    assert np.array_equal(numbers["causal.weights"], printed["causal.weights"])
    assert f"{numbers}\n" == heed("tour", "causal") == f"{numbers!r}\n"
    assert list(hg.tour(16)) == list(numbers)
    other = hg.tour("causal", seed=5)
    assert not np.array_equal(other["causal.weights"], numbers["causal.weights"])
    assert hg.tour("scores", x=np.eye(3))["simple.scores_2"].shape == (3,)
    assert len(hg.tour()) >= 35
    planted = hg.tour("planted_mistakes")  # sentences are in its text
    assert planted["planted_mistakes.softmax_wrong"].shape == (5, 5)
    assert "planted_mistakes.softmax_says" not in planted and "gradcheck:" in planted.text


def test_layers() -> None:
    everything = hg.layers()
    assert everything == json.loads(heed("layers", "--json"))
    assert f"{hg.layers('linear')!r}\n" == heed("layers", "linear")


def test_validate(place: Path) -> None:
    plan = hg.validate(small(), {"train.steps": 7})
    assert plan["steps"] == 7 and plan["warnings"] == [] and plan["tokens_per_step"] == 64
    assert hg.train(small(), "runs/a", set={"train.steps": 7})
    assert "steps: 7" in repr(plan).splitlines()
    odd = small(schedule={"type": "constant", "warmup_steps": 50})
    [warning] = hg.validate(odd)["warnings"]
    assert f"warning: {warning}" in repr(hg.validate(odd))
    with pytest.raises(hg.ConfigError, match="warmup_steps"):
        hg.validate(odd, strict=True)
    plan = hg.validate("runs/a.yaml")
    said = heed("train", "runs/a.yaml", "--dry-run", "--json")
    assert {"event": "plan", **plan, "memory_bytes": 0} == {**json.loads(said), "memory_bytes": 0}


def test_files_of_dicts_do_not_stay(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    hg.validate(small())
    with pytest.raises(ZeroDivisionError), config_file(small()):
        raise ZeroDivisionError
    with pytest.raises(hg.ConfigError):
        hg.validate({"model": {1: 2}})
    with pytest.raises(hg.ConfigError):
        hg.validate(small(), {"model.x": 1})
    with pytest.raises(hg.Error, match="tolerance"):
        hg.gradcheck(small(), tolerance=-1)
    assert list(folder.iterdir()) == []
    with pytest.raises(hg.ConfigError):
        hg.validate(small(model={"type": "gtp"}))
    [left] = folder.iterdir()
    assert (left / "config.yaml").exists()
