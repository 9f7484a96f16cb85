"""How far apart two figures of a table of results are: "a ± s", mean and standard deviation over `SEEDS` seeds.

The difference of two means has the 95% interval of Welch 1947 (the spreads need not be alike), with the degrees of
freedom rounded down. Where it holds 0, what counts is how large a difference would have been: one of (t at 97.5% + t at
80%) standard errors is found four times in five.
"""
import math
import re

SEEDS = 5
# Quantiles of Student's t at 97.5% and at 80%, by degrees of freedom: from n - 1 to 2 (n - 1).
QUANTILES = {4: (2.776, 0.941), 5: (2.571, 0.920), 6: (2.447, 0.906), 7: (2.365, 0.896), 8: (2.306, 0.889)}


def interval(one, other):
    """(difference, half the width of its interval, the difference that is found four times in five) of two (mean, spread)."""
    (mean, spread), (other_mean, other_spread) = one, other
    a, b = (s * s / SEEDS for s in (spread, other_spread))
    if a + b == 0:
        return other_mean - mean, 0.0, 0.0
    freedom = int((a + b) ** 2 * (SEEDS - 1) / (a * a + b * b))
    usual, power = QUANTILES[freedom]
    error = math.sqrt(a + b)
    return other_mean - mean, usual * error, (usual + power) * error


def value(cell):
    """(mean, spread, decimals, unit) of a cell: 2.078 ± 0.012, or 34.1 ± 5.6%."""
    found = re.fullmatch(r"(-?[\d.]+) ± ([\d.]+)(%?)", cell)
    if not found:
        raise RuntimeError(f"expected a figure like 2.078 ± 0.012, got {cell}")
    return float(found[1]), float(found[2]), len(found[1].partition(".")[2]), found[3]


def row_of(titles, rows, first, second, of):
    """The cells behind `first`, `second` and `of`: two rows of a table and a column, or two columns and a row."""
    labels = [row[0] for row in rows]
    if first in labels:
        cells = [rows[labels.index(label)][titles.index(of)] for label in (first, second)]
    else:
        cells = [rows[labels.index(of)][titles.index(title)] for title in (first, second)]
    one, other = map(value, cells)
    effect, half, seen = interval(one[:2], other[:2])
    digits, unit = one[2], one[3]
    apart = abs(effect) > half
    said = "different" if apart else f"not different; {seen:.{digits}f}{unit} would have been seen"
    return [f"{effect:+.{digits}f}{unit}", f"{effect - half:.{digits}f} to {effect + half:.{digits}f}", said]
