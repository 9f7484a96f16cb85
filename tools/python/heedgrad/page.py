"""Pages that heed writes: one file of HTML each, which needs no network."""

from __future__ import annotations

import html
import os
import webbrowser
from pathlib import Path

from ._program import path_of


class Place:
    """A path that stays what it is after os.chdir: ``path`` is then absolute."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._given = Path(path_of(path, "path"))
        self._absolute = self._given.absolute()

    @property
    def path(self) -> Path:
        return self._given if self._given.absolute() == self._absolute else self._absolute


class Page(Place):
    """A page. In a notebook it shows itself; ``open()`` opens it in a browser."""

    def __init__(self, path: str | os.PathLike[str], height: int = 640) -> None:
        super().__init__(path)
        self.height = height

    @property
    def html(self) -> str:
        """The page itself."""
        return self.path.read_text(encoding="utf-8")

    def open(self) -> None:
        """Opens the page in a browser."""
        webbrowser.open(self.path.resolve().as_uri())

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"

    def _repr_html_(self) -> str:
        return (f'<iframe style="width:100%;height:{self.height}px;border:0" '
                f'srcdoc="{html.escape(self.html)}"></iframe>')
