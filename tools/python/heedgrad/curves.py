"""Curves over the steps as an SVG picture, for notebooks without a plotting library."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Curve = tuple[NDArray[Any], NDArray[np.float64]]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 240, 56, 28
_MOST_TICKS = 6
_COLOURS = ("#2564cf", "#a34f06", "#1f7a49", "#b3188f")  # those of the pages


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from ``low`` to ``high``: 1, 2 or 5 times a power of ten apart.

    >>> ticks(0.219, 3.05), ticks(1, 300)
    ([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], [50.0, 100.0, 150.0, 200.0, 250.0, 300.0])
    """
    if not low < high:
        return [low]
    least = 10.0 ** math.floor(math.log10((high - low) / _MOST_TICKS))
    apart = next(least * by for by in (1, 2, 5, 10) if (high - low) / (least * by) <= _MOST_TICKS)
    return [round(apart * k, 12) for k in range(math.ceil(low / apart), int(high // apart) + 1)]


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
    for value in ticks(low, high):
        x, y = at(left, value).split(",")
        parts.append(f'<line x1="{x}" x2="{_WIDTH - 8}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                     f'<text x="{_LEFT - 6}" y="{y}" dy="4" text-anchor="end">{value:g}</text>')
    for step in ticks(left, right):
        x = at(step, low).split(",")[0]
        parts.append(f'<text x="{x}" y="{_HEIGHT - 8}" text-anchor="middle">{step:,g}</text>')
    parts.append(f'<text x="{_LEFT - 6}" y="{_HEIGHT - 8}" text-anchor="end">step</text>')
    for number, (name, (xs, ys)) in enumerate(shown.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(at(float(x), float(y)) for x, y in zip(xs, ys))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                     f'stroke-width="1.5"/><text x="{_WIDTH - 12}" y="{20 + 14 * number}" '
                     f'text-anchor="end" fill="{colour}">{html.escape(name)}</text>')
    return "".join(parts) + "</svg>"
