"""Finds and runs the program heed."""

from __future__ import annotations

import json
import operator
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ConfigError, Error, error_of

Argument = str | os.PathLike[str] | int | float

_IN_PACKAGE = Path(__file__).parent / "_native" / "bin" / "heed"
_FLAGS = ("adapter", "backward", "estimate", "merge", "overfit_batch", "strict")  # without a value


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


def start(arguments: Sequence[Argument], **how: Any) -> subprocess.Popen[bytes]:
    """Starts heed with these arguments. Raises Error if the system cannot."""
    words = [program(), *(os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in arguments)]
    try:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **how)
    except (OSError, ValueError) as error:  # too long, with a NUL, no Unicode; no program
        longest = max(words, key=len)
        why = getattr(error, "strerror", None) or error
        raise Error(f"cannot start {words[0]}: {why}; Linux takes arguments below 128 KiB, "
                    f"without NUL, the longest here has {len(longest):,} characters") from None


def whole(value: Any, what: str) -> int:
    """The value as an int. Raises ConfigError for a bool, and a float, which int() would cut."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise ConfigError(f"{what}: expected whole numbers, got {value!r}")


def array_of(value: Any, what: str) -> NDArray[Any]:
    """The value as an array. Raises ConfigError for lists that are none, and for texts."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise ConfigError(f"{what}: expected lists of the same length, got others") from None
    if array.dtype.kind in "cOSUmM":
        raise ConfigError(f"{what}: expected real numbers, got {array.dtype}")
    return array


def path_of(path: Any, what: str, expected: str = "a path") -> str:
    """The path as a text. Raises ConfigError for an empty one and what the system cannot name."""
    try:
        text = os.fspath(path)
        if text and isinstance(text, str) and b"\0" not in os.fsencode(text):
            return text
    except (TypeError, UnicodeError):
        pass
    raise ConfigError(f"{what}: expected {expected}, got {path!r}")


def file_text(path: Path, hint: str = "") -> str:
    """The text of a run's file. Raises Error, with the hint, if it is not there."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Error(f"{path}: {error.strerror}{hint}") from None


def options(**values: Any) -> list[Argument]:
    """Options of a command: those that are None are left out, as are flags that are False.

    Raises ConfigError for a value that is no text and no number: a bool is one for flags alone.

    >>> options(ids=[3, 5], top_k=5, strict=True, merge=False, prompt=None)
    ['--ids=3,5', '--top-k=5', '--strict']
    """
    found: list[Argument] = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        is_bool = isinstance(value, (bool, np.bool_))
        if is_bool and name in _FLAGS:
            found += [option] if value else []
        elif value is not None:
            if name == "ids" and hasattr(value, "__iter__") and not isinstance(value, str):
                value = ",".join(str(whole(each, name)) for each in value)
            if is_bool or hasattr(value, "__len__") and not isinstance(value, str):
                raise ConfigError(f"{name}: expected a text or a number, got {value!r}")
            text = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
            found.append(f"{option}={text}")
    return found


def text_of(*arguments: Argument) -> str:
    """Runs heed and returns its standard output. Raises Error, ConfigError or DivergedError."""
    return _output(arguments, (0,)).decode("utf-8", "replace")


def _output(arguments: Sequence[Argument], accept: Sequence[int]) -> bytes:
    with start(arguments, stderr=subprocess.PIPE) as process:
        out, err = process.communicate()
    if process.returncode not in accept:
        raise failure(out, err, process.returncode)
    return out


def json_of(*arguments: Argument, accept: Sequence[int] = (0,)) -> Any:
    """Runs heed with ``--json`` and returns what it prints.

    ``accept`` are the exit codes that have an answer: ``heed gradcheck`` has one with code 1, too.
    """
    out = _output([*arguments, "--json"], accept)
    try:
        answer = json.loads(out)
    except ValueError:
        raise Error(f"{program()}: expected the program heed: its answer is no JSON") from None
    if isinstance(answer, dict) and "error" in answer:
        raise error_of(answer)
    return answer


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
