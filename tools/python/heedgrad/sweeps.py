"""Sweeps: the same config with other values and seeds, several runs at a time."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np

from . import _program
from ._program import path_of, whole
from .config import Config, Settings, as_dict, naming_keys, set_arguments, yaml, yaml_file
from .errors import ConfigError, DivergedError, Error, Interrupted
from .progress import progress_bar
from .run import Run
from .table import Table
from .training import Training


class Sweep(Table):
    """The mean and the deviation of each setting, over the seeds: a row for each setting.

    Columns: what was varied; ``runs``, how many have ended well; and the mean and the standard
    deviation (of a sample: n - 1; NaN for one run) of the last ``val_loss``, of the lowest one, and
    of the last ``loss``. ``each`` has a row for each run, with its folder.
    """

    each: Table

    def run(self, **values: Any) -> Run:
        """The run with these values: ``sweep.run(seed=1, **{"model.num_heads": 2})``."""
        found = [row for row in self.each if all(row.get(key) == value for key, value in values.items())]
        if len(found) != 1:
            raise Error(f"expected values of one run, got {values}, which {len(found)} runs have")
        return Run(found[0]["run"])


def sweep(base: Config, vary: Mapping[str, Sequence[Any]] | None = None,
          seeds: Sequence[int] = (123,), jobs: int = 1, *,
          out: str | os.PathLike[str] = "runs/sweep", set: Settings | None = None,
          threads: int | None = None, progress: bool | None = None) -> Sweep:
    """Trains a config with all combinations of values, each with every seed.

    ``vary``: values for keys of the config, ``{"model.num_heads": [1, 2, 4]}``. ``jobs``: how many
    runs at a time. ``threads``: of each; by default the cores are divided. ``out``: the folder of
    the sweep, one run folder for each run in it; ``set``: values for all of them.

    Each run is that of ``heed train BASE --set KEY=VALUE --set seed=SEED``, bit by bit. A sweep
    that was interrupted, by Ctrl-C or in any other way, goes on when the same call is made again:
    runs that are done are read, others resumed. Values and seeds may be added. A run that diverges
    is a row without losses. Raises ConfigError if one of the configs is wrong, Error if the folder
    has a sweep over another config, Interrupted after Ctrl-C, when all runs have saved.

    >>> import heedgrad as hg
    >>> base = {"data": {"type": "copy", "length": 4},
    ...         "model": {"type": "encoder_decoder", "d_model": 8, "num_layers": 1},
    ...         "train": {"steps": 4, "batch_size": 4}, "eval": {"every": 4, "batches": 1}}
    >>> table = hg.sweep(base, vary={"model.num_heads": [1, 2]}, seeds=[1, 2], jobs=2)
    >>> table.columns()[:3], table.column("runs")
    (['model.num_heads', 'runs', 'val_loss'], [2, 2])
    """
    folder = Path(path_of(out, "out"))
    set = as_dict(set, "set")
    vary = {key: _values(key, values) for key, values in as_dict(vary, "vary").items()}
    seeds = [whole(seed, "seeds") for seed in _values("seeds", seeds)]
    if whole(jobs, "jobs") < 1:
        raise ConfigError(f"jobs: expected at least 1, got {jobs}")
    keys = [*vary, "seed"]
    for number, key in enumerate(keys):
        for other in [*set, *keys[:number], *keys[number + 1:]]:
            if f"{other}.".startswith(f"{key}."):
                raise ConfigError(f"sweep: {key} would replace {other}: expected each value in one place, "
                                  "and seeds in seeds=")
    settings = [dict(zip(vary, values)) for values in itertools.product(*vary.values())]
    wanted = [{**setting, "seed": seed} for setting in settings for seed in seeds]
    names = [_name(values) for values in wanted]
    for key, values in [*vary.items(), ("seed", [seed % 2**32 for seed in seeds])]:
        for number, value in enumerate(values):
            if any(_same(value, other) for other in values[:number]):
                raise ConfigError("sweep: expected different values, and seeds that differ in their "
                                  f"low 32 bits, got {key}={value} twice")
    config = _base(base, folder, set)
    if threads is None:
        threads = max(1, (os.cpu_count() or 1) // max(1, jobs))
    work = [_Work(values, folder / name, [config, *set_arguments({**set, **values})], threads)
            for values, name in zip(wanted, names)]
    for each in work:  # all mistakes before any run
        with naming_keys(base, config):
            _program.json_of("validate", *each.config)
    _in_parallel(work, jobs, progress)
    return _table([each.row() for each in work], list(vary))


def _values(key: str, values: Any) -> list[Any]:
    found = [] if isinstance(values, str) or not hasattr(values, "__iter__") else list(values)
    if not found:
        raise ConfigError(f"{key}: expected a list of one value or more, got {values!r}")
    return found


def _same(a: Any, b: Any) -> bool:
    """Whether two values mean the same in a config: 1 and 1.0 do, 1 and True do not."""
    return type(a) is type(b) and bool(a == b) or ({type(a), type(b)} == {int, float} and bool(a == b))


def _base(base: Config, folder: Path, set: Settings) -> str:
    """The config's path. The folder keeps its text, to know the sweep again."""
    if isinstance(base, Mapping):
        path, text = os.fspath(folder / "base.yaml"), yaml_file(base, os.fspath(folder / "base"))
    else:
        path = path_of(base, "base", "a dict or a path")
        text = Path(path).read_text(encoding="utf-8") if os.path.exists(path) else path
    known = folder / "sweep.json"
    wanted = {"config": text, "set": {key: yaml(value, key) for key, value in set.items()}}
    try:
        for above in Path(os.path.realpath(folder), "new").parents:
            left = (above / "metrics.csv").exists() or (above / "checkpoints").exists()
            if left and (above / "config.yaml").exists():
                raise Error(f"{folder}: expected a folder for a sweep, got one in the run {above}")
        folder.mkdir(parents=True, exist_ok=True)
        if known.exists() and json.loads(known.read_text(encoding="utf-8")) != wanted:
            raise Error(f"{known}: this folder has a sweep over another config or another set=; give another out")
    except (OSError, ValueError) as error:
        raise Error(f"{folder}: expected a folder for a sweep: {error}") from None
    if not known.exists() and (folder / "base.yaml").exists():
        raise Error(f"{folder}/base.yaml: is there, and no sweep wrote it; give another out")
    if isinstance(base, Mapping):
        Path(path).write_text(text, encoding="utf-8")
    known.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    return path


