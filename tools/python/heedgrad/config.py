"""Configs: dicts as YAML files, and values for ``--set``."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

import numpy as np

from ._program import path_of
from .errors import ConfigError

Config = Mapping[str, Any] | str | os.PathLike[str]
Settings = Mapping[str, Any]

# Keys that hold paths. In a dict they are relative to the current folder, as after --set; in a file
# to the folder of the file. (train/config/resolve.cpp has the same list.)
_PATHS = ("data.path", "data.validation", "data.tokenizer.path", "train.weights")
_MARK = "# Written by heedgrad for Python, from a dict; it may be written again.\n"
_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./*-]*")
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no file can hold
_WORDS = {"true", "false", "null", "none", "yes", "no", "on", "off", "nan", "inf"}


def yaml(value: Any, where: str = "config") -> str:
    """A value in one line of YAML, as a config or ``--set`` takes it.

    ``where`` is named if the value is none of a config: those are None, numbers, texts, and lists
    and dicts of them.

    >>> yaml({"type": "adamw", "betas": (0.9, 0.95), "lr": 1e-3})
    '{type: adamw, betas: [0.9, 0.95], lr: 0.001}'
    >>> yaml("a: b"), yaml("no"), yaml(None), yaml(True), yaml(1e-5)
    ('"a: b"', '"no"', 'none', 'true', '1e-05')
    """
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and not _SURROGATE.search(value):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        inside = (f"{_key(k, where)}: {yaml(v, f'{where}.{k}')}" for k, v in value.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (bytes, bytearray, str)):
        return "[" + ", ".join(yaml(v, f"{where}.{i}") for i, v in enumerate(value)) + "]"
    raise ConfigError(f"{where}: expected None, a number, a text of Unicode, a list or a dict, got {value!r}")


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str) or not key:
        raise ConfigError(f"{where}: expected keys that are texts, got {key!r}")
    return yaml(key)


def _lines(part: Mapping[str, Any], indent: str, where: str) -> Iterator[str]:
    for key, value in part.items():
        path = f"{where}.{key}" if where else str(key)
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_key(key, path)}:\n"
            yield from _lines(value, indent + "  ", path)
        else:
            yield f"{indent}{_key(key, path)}: {yaml(value, path)}\n"


def _with_absolute_paths(part: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for key, value in part.items():
        path = f"{where}.{key}" if where else str(key)
        if isinstance(value, Mapping):
            value = _with_absolute_paths(value, path)
        elif path in _PATHS and isinstance(value, (str, os.PathLike)) and os.fspath(value):
            value = os.path.abspath(value)
        elif path in ("plugins", "data.path") and isinstance(value, (list, tuple)):
            value = [os.path.abspath(v) if isinstance(v, (str, os.PathLike)) else v for v in value]
        changed[key] = value
    return changed


def yaml_file(config: Mapping[str, Any], run: str = "runs/NAME") -> str:
    """A config as the text of a YAML file: a key a line, so that mistakes have a line.

    Paths become absolute. ``run`` is named in the first line.

    >>> print(yaml_file({"seed": 1, "model": {"type": "gpt", "num_heads": 2}}, "mine"))
    # heed train mine.yaml
    # Written by heedgrad for Python, from a dict; it may be written again.
    seed: 1
    model:
      type: gpt
      num_heads: 2
    <BLANKLINE>
    """
    return f"# heed train {run}.yaml\n{_MARK}" + "".join(
        _lines(_with_absolute_paths(config), "", ""))


def write_beside(config: Mapping[str, Any], out: Path) -> Path:
    """Writes ``OUT.yaml`` beside the run folder ``OUT``, over one that was written like that."""
    if not out.name:
        raise ConfigError(f"out: expected a folder with a name of its own, got {os.fspath(out)!r}")
    path = out.with_name(out.name + ".yaml")
    if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace")[:500]:
        raise ConfigError(f"{path}: is a config of yours, and would be written over; give another out, or train it")
    text = yaml_file(config, os.fspath(out))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="replace")  # of a name that is no Unicode
    return path


def free_folder(name: str) -> Path:
    """``runs/NAME``, or ``runs/NAME-2`` and so on if there is one already."""
    folder = Path("runs") / name
    number = 2
    while folder.exists():
        folder = Path("runs") / f"{name}-{number}"
        number += 1
    return folder


@contextmanager
def naming_keys(config: object, file: str | os.PathLike[str]) -> Iterator[None]:
    """Mistakes in a dict that was written to the file name its keys: config["data"]["path"]."""
    def named(keys: list[str]) -> str:
        return "config" + "".join(f"[{k}]" if k.isdigit() else f'["{k}"]' for k in keys)

    try:
        yield
    except ConfigError as error:
        text = str(error)
        for m in error.mistakes if isinstance(config, Mapping) else ():
            if m.path and m.file == os.fspath(file):
                line = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")[m.line - 1]
                key = line[m.column - 1:].partition(":")[0].strip('"')
                keys = m.path.split(".")
                if "." in key and m.path.endswith(key):
                    said = f"unknown key with a dot; keys are nested: expected {named(keys)}"
                    text = text.replace(str(m), f"{named([*keys[:-1 - key.count('.')], key])}: {said}")
                text = text.replace(f"{m.file}:{m.line}:{m.column}: {m.path}:", f"{named(keys)}:")
        raise ConfigError(text, error.code, error.mistakes) from None


@contextmanager
def config_file(config: Config) -> Iterator[str]:
    """The path of a config. A dict is written to a temporary file, which stays if heed finds
    mistakes in it, so that it can be opened."""
    if not isinstance(config, Mapping):
        yield path_of(config, "config", "a dict or a path")
        return
    folder = Path(tempfile.mkdtemp(prefix="heedgrad-"))
    path = folder / "config.yaml"
    try:
        path.write_text(yaml_file(config, "config"), encoding="utf-8")
        with naming_keys(config, path):
            yield os.fspath(path)
    except ConfigError as error:
        if any(mistake.file == os.fspath(path) for mistake in error.mistakes):
            raise
        _remove(path)
        raise
    except BaseException:
        _remove(path)
        raise
    _remove(path)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.rmdir()


def as_dict(settings: Any, what: str) -> Settings:
    """The values, none for None. Raises ConfigError for what is no dict."""
    if settings is not None and not isinstance(settings, Mapping):
        raise ConfigError(f"{what}: expected a dict of keys and values, got {settings!r}")
    return settings or {}


def set_arguments(settings: Settings | None) -> list[str]:
    """``{"seed": 1}`` as arguments of a command.

    >>> set_arguments({"seed": 1, "model.dropout": 0.1})
    ['--set=seed=1', '--set=model.dropout=0.1']
    """
    return [f"--set={_key(key, 'set')}={yaml(value, str(key))}" for key, value in as_dict(settings, "set").items()]
