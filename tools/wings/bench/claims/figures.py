"""Figures of a table, and which of two is the larger one."""
import statistics

from claims import effects


def share_right(by_length, words):
    rows = [row for row in by_length if row["targets"] - 1 in words]  # without <end>
    return sum(row["sequences"] * row["exact_match"] for row in rows) / sum(row["sequences"] for row in rows)


def spread(runs, key):
    """Mean and standard deviation. A key (5, 6) is the share of the sentences of 5 or 6 words that are right."""
    values = [share_right(run["by_length"], key) if isinstance(key, tuple) else run[key] for run in runs]
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def figure(runs, key):
    if key == "parameters":
        return f"{runs[0][key]:,}"
    is_share = isinstance(key, tuple) or key in ("accuracy", "exact_match", "words")
    middle, around = spread(runs, key)
    return f"{100 * middle:.1f} ± {100 * around:.1f}%" if is_share else f"{middle:.3f} ± {around:.3f}"


def below(results, key, low, high):
    """Whether model `low` is below model `high`: the interval of their difference is above 0."""
    difference, half, _ = effects.interval(spread(results[low], key), spread(results[high], key))
    return difference > half


def same(results, key, one, other):
    return not below(results, key, one, other) and not below(results, key, other, one)
