"""What gradients say: heed probe's attribute and teach as arrays and tables, and gradients.csv."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._program import file_text
from .errors import Error
from .table import Table


@dataclass(frozen=True)
class GradientHistory:
    """gradients.csv, which a run with ``eval: {gradients: true}`` writes.

    ``steps`` (S), ``parameters``: P names. ``grad_norm`` (before clipping), ``weight_norm`` and
    ``update_norm`` (of what the step changed): float64 (S, P).
    """

    steps: NDArray[np.int64]
    parameters: list[str]
    grad_norm: NDArray[np.float64]
    weight_norm: NDArray[np.float64]
    update_norm: NDArray[np.float64]


@dataclass(frozen=True)
class Attribution:
    """Gradient times activation of the logit of an answer.

    ``logit``; ``tokens``: the T tokens of the prompt, ``values``: float64 (T), one for each;
    ``parts``: a row for each part of the model. Of a model of two sequences, ``source`` has the
    rows of the first one.
    """

    logit: float
    tokens: list[str]
    values: NDArray[np.float64]
    parts: Table
    source: Table


@dataclass(frozen=True)
class Lesson:
    """What one step of SGD on an example changes.

    ``before``, ``after``: the probability of the answer; ``loss_before``, ``loss_after``;
    ``parameters``: a row for each, ``others``: a row for each example that was not taught.
    """

    before: float
    after: float
    loss_before: float
    loss_after: float
    parameters: Table
    others: Table


def attribution_of(answer: dict[str, Any]) -> Attribution:
    """From what ``heed probe RUN attribute --json`` prints."""
    read = [one for one in answer["tokens"] if not one.get("source")]
    source = Table(one for one in answer["tokens"] if one.get("source"))
    return Attribution(answer["logit"], [one["token"] for one in read],
                       np.array([one["value"] for one in read], np.float64),
                       Table(answer["parts"]), source)


def lesson_of(answer: dict[str, Any]) -> Lesson:
    """From what ``heed probe RUN teach --json`` prints."""
    return Lesson(answer["before"], answer["after"], answer["loss_before"], answer["loss_after"],
                  Table(answer["parameters"]), Table(answer["others"]))


def read_gradients(path: Path) -> GradientHistory:
    """Reads gradients.csv. Raises Error if the run has none, or at the line that is no row."""
    text = file_text(path, "; a run writes it with eval: {gradients: true}")
    rows: list[tuple[int, str, list[float]]] = []
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines()[1:], 2):
        try:
            step, name, *numbers = line.split(",")
            rows.append((int(step), name, list(map(float, numbers))))
        except ValueError:
            raise Error(f"{path}:{number}: expected a row of numbers, got {line!r}") from None
    names = list(dict.fromkeys(row[1] for row in rows))
    steps = list(dict.fromkeys(row[0] for row in rows))
    if len(rows) != len(names) * len(steps) or any(len(row[2]) != 3 for row in rows):
        raise Error(f"{path}: expected the same parameters at each step")
    norms = np.array([row[2] for row in rows], np.float64).reshape(len(steps), len(names), 3)
    return GradientHistory(np.array(steps, np.int64), names, *(norms[:, :, i] for i in range(3)))
