"""The claims of configs/claims.md, which has the words: their models and figures, and what has to follow from them."""
import math
import typing

from claims.figures import below, same, spread
from claims.models import DROPOUTS, HEADS, TRANSLATORS, WIDTHS

LENGTHS = ((5, 6), (7, 8), (9, 10), (11, 12), (13, 14))


def heads_overfit(r):
    doublings = [(f"verdict-heads-{heads}", f"verdict-heads-{twice}") for heads, twice in zip(HEADS, HEADS[1:])]
    return (all(below(r, "train_loss", twice, heads) and below(r, "val_loss", heads, twice) for heads, twice in doublings)
            and all(below(r, "lowest_val_loss", "verdict-heads-1", f"verdict-heads-{heads}") for heads in HEADS[1:])
            and all(below(r, "val_loss", f"shakespeare-heads-{heads}", "shakespeare-heads-8") for heads in (1, 2)))


def scaling_matters_when_wide(r):
    better = [below(r, "val_loss", f"shakespeare-scaled-{width}", f"shakespeare-unscaled-{width}") for width in WIDTHS]
    return (better == [False, False, True, True]
            and all(below(r, "val_loss", f"shakespeare-scaled-{b}", f"shakespeare-scaled-{a}") for a, b in zip(WIDTHS, WIDTHS[1:]))
            and spread(r["shakespeare-unscaled-512"], "entropy_as_drawn")[0] < math.log(2))


def dropout_reduces_overfitting(r):
    long, short = ([f"{text}-dropout-{dropout}" for dropout in DROPOUTS] for text in ("shakespeare", "verdict"))
    return (all(below(r, "val_loss", b, a) and below(r, "train_loss", a, b) for a, b in zip(short, short[1:]))
            and not any(below(r, "val_loss", some, long[0]) for some in long[1:]) and below(r, "val_loss", long[0], long[-1]))


def fixed_context_forgets(r):
    short, long = ({name: spread(r[name], words)[0] for name in TRANSLATORS} for words in (LENGTHS[0], LENGTHS[-1]))
    return short["reorder_translation_rnn"] < 0.5 and all(
        short[fixed] > 10 * long[fixed] and long[attending] > 0.9
        for fixed, attending in (("reorder_translation_fixed_context", "reorder_translation"),
                                 ("reorder_translation_rnn", "reorder_translation_rnn_attention")))


class Claim(typing.NamedTuple):
    rows: list  # names of models, in the order of the page's rows
    columns: list  # (which of the models, key of its result)
    follows: typing.Callable  # whether the verdict on the page follows from the figures


BOTH_TEXTS = ((0, "train_loss"), (0, "val_loss"), (1, "train_loss"), (1, "lowest_val_loss"), (1, "val_loss"))
SIZE_AND_LOSSES = ((0, "parameters"), (0, "train_loss"), (0, "val_loss"))
TASKS = ("sort", "negation", "word_sense")
CLAIMS = {
    "heads": Claim([(f"shakespeare-heads-{n}", f"verdict-heads-{n}") for n in HEADS], BOTH_TEXTS, heads_overfit),
    "split": Claim(
        [("shakespeare",), *((f"shakespeare-{name}",) for name in ("separate-16", "separate-64", "wide-feed-forward"))],
        SIZE_AND_LOSSES,
        lambda r: (same(r, "val_loss", "shakespeare", "shakespeare-separate-16")
                   and below(r, "val_loss", "shakespeare-separate-64", "shakespeare")
                   and below(r, "val_loss", "shakespeare-separate-64", "shakespeare-wide-feed-forward"))),
    "out_proj": Claim(
        [("shakespeare",), *((f"shakespeare-{name}",) for name in ("no-out_proj", "bare", "bare-no-out_proj"))],
        SIZE_AND_LOSSES,
        lambda r: (same(r, "val_loss", "shakespeare", "shakespeare-no-out_proj")
                   and same(r, "val_loss", "shakespeare-bare", "shakespeare-bare-no-out_proj"))),
    "scale": Claim(
        [(f"shakespeare-scaled-{d}", f"shakespeare-unscaled-{d}") for d in WIDTHS],
        [(i, key) for key in ("val_loss", "entropy_as_drawn", "entropy") for i in (0, 1)], scaling_matters_when_wide),
    "dropout": Claim(
        [(f"shakespeare-dropout-{p}", f"verdict-dropout-{p}") for p in DROPOUTS], BOTH_TEXTS, dropout_reduces_overfitting),
    "leak": Claim(
        [("shakespeare",), ("shakespeare-leak",)], ((0, "train_loss"), (0, "val_loss"), (0, "words")),
        lambda r: all(spread(r["shakespeare-leak"], key)[0] < most for key, most in (("val_loss", 0.1), ("words", 0.02)))),
    "matrices": Claim(
        [[f"{task}-{name}" for task in TASKS] for name in ("none", "simple", "v1", "v2")],
        ((0, "accuracy"), (0, "exact_match"), (1, "accuracy"), (2, "accuracy")),
        lambda r: all(not below(r, "accuracy", f"{task}-none", f"{task}-simple")
                      and below(r, "accuracy", f"{task}-simple", f"{task}-v2") for task in TASKS)),
    "ones": Claim(
        [(f"negation-{name}",) for name in ("bag", "none", "ones", "head", "heads")],
        ((0, "parameters"), (0, "accuracy"), (0, "val_loss")),
        lambda r: (below(r, "accuracy", "negation-none", "negation-ones")
                   and same(r, "accuracy", "negation-ones", "negation-head")
                   and below(r, "accuracy", "negation-ones", "negation-heads"))),
    "length": Claim(
        [(f"reorder_translation{name}",) for name in ("_fixed_context", "", "_rnn", "_rnn_attention")],
        [(0, words) for words in LENGTHS], fixed_context_forgets),
}
