"""A progress bar by tqdm, where it is installed."""

from __future__ import annotations

import sys
import warnings
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
        for key in ("loss", "val_loss"):
            if row[key] is not None:
                self._losses[key] = f"{row[key]:.4f}"
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
    try:
        with warnings.catch_warnings():  # of a notebook without its widgets: text will do
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return Bar()
    return TqdmBar(tqdm, unit)
