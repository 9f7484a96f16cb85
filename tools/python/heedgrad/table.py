"""Rows under common columns, shown as a table in a terminal and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from ._optional import optional


class Table(list[dict[str, Any]]):
    """A list of rows, each a dict with the same keys.

    >>> table = Table([{"head": 0, "induction": 0.81234}, {"head": 1, "induction": 0.02}])
    >>> table
    head  induction
       0     0.8123
       1     0.0200
    >>> table.column("head")
    [0, 1]
    """

    def column(self, name: str) -> list[Any]:
        """The values of one column, a row each. Raises KeyError for a name that no row has."""
        return [row[name] for row in self]

    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self[0]) if self else []

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with the same columns. Needs the package pandas."""
        return optional("pandas", "to_pandas").DataFrame(list(self), columns=self.columns())

    def _cells(self) -> Sequence[Sequence[str]]:
        columns = [_shown([row[name] for row in self]) for name in self.columns()]
        return [self.columns(), *zip(*columns)]

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths))
                         for row in cells)

    def _repr_html_(self) -> str:
        first, *rest = self._cells()
        return ("<table><tr>" + "".join(f"<th>{html.escape(c)}</th>" for c in first) + "</tr>"
                + "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>"
                          for row in rest) + "</table>")


def _shown(values: Sequence[Any]) -> list[str]:
    """A column: four digits of each number. Where none has an exponent, all have as many decimals
    as the longest, so that the points stand in a line; four at most beside larger numbers."""
    shown = ["" if v is None else f"{v:.4g}" if isinstance(v, float) else str(v) for v in values]
    if any("e" in text or "n" in text for text, v in zip(shown, values) if isinstance(v, float)):
        return shown
    decimals = max([len(text.partition(".")[2]) for text, v in zip(shown, values)
                    if isinstance(v, float)], default=0)
    if any(isinstance(v, float) and abs(v) >= 0.01 for v in values):
        decimals = min(decimals, 4)
    return [f"{v:.{decimals}f}" if isinstance(v, float) else text
            for text, v in zip(shown, values)]
