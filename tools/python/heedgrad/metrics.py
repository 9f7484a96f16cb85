"""metrics.csv as numpy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._optional import optional
from ._program import file_text
from .curves import curves
from .errors import Error

_WHOLE = ("step", "tokens")


class Metrics(dict[str, NDArray[Any]]):
    """The columns of metrics.csv, an array (rows) each; NaN where nothing was measured.

    ``step`` and ``tokens`` (trained on so far) are int64, the others float64: ``loss`` and
    ``val_loss`` in nats, ``lr``, ``grad_norm`` (before clipping), ``seconds`` since the run began,
    ``bits_per_byte`` of val_loss, for texts.
    """

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with a row for each line. Needs the package pandas."""
        return optional("pandas", "to_pandas").DataFrame(dict(self))

    def measured(self, column: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The steps at which a column has numbers, and the numbers: what a plot needs."""
        there = ~np.isnan(self[column].astype(np.float64))
        return self["step"][there], self[column][there]

    def last(self, column: str) -> float:
        """The last number of a column; NaN if it has none."""
        values = self.measured(column)[1]
        return float(values[-1]) if len(values) else float("nan")

    def svg(self, *columns: str) -> str:
        """The curves of columns over the steps as a picture: by default of the losses.

        A column without numbers is left out. Raises KeyError for one that is not there.
        """
        return curves({name: self.measured(name) for name in columns or ("loss", "val_loss")})

    def _repr_svg_(self) -> str | None:
        picture = self.svg()
        return picture if picture.startswith("<svg") else None

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()), []))
        return f"Metrics({rows} rows of {', '.join(self)})"


def read_metrics(path: Path) -> Metrics:
    """Reads metrics.csv. A last line that is still being written is left out.

    Raises Error with the file and line of a row that is no row of numbers.
    """
    text = file_text(path)
    lines = text[: text.rfind("\n") + 1].splitlines()
    names = lines[0].split(",") if lines else []
    if names[:1] != ["step"]:
        raise Error(f"{path}:1: expected the names of columns, of which the first is step")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        try:
            row = [float(word) if word else float("nan") for word in line.split(",")]
        except ValueError:
            raise Error(f"{path}:{number}: expected numbers between commas, got {line!r}") from None
        if len(row) != len(names):
            raise Error(f"{path}:{number}: expected {len(names)} numbers, got {len(row)}")
        rows.append(row)
    table = np.array(rows, np.float64).reshape(len(rows), len(names))
    columns = Metrics()
    for i, name in enumerate(names):
        whole = name in _WHOLE and not np.isnan(table[:, i]).any()
        columns[name] = table[:, i].astype(np.int64) if whole else table[:, i].copy()
    return columns
