"""Where heed is found, and what its failures become."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import heedgrad as hg
import pytest
from conftest import heed
from heedgrad import _program


def test_the_version_is_that_of_the_program() -> None:
    assert heed("--version").split() == ["heedgrad", hg.__version__]


def test_a_program_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEED", "/nowhere/heed")
    with pytest.raises(hg.Error, match="^HEED=/nowhere/heed: expected a program$"):
        hg.layers()


def test_no_program_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEED", raising=False)
    monkeypatch.setattr(_program, "_IN_PACKAGE", tmp_path / "heed")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(hg.Error, match="^heed is not on PATH; set HEED"):
        hg.layers()


def test_the_program_of_the_package_and_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "heed"
    shutil.copy("/bin/sh", path)
    monkeypatch.delenv("HEED", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_program, "_IN_PACKAGE", tmp_path / "none")
    assert _program.program() == str(path)
    monkeypatch.setattr(_program, "_IN_PACKAGE", path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert _program.program() == str(path)


@pytest.mark.parametrize(("script", "text", "code"), [
    ("echo 'heed: out of memory' >&2; exit 1", "^out of memory$", 1),
    ("exit 5", "^heed ended with exit code 5$", 5),
    ("echo '{broken' ; exit 2", "^heed ended with exit code 2$", 2),
    ("kill -9 $$", "heed was ended by signal 9", 1),
])
def test_a_program_that_fails(script: str, text: str, code: int, tmp_path: Path,
                              monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "heed"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("HEED", str(path))
    with pytest.raises(hg.Error) as caught:
        hg.layers()
    assert re.search(text, str(caught.value)) and caught.value.code == code


@pytest.mark.parametrize("program", ["/bin/echo", "/bin/true", "/bin/cat"])
def test_a_program_that_is_not_heed(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEED", program)
    for ask in (hg.layers, lambda: hg.validate("any.yaml"), lambda: hg.train("any.yaml")):
        with pytest.raises(hg.Error):
            ask()


@pytest.mark.parametrize(("prompt", "text"), [
    ("a" * 200_000, "Argument list too long; .* below 128 KiB, .* 200,0.. characters"),
    ("a\0b", "null byte"), ("\ud800", "surrogates")])
def test_a_prompt_that_no_program_can_be_given(prompt: str, text: str, mine: hg.Run) -> None:
    with pytest.raises(hg.Error, match=text):
        mine.generate(prompt)
    with pytest.raises(hg.Error, match=text):
        hg.train("any.yaml", weights=prompt)


def test_what_a_plugin_prints_is_no_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "heed"
    (tmp_path / "config.yaml").write_text("", encoding="utf-8")
    plan = f'{{"event": "plan", "run": "{tmp_path}", "step": 0, "steps": 1, "warnings": []}}'
    end = '{"event": "end", "ending": "finished"}'
    path.write_text(f"#!/bin/sh\necho hello\necho '{plan}'\necho '{end}'\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("HEED", str(path))
    assert hg.train("any.yaml").path == tmp_path
    path.write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    with pytest.raises(hg.Error, match="^heed train ended without a run$"):
        hg.train("any.yaml")
