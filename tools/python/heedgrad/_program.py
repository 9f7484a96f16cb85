"""Finds and runs the program heed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import Error, error_of

Argument = str | os.PathLike[str] | int | float

_IN_PACKAGE = Path(__file__).parent / "_native" / "bin" / "heed"


def program() -> str:
    """The path of heed: ``$HEED``, that of this package, or the one on ``$PATH``."""
    given = os.environ.get("HEED")
    if given:
        found = shutil.which(given)
        if found is None:
            raise Error(f"HEED={given}: expected a program")
        return os.path.abspath(found)
    if _IN_PACKAGE.exists():
        return str(_IN_PACKAGE)
    found = shutil.which("heed")
    if found is None:
        raise Error("heed is not on PATH; set HEED to the program, "
                    "such as HEED=build/release/heed in a checkout")
    return found


def words(arguments: Sequence[Argument]) -> list[str]:
    """The command line of heed with these arguments."""
    return [program(), *(os.fspath(a) if isinstance(a, os.PathLike) else str(a)
                         for a in arguments)]


def options(**values: Argument | bool | None) -> list[Argument]:
    """Options of a command: those that are None or False are left out.

    >>> options(top_k=5, json=True, prompt=None)
    ['--top-k=5', '--json']
    """
    found: list[Argument] = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            found.append(option)
        elif value is not None and value is not False:
            text = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
            found.append(f"{option}={text}")
    return found


def text_of(*arguments: Argument) -> str:
    """Runs heed and returns its standard output. Raises Error, ConfigError or DivergedError."""
    ended = subprocess.run(words(arguments), stdin=subprocess.DEVNULL, capture_output=True)
    if ended.returncode != 0:
        raise failure(ended.stdout, ended.stderr, ended.returncode)
    return ended.stdout.decode("utf-8", "replace")


def json_of(*arguments: Argument, accept: Sequence[int] = (0,)) -> Any:
    """Runs heed with ``--json`` and returns what it prints.

    ``accept`` are the exit codes that have an answer: ``heed gradcheck`` has one with code 1, too.
    """
    ended = subprocess.run(words([*arguments, "--json"]), stdin=subprocess.DEVNULL,
                           capture_output=True)
    if ended.returncode in accept:
        answer = json.loads(ended.stdout)
        if not (isinstance(answer, dict) and "error" in answer):
            return answer
    raise failure(ended.stdout, ended.stderr, ended.returncode)


def failure(out: bytes, err: bytes, code: int) -> Error:
    """The exception for a heed that ended with this exit code and these outputs."""
    try:
        answer = json.loads(out.splitlines()[-1]) if out else {}
    except ValueError:
        answer = {}
    if isinstance(answer, dict) and "error" in answer:
        return error_of(answer)
    text = err.decode("utf-8", "replace").strip()
    if code < 0:
        text = f"{text}\nheed was ended by signal {-code}".strip()
    return error_of({"error": text or f"heed ended with exit code {code}", "code": max(code, 1)})
