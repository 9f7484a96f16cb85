"""Progress: one line of a notebook, elsewhere a bar by tqdm, where it is installed."""

from __future__ import annotations

import sys
from typing import Any


class Bar:
    """Shows nothing."""

    def begin(self, step: int, steps: int) -> None:
        """Training begins after ``step`` of ``steps``."""

    def show(self, row: dict[str, Any]) -> None:
        """A row was written."""

    def advance(self, count: int) -> None:
        """So many more are done."""

    def end(self) -> None:
        """Training is over."""


def _losses_of(row: dict[str, Any]) -> dict[str, str]:
    return {key: f"{row[key]:.4f}" for key in ("loss", "val_loss") if row[key] is not None}


class LineBar(Bar):
    """A line of a notebook that is replaced at each row: a notebook that is stored has the last."""

    def __init__(self, display: Any, unit: str) -> None:
        self._display = display
        self._unit = unit
        self._shown: Any = None
        self._done = self._all = 0
        self._losses: dict[str, str] = {}

    def begin(self, step: int, steps: int) -> None:
        self._done, self._all = step, steps
        self._shown = self._display(self._line(), raw=True, display_id=True)

    def show(self, row: dict[str, Any]) -> None:
        self._losses.update(_losses_of(row))
        self.advance(row["step"] - self._done)

    def advance(self, count: int) -> None:
        self._done += count
        self._shown.update(self._line(), raw=True)

    def _line(self) -> dict[str, str]:
        losses = "".join(f", {name} {value}" for name, value in self._losses.items())
        return {"text/plain": f"{self._unit} {self._done} of {self._all}{losses}"}


class TqdmBar(Bar):
    """A bar of tqdm, with the losses beside it."""

    def __init__(self, tqdm: Any, unit: str) -> None:
        self._tqdm = tqdm
        self._unit = unit
        self._bar: Any = None
        self._losses: dict[str, str] = {}

    def begin(self, step: int, steps: int) -> None:
        self._bar = self._tqdm(total=steps, initial=step, unit=self._unit)

    def show(self, row: dict[str, Any]) -> None:
        self._losses.update(_losses_of(row))
        self._bar.set_postfix(self._losses, refresh=False)
        self._bar.update(row["step"] - self._bar.n)

    def advance(self, count: int) -> None:
        self._bar.update(count)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()


def in_notebook() -> bool:
    """Whether a kernel runs this, as in Jupyter."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def progress_bar(wanted: bool | None, unit: str = "step") -> Bar:
    """The bar for one training. ``wanted``: None for one where somebody may be looking."""
    if wanted is None:
        wanted = in_notebook() or sys.stderr.isatty()
    if not wanted:
        return Bar()
    if in_notebook():
        return LineBar(sys.modules["IPython.display"].display, unit)
    try:
        from tqdm import tqdm
    except ImportError:
        return Bar()
    return TqdmBar(tqdm, unit)
