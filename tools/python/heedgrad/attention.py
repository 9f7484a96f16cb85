"""Attention weights as numpy arrays that draw themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._program import Argument, json_of
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
    ``layers``. In a notebook it draws itself; ``svg()`` is the same picture. What is made of it,
    such as a part or a copy, is plain numbers: it has no names and no picture.
    """

    tokens: list[str]
    layers: list[str]
    _drawn_by: Sequence[Argument] = ()

    def svg(self) -> str:
        """The picture of ``heed inspect --attention``, drawn from the run. Raises Error for what is
        made of the array, and if the run no longer has these numbers or is not there any more."""
        if not self._drawn_by:
            raise Error("a picture is drawn of the whole array that run.attention() returns")
        with tempfile.TemporaryDirectory(prefix="heedgrad-") as folder:
            path = Path(folder) / "map.svg"
            drawn = maps_of(json_of(*self._drawn_by, f"--out={path}"))
            if not np.array_equal(self, [m.weights for m in drawn]):
                raise Error("the run or the array has changed since run.attention(): ask it again")
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