def _name(values: Mapping[str, Any]) -> str:
    """The name of a run's folder: its values, with a hash of them if they are no names or long.

    >>> _name({"model.num_heads": 2, "seed": 1})
    'model.num_heads=2,seed=1'
    >>> _name({"data.path": "texts/a.txt", "seed": 1})
    'data.path=texts_a.txt,seed=1~4f5f568803c1d148'
    """
    words = [f"{key}={yaml(value, key)}" for key, value in values.items()]
    name = ",".join(re.sub(r"[^A-Za-z0-9._=+-]", "_", word) for word in words)
    if name == ",".join(words) and len(name) <= 150:
        return name
    return f"{name[:150]}~{hashlib.sha256(repr(words).encode()).hexdigest()[:16]}"


class _Work:
    """One run of a sweep."""

    def __init__(self, values: Mapping[str, Any], folder: Path, config: list[str], threads: int) -> None:
        self.values = dict(values)
        self.folder = folder
        self.config = config  # and its values, as arguments of a command
        self._threads = threads
        self._training: Training | None = None
        self._stopped = False
        self.diverged = False

    def train(self) -> None:
        """Begins the run or goes on with it. One that is done takes a moment, and changes
        nothing."""
        if self._stopped:
            return
        begun = (self.folder / "config.yaml").exists()
        lock = self.folder / ".lock"
        if not begun and lock.exists() and list(self.folder.iterdir()) == [lock]:
            lock.unlink()  # of a process that was killed before it wrote anything
        how = [f"--resume={self.folder}"] if begun else [*self.config, f"--out={self.folder}"]
        self._training = Training([*how, f"--threads={self._threads}"])
        if self._stopped:  # meanwhile
            self._training.interrupt()
        try:
            self._training.follow(lambda event: None)
        except DivergedError:
            self.diverged = True
        finally:
            self._training.close()

    def stop(self) -> None:
        """Lets the run save and end, or keeps it from beginning."""
        self._stopped = True
        if self._training is not None:
            self._training.interrupt()

    def row(self) -> dict[str, Any]:
        """The values and the losses (nats)."""
        losses = {"val_loss": float("nan"), "best_val_loss": float("nan"), "loss": float("nan")}
        if not self.diverged:
            metrics = Run(self.folder).metrics()
            measured = metrics.measured("val_loss")[1]
            losses = {"val_loss": metrics.last("val_loss"),
                      "best_val_loss": float(measured.min()) if len(measured) else float("nan"),
                      "loss": metrics.last("loss")}
        return {**self.values, **losses, "diverged": self.diverged, "run": os.fspath(self.folder)}


def _in_parallel(work: list[_Work], jobs: int, progress: bool | None) -> None:
    bar = progress_bar(progress, unit="run")
    bar.begin(0, len(work))
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        waiting: set[Future[None]] = {pool.submit(each.train) for each in work}
        try:
            while waiting:
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                bar.advance(len(ended))
                for future in ended:
                    future.result()
        except BaseException as error:
            for each in work:
                each.stop()
            wait(waiting)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted("interrupted, all runs have saved; "
                                  "the same call goes on with them") from None
            raise
        finally:
            bar.end()


def _table(rows: list[dict[str, Any]], varied: list[str]) -> Sweep:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(repr([row[key] for key in varied]), []).append(row)
    table = Sweep()
    for group in groups.values():
        well = [row for row in group if not row["diverged"]]
        entry: dict[str, Any] = {key: group[0][key] for key in varied}
        entry["runs"] = len(well)
        for loss in ("val_loss", "best_val_loss", "loss"):
            values = np.array([row[loss] for row in well])
            entry[loss] = float(values.mean()) if len(values) else float("nan")
            entry[f"{loss}_deviation"] = (float(values.std(ddof=1)) if len(values) > 1 else float("nan"))
        table.append(entry)
    table.each = Table(rows)
    return table
