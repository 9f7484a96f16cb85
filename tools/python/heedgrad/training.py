"""Training and resuming, with every row as it is written."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from . import _program
from .config import Config, Settings, free_folder, naming_keys, set_arguments, write_beside
from .errors import ConfigWarning, Error, Interrupted
from .progress import progress_bar
from .run import Run

Row = dict[str, Any]
OnRow = Callable[[Row], object]


def train(config: Config, out: str | os.PathLike[str] | None = None,
          on_row: OnRow | None = None, set: Settings | None = None, *,
          weights: str | os.PathLike[str] | Run | None = None, max_seconds: float | None = None,
          threads: int | None = None, overfit_batch: bool = False, strict: bool = False,
          progress: bool | None = None) -> Run:
    """Trains the model of a config, as ``heed train`` does, and returns the run.

    ``config``: a dict with the sections of a config, the path of one, or the name of one that
    heedgrad brings, such as ``"quickstart"``. A dict is written to ``OUT.yaml`` beside the run
    folder, where mistakes have their lines; its paths are relative to the current folder.
    ``out``: the run folder, which must be new; by default ``runs/NAME``.
    ``on_row``: called for each row of metrics.csv as soon as it is written, with a dict: ``step``,
    ``loss`` (nats, of the step's batch), ``val_loss`` (nats), ``lr``, ``grad_norm`` (before
    clipping), ``tokens`` (so far), ``seconds`` (since the beginning), ``bits_per_byte``; None
    where nothing was measured. If it raises, the run saves and stops.
    ``set``: values that replace those of the config, ``{"train.steps": 500}``.
    ``weights``: starts from those of a run, a checkpoint, a safetensors file, a Hugging Face
    folder. ``max_seconds``: saves and stops after this time. ``overfit_batch``: trains on one batch
    only. ``strict``: refuses what otherwise are warnings. ``progress``: a bar; by default
    on a terminal and in a notebook, if tqdm is there.

    Raises ConfigError with all mistakes of the config, DivergedError if a number is no longer
    finite, Error if heed fails otherwise, Interrupted after Ctrl-C, when the run has saved.

    >>> import heedgrad as hg
    >>> losses = []
    >>> run = hg.train({
    ...     "data": {"type": "copy", "length": 4},
    ...     "model": {"type": "encoder_decoder", "d_model": 8, "num_heads": 2, "num_layers": 1},
    ...     "train": {"steps": 20, "batch_size": 4, "log_every": 10},
    ... }, out="runs/copy", on_row=lambda row: losses.append(row["loss"]), set={"seed": 1})
    >>> run
    Run('runs/copy')
    >>> len(losses)
    3
    """
    given = config
    if isinstance(config, Mapping):
        folder = free_folder("run") if out is None else Path(_program.path_of(out, "out"))
        config, out = write_beside(config, folder), folder
    path = _program.path_of(config, "config", "a dict or a path")
    arguments: list[_program.Argument] = [path, *set_arguments(set), *_program.options(
        out=out, weights=weights, max_seconds=max_seconds, threads=threads, overfit_batch=overfit_batch, strict=strict)]
    with naming_keys(given, path):
        return follow(arguments, on_row, progress)


def resume(run: str | os.PathLike[str] | Run, on_row: OnRow | None = None,
           set: Settings | None = None, *, max_seconds: float | None = None,
           threads: int | None = None, progress: bool | None = None) -> Run:
    """Goes on with a run from its newest good checkpoint, as ``heed train --resume`` does.

    The result has the bits of a run that was never interrupted. ``set`` may change
    ``train.steps``, ``eval``, ``checkpoint``, ``sample`` and a few more. The rest is as in
    ``train``.

    >>> import heedgrad as hg
    >>> rows = []
    >>> run = hg.resume("runs/mine", on_row=rows.append, set={"train.steps": 60})
    >>> rows[-1]["step"]
    60
    """
    arguments: list[_program.Argument] = [
        f"--resume={os.fspath(run)}", *set_arguments(set), *_program.options(max_seconds=max_seconds, threads=threads)]
    return follow(arguments, on_row, progress)


class Training:
    """A ``heed train`` that runs. ``run`` is known once it has begun."""

    def __init__(self, arguments: list[_program.Argument]) -> None:
        self.run: Run | None = None
        self.ending: str | None = None
        self._errors: IO[bytes] = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C on a terminal reaches Python alone, which passes it on, once.
        # heed takes a second one as the wish to end at once.
        self._process = _program.start(["train", *arguments, "--json"], stderr=self._errors, start_new_session=True)

    def interrupt(self) -> None:
        """Asks the run to save and stop."""
        self._process.send_signal(signal.SIGINT)

    def follow(self, on_event: Callable[[Row], object]) -> None:
        """Calls ``on_event`` for every line, until the run ends. Raises what it ended with."""
        assert self._process.stdout is not None
        last = b""
        for last in self._process.stdout:
            if not last.startswith(b"{"):
                continue  # printed by a plugin
            event = json.loads(last)
            if event.get("event") == "plan":
                self.run = Run(event["run"])
                for text in event["warnings"]:
                    warnings.warn(text, ConfigWarning, stacklevel=5)
            if event.get("event") == "end":
                self.ending = event["ending"]
            on_event(event)
        code = self._process.wait()
        if code != 0 and self.ending is None:
            self._errors.seek(0)
            raise _program.failure(last, self._errors.read()[-4000:], code)

    def close(self) -> None:
        """Ends what is still running, after it has saved."""
        if self._process.poll() is None:
            self.interrupt()
        assert self._process.stdout is not None
        self._process.stdout.read()
        self._process.stdout.close()
        self._process.wait()
        self._errors.close()


def follow(arguments: list[_program.Argument], on_row: OnRow | None, progress: bool | None) -> Run:
    """Runs ``heed train`` with these arguments until it ends, and shows how far it is."""
    bar = progress_bar(progress)
    training = Training(arguments)

    def on_event(event: Row) -> None:
        kind = event.pop("event", "")
        if kind == "plan":
            bar.begin(event["step"], event["steps"])
        if kind == "row":
            bar.show(event)
            if on_row is not None:
                on_row(event)

    interrupted = False
    try:
        while training.ending is None:
            try:
                training.follow(on_event)
                break
            except KeyboardInterrupt:
                interrupted = True
                training.interrupt()
            except Error:
                if not interrupted:
                    raise
                break  # by a second Ctrl-C, which does not wait
    finally:
        training.close()
        bar.end()
    run = training.run
    if interrupted or training.ending == "interrupted":
        raise Interrupted(_after_interrupt(run, training.ending is not None), run)
    if run is None:
        raise Error("heed train ended without a run")
    return run


def _after_interrupt(run: Run | None, saved: bool) -> str:
    if run is None:
        return "interrupted before training had begun"
    return (f"interrupted, {'saved' if saved else 'at once, without saving'}; "
            f"go on with heedgrad.resume({os.fspath(run)!r})")
