"""Figures of a table, and which of two is the larger one."""
import statistics

from claims import effects

DIGITS = {"removable_few": 1, "removable_some": 1, "ms": 2, "ratio": 2, "grad_norm": 2, "largest_grad_norm": 2}  # others: 3


def share_right(by_length, words):
    rows = [row for row in by_length if row["targets"] - 1 in words]  # without <end>
    return sum(row["sequences"] * row["exact_match"] for row in rows) / sum(row["sequences"] for row in rows)


def spread(runs, key):
    """Mean and standard deviation. A key (5, 6) is the share of the sentences of 5 or 6 words that are right."""
    values = [share_right(run["by_length"], key) if isinstance(key, tuple) else run[key] for run in runs]
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def is_share(key):
    return isinstance(key, tuple) or key.startswith(("distance_", "reach_")) or key in ("accuracy", "exact_match", "words")


def figure(runs, key):
    if key == "parameters":
        return f"{runs[0][key]:,}"
    if not isinstance(key, tuple) and runs[0][key] is None:
        return "-"
    middle, around = spread(runs, key)
    if is_share(key):
        return f"{100 * middle:.1f} ± {100 * around:.1f}%"
    digits = DIGITS.get(key, 3)
    return f"{middle:.{digits}f} ± {around:.{digits}f}"


def below(results, key, low, high):
    """Whether model `low` is below model `high`: the interval of their difference is above 0."""
    difference, half, _ = effects.interval(spread(results[low], key), spread(results[high], key))
    return difference > half


def same(results, key, one, other):
    return not below(results, key, one, other) and not below(results, key, other, one)
