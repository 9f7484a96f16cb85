"""The examples of all docstrings, and those of the page, as they are written."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import heedgrad as hg
import pytest
from conftest import ROOT

MODULES = ["heedgrad", *(f"heedgrad.{module.name}" for module in pkgutil.iter_modules(hg.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str, mine: hg.Run) -> None:
    if name.endswith("gguf_file"):
        pytest.importorskip("gguf")
    if name.endswith("tensorboard_logs"):
        pytest.importorskip("tensorboardX")
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [example for name in MODULES
                for test in finder.find(importlib.import_module(name)) for example in test.examples]
    assert len(examples) > 60


def test_every_public_name_is_documented() -> None:
    for name in hg.__all__:
        thing = getattr(hg, name)
        assert thing.__doc__, name
        for method, member in vars(thing).items() if isinstance(thing, type) else []:
            if callable(member) and not method.startswith("_"):
                assert member.__doc__, f"{name}.{method}"


def test_page(place: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("gguf")
    pytest.importorskip("tensorboardX")
    text = (ROOT / "configs" / "data" / "tinyshakespeare.txt").read_text(encoding="utf-8")
    Path("my.txt").write_text(text[:20000], encoding="utf-8")
    page = (ROOT / "tools" / "python" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert Path("mine.gguf").exists() and Path("logs").exists()
