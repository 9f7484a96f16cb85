"""Runs for TensorBoard, by the package tensorboardX."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ._optional import optional
from ._program import path_of
from .errors import Error
from .run import Run


def to_tensorboard(run: Run | str | os.PathLike[str], folder: str | os.PathLike[str]) -> Path:
    """Writes metrics.csv, config.yaml and the samples of a run for TensorBoard.

    ``folder``: a new or empty folder of events. Each column of metrics.csv is a scalar over the
    steps, in float32 as TensorBoard has them; ``tensorboard --logdir FOLDER`` shows them. Needs the
    package tensorboardX. Raises Error if the folder has events already: they would be mixed.

    >>> import heedgrad as hg
    >>> path = hg.to_tensorboard(hg.Run("runs/mine"), "logs")
    """
    writers = optional("tensorboardX", "to_tensorboard")
    run, path = Run(run), Path(path_of(folder, "folder"))
    if any(path.glob("events.out.tfevents.*")):
        raise Error(f"{path}: has events already; give another folder")
    metrics = run.metrics()
    begin = (run.path / "metrics.csv").stat().st_mtime - (
        float(np.nanmax(metrics["seconds"])) if len(metrics["step"]) else 0)
    with writers.SummaryWriter(os.fspath(path)) as writer:
        writer.add_text("config", f"```yaml\n{run.config}```")
        for step, text in _samples(run):
            writer.add_text("sample", text, step)
        for row, step in enumerate(metrics["step"]):
            when = begin + float(np.nan_to_num(metrics["seconds"][row]))
            for name, values in metrics.items():
                if name != "step" and not np.isnan(values[row]):
                    writer.add_scalar(name, float(values[row]), int(step), walltime=when)
    return path


def _samples(run: Run) -> list[tuple[int, str]]:
    """The samples with their steps: each follows a line "--- step N"."""
    found: list[tuple[int, str]] = []
    for part in ("\n" + run.samples()).split("\n--- step ")[1:]:
        step, _, text = part.partition("\n")
        if step.isdigit():
            found.append((int(step), text))
    return found
