"""Attention weights as numpy arrays that draw themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._program import Argument, text_of
from .errors import Error


@dataclass(frozen=True)
class AttentionMap:
    """The attention of one layer.

    ``weights``: float32 (heads, queries, keys); a row is what a token attends to, and sums to 1.
    ``queries``, ``keys``: the tokens. ``cross``: whether the keys are those of another sequence.
    """

    layer: str
    weights: NDArray[np.float32]
    queries: list[str]
    keys: list[str]
    cross: bool


class Attention(np.ndarray[Any, np.dtype[np.float32]]):
    """Attention weights, float32 (layers, heads, T, T): row i is what token i attends to.

    It is a numpy array, with the names of the tokens and of the layers in ``tokens`` and
    ``layers``. In a notebook the whole array draws itself; ``svg()`` is the same picture. Parts of
    it are plain numbers.
    """

    tokens: list[str]
    layers: list[str]
    _drawn_by: list[Argument]

    def __array_finalize__(self, made_from: Any) -> None:
        self.tokens = getattr(made_from, "tokens", [])
        self.layers = getattr(made_from, "layers", [])
        self._drawn_by = getattr(made_from, "_drawn_by", [])

    def _is_whole(self) -> bool:
        return bool(self._drawn_by) and self.shape[:1] + self.shape[2:] == (
            len(self.layers), len(self.tokens), len(self.tokens))

    def svg(self) -> str:
        """The picture of ``heed inspect --attention``, drawn from the run. Raises Error for a part
        of the array, and if the run is not there any more."""
        if not self._is_whole():
            raise Error("a picture is drawn of the whole array that run.attention() returns")
        with tempfile.TemporaryDirectory(prefix="heedgrad-") as folder:
            path = Path(folder) / "map.svg"
            text_of(*self._drawn_by, f"--out={path}")
            return path.read_text(encoding="utf-8")

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except Error:
            return None


def maps_of(answer: Any) -> list[AttentionMap]:
    """The maps in what ``heed inspect --attention --json`` prints."""
    return [AttentionMap(layer["layer"], np.asarray(layer["weights"], np.float32),
                         layer["queries"], layer["keys"], layer["cross"])
            for layer in answer["layers"]]


def stacked(maps: Sequence[AttentionMap], drawn_by: Sequence[Argument]) -> Attention:
    """The maps of all layers as one array. Raises Error if they differ in their shapes."""
    shapes = {m.weights.shape for m in maps}
    if len(shapes) != 1 or any(m.cross for m in maps):
        found = ", ".join(f"{m.layer} {m.weights.shape}" for m in maps)
        raise Error("the attention layers do not fit one array (layers, heads, T, T): "
                    f"{found or 'there are none'}; run.attention_maps() gives each of them")
    array = np.stack([m.weights for m in maps]).view(Attention)
    array.tokens = maps[0].queries
    array.layers = [m.layer for m in maps]
    array._drawn_by = list(drawn_by)
    return array
