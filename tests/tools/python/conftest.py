"""A folder of its own for each test, with a text and a small trained run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "python"))

import heedgrad as hg  # noqa: E402
from heedgrad import _program  # noqa: E402

TEXT = "the cat sat on the mat and the dog ate the cat food today\n" * 100


def small(**changes: Any) -> dict[str, Any]:
    """A config of a gpt that trains in a moment: sections may be replaced."""
    config: dict[str, Any] = {
        "seed": 1,
        "data": {"type": "text", "path": "my.txt"},
        "model": {"type": "gpt", "context_length": 16, "d_model": 16, "num_heads": 2,
                  "num_layers": 2},
        "optimizer": {"type": "adamw", "lr": 3e-3},
        "train": {"steps": 40, "batch_size": 4, "log_every": 10},
        "eval": {"every": 20, "batches": 2},
        "sample": {"every": 20, "prompt": "the", "tokens": 10},
    }
    return {**config, **changes}


def heed(*arguments: object) -> str:
    """The standard output of the program itself."""
    return subprocess.run([_program.program(), *map(str, arguments)], check=True,
                          capture_output=True, text=True).stdout


def weights_of(run: hg.Run) -> bytes:
    """The bytes of the newest weights."""
    return (run.checkpoint / "model.safetensors").read_bytes()


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with my.txt and runs/mine."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "my.txt").write_text(TEXT, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        hg.train(small(), out="runs/mine")
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with my.txt."""
    (tmp_path / "my.txt").write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mine(place: Path, trained: Path) -> hg.Run:
    """A trained run, runs/mine of the current folder."""
    shutil.copytree(trained / "runs", place / "runs")
    return hg.Run("runs/mine")


@pytest.fixture
def write(place: Path) -> Callable[[str, str], Path]:
    """Writes a file into the current folder."""

    def write_file(name: str, text: str) -> Path:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file
