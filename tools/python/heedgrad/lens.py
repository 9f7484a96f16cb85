"""The logit lens: what a model would answer after each of its blocks."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class Lens:
    """The likeliest next token at each of T places, before the first block and after each.

    ``tokens``: what the model read (T). ``answers``: tokens, a list (T) for each of blocks + 1
    depths. ``ids`` and ``probability``: the same as arrays (blocks + 1, T). ``rank``: at which
    place the token is that really follows, 1 is the first; 0 at the last position, where none does.
    """

    tokens: list[str]
    answers: list[list[str]]
    ids: NDArray[np.int64]
    probability: NDArray[np.float64]
    rank: NDArray[np.int64]

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Lens:
        """From what ``heed probe RUN lens --json`` prints."""
        blocks = answer["blocks"]
        return cls(answer["tokens"], [[cell["token"] for cell in row] for row in blocks],
                   np.array([[cell["id"] for cell in row] for row in blocks], np.int64),
                   np.array([[cell["probability"] for cell in row] for row in blocks]),
                   np.array([[cell.get("rank", 0) for cell in row] for row in blocks], np.int64))

    def _depths(self) -> list[str]:
        return ["embedding", *(f"block {i}" for i in range(len(self.answers) - 1))]

    def __repr__(self) -> str:
        cells = [["", *self.tokens], *([depth, *row] for depth, row
                                       in zip(self._depths(), self.answers))]
        widths = [max(map(len, column)) for column in zip(*cells)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in cells)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(token)}</th>" for token in self.tokens)
        rows = []
        for depth, answers, shares in zip(self._depths(), self.answers, self.probability):
            cells = "".join(
                f'<td style="background:rgba(37,100,207,{share:.2f})" title="{share:.3f}">'
                f"{html.escape(answer)}</td>" for answer, share in zip(answers, shares))
            rows.append(f"<tr><th>{depth}</th>{cells}</tr>")
        return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"
