"""The notebooks are what the script writes, and run from top to bottom."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOKS = ROOT / "tools" / "python" / "notebooks"


def test_they_are_what_the_script_writes() -> None:
    script = ROOT / "tools" / "python" / "notebooks.py"
    assert subprocess.run([sys.executable, script, "--check"]).returncode == 0


NAMES = ["chapter_3", "your_text", "induction", "gradients"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored(name: str) -> None:
    """Outputs of every cell that has some: small, without a bar's lines."""
    path = NOTEBOOKS / f"{name}.ipynb"
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"]
             if cell["cell_type"] == "code"]
    shown = [output for cell in cells for output in cell["outputs"]]
    assert all(cell["execution_count"] for cell in cells)
    assert sum("image/svg+xml" in output.get("data", {}) for output in shown) >= 2
    assert not any(output.get("name") == "stderr" or output["output_type"] == "error"
                   for output in shown)
    assert path.stat().st_size < 250_000


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tools" / "python"))
    if "HEED" in os.environ:
        monkeypatch.setenv("HEED", os.path.abspath(os.environ["HEED"]))
    book = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)
    begin = time.monotonic()
    nbclient.NotebookClient(book, timeout=110, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert time.monotonic() - begin < 120
    kept = os.environ.get("HEEDGRAD_NOTEBOOKS")  # a folder for them, to be looked at
    if kept:
        nbformat.write(book, Path(kept) / f"{name}.ipynb")
    shown = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = [output.get("data", {}) for output in shown]
    assert sum("image/svg+xml" in kind for kind in kinds) >= 2  # losses, attention
    if name != "chapter_3":
        assert sum(str(kind.get("text/html")).startswith("<iframe") for kind in kinds) == 1
    if name == "induction":
        [heads] = [text(output) for output in shown if "induction" in text(output)]
        shares = [float(row.split()[5]) for row in heads.splitlines()[1:]]
        assert shares[0] < 0.3 and shares[1] > 0.5


def text(output: Any) -> str:
    """The plain text of an output."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(output.get("data", {}).get("text/plain", "")))
