"""Curves over the steps as an SVG picture, for notebooks without a plotting library."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Curve = tuple[NDArray[Any], NDArray[np.float64]]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 240, 56, 28
_COLOURS = ("#2564cf", "#a34f06", "#1f7a49", "#b3188f")  # those of the pages


def curves(named: Mapping[str, Curve]) -> str:
    """A picture of curves, each with its steps and values, as arrays of the same length.

    >>> picture = curves({"loss": (np.array([1, 2]), np.array([3.0, 2.0]))})
    >>> picture.count("<polyline"), "loss" in picture
    (1, True)
    """
    shown = {name: curve for name, curve in named.items() if len(curve[0])}
    if not shown:
        return "<p>no numbers yet</p>"
    steps = np.concatenate([curve[0] for curve in shown.values()]).astype(np.float64)
    values = np.concatenate([curve[1] for curve in shown.values()])
    left, right = float(steps.min()), float(steps.max())
    low, high = float(values.min()), float(values.max())

    def at(step: float, value: float) -> str:
        x = _LEFT + (step - left) / ((right - left) or 1) * (_WIDTH - _LEFT - 8)
        y = 8 + (high - value) / ((high - low) or 1) * (_HEIGHT - _BOTTOM - 16)
        return f"{x:.1f},{y:.1f}"

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
             f'width="{_WIDTH}" font-family="sans-serif" font-size="11" fill="#555">']
    for value in (low, (low + high) / 2, high):
        x, y = at(left, value).split(",")
        parts.append(f'<line x1="{x}" x2="{_WIDTH - 8}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                     f'<text x="{_LEFT - 6}" y="{y}" dy="4" text-anchor="end">{value:.3g}</text>')
    for step, anchor in ((left, "start"), (right, "end")):
        x = at(step, low).split(",")[0]
        parts.append(f'<text x="{x}" y="{_HEIGHT - 8}" text-anchor="{anchor}">step {step:g}</text>')
    for number, (name, (xs, ys)) in enumerate(shown.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(at(float(x), float(y)) for x, y in zip(xs, ys))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                     f'stroke-width="1.5"/><text x="{_WIDTH - 12}" y="{20 + 14 * number}" '
                     f'text-anchor="end" fill="{colour}">{html.escape(name)}</text>')
    return "".join(parts) + "</svg>"
