"""The claims of configs/claims.md, which has the words: their models and figures, and what has to follow from them."""
import math
import typing

from claims import effects
from claims.figures import below, same, spread
from claims.models import DROPOUTS, HEADS, IN_THE_SAME_TIME, LOOPS, REACHING, TRANSLATORS, WIDTHS
from claims.recall import DISTANCES

LENGTHS = ((5, 6), (7, 8), (9, 10), (11, 12), (13, 14))
MEMORIES_ON_PAGE = ("rnn", "gru", "lstm", "lstm-longer", "conv1d", "rwkv", "window", "attention")
RUNGS_ON_PAGE = {"nothing": "none", "equal": "ones", "scores": "scores", "sum": "sum", "softmax": "head"}


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


def only_attention_finds_all(r):
    def found(name, distance):
        return spread(r[f"recall-{name}"], f"distance_{distance}")[0]
    fading = ("rnn", "gru", "lstm", "rwkv")
    return (all(found("attention", distance) > 0.99 for distance in DISTANCES)
            and all(found(name, 64) < 0.4 and found(name, 4) > found(name, 32) + 0.2 for name in fading)
            and found("lstm-longer", 64) > 0.7 and found("window", 8) > 0.99
            and all(found(name, 32) < 0.3 for name in ("window", "conv1d")))


def recurrence_fades(r):
    def far(name, when="trained"):
        return spread(r[f"reach-{name}"], f"reach_{when}_far")[0]
    classical = ("rnn", "lstm", "gru")
    return (all(far(name, "as_drawn") < 1e-3 and far(name) < 0.1 for name in classical)
            and all(far(name, "as_drawn") > 0.9 for name in ("linear", "attention")) and far("attention") > 0.5
            and far("window") == 0 and all(far(name) > far(name, "as_drawn") for name in ("rwkv", "delta"))
            and spread(r["reach-linear"], "distance_64")[0] < 0.9 < spread(r["reach-alibi"], "distance_64")[0])


def softmax_is_the_best_rung(r):
    up = [f"rung-{rung}" for rung in ("nothing", "equal", "scores", "softmax")]
    return (all(below(r, "val_loss", above + rate, under + rate) for under, above in zip(up, up[1:]) for rate in ("", "-fast"))
            and not below(r, "val_loss", "rung-sum", "rung-nothing")
            and spread(r["rung-sum"], "grad_norm")[0] > 10 * spread(r["rung-softmax"], "grad_norm")[0])


def heads_differ_and_are_needed(r):
    every = split, narrow, wide = ("shakespeare", "shakespeare-separate-16", "shakespeare-separate-64")
    return (all(spread(r[name], "diversity")[0] > 5 * spread(r[name], "diversity_as_drawn")[0] for name in every)
            and same(r, "diversity", split, narrow) and below(r, "diversity", split, wide)
            and all(spread(r[name], "removable_few")[0] < 2 and 2 < spread(r[name], "removable_some")[0] < 5
                    for name in every))


def models_are_an_ensemble_and_heads_are_not(r):
    one, two, four = "verdict-heads-1", "verdict-separate-2", "verdict-separate-4"
    return (below(r, "val_loss", one, two) and below(r, "val_loss", two, four)
            and all(below(r, "lowest_val_loss", one, more) for more in (two, four))
            and below(r, "val_loss", "verdict-wide-feed-forward", four)
            and below(r, "val_loss", "verdict-four-models", one)
            and spread(r["verdict-four-models"], "val_loss")[0] < spread(r[one], "lowest_val_loss")[0])


def many_heads_make_a_slow_loop(r):
    few, many = f"product-{LOOPS[0]}", f"product-{LOOPS[-1]}"
    _, half, _ = effects.interval(spread(r[many], "ratio"), (1.0, 0.0))
    return spread(r[many], "ratio")[0] - half > 1 and below(r, "ratio", few, many)


class Claim(typing.NamedTuple):
    rows: list  # names of models, in the order of the page's rows
    columns: list  # (which of the models, key of its result)
    follows: typing.Callable  # whether the verdict on the page follows from the figures
    is_timed: bool = False


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
    "recall": Claim(
        [(f"recall-{name}",) for name in MEMORIES_ON_PAGE],
        ((0, "parameters"), *((0, f"distance_{distance}") for distance in DISTANCES)), only_attention_finds_all),
    "reach": Claim(
        [(f"reach-{name}",) for name in REACHING],
        [*((0, f"reach_{when}_{band}") for when in ("as_drawn", "trained") for band in ("middle", "far")),
         *((0, f"distance_{distance}") for distance in (4, 32, 64))], recurrence_fades),
    "ladder": Claim(
        [(f"rung-{rung}", f"rung-{rung}-fast", f"negation-{task}") for rung, task in RUNGS_ON_PAGE.items()],
        (*((0, key) for key in ("val_loss", "grad_norm", "largest_grad_norm")), (1, "val_loss"), (1, "largest_grad_norm"),
         (2, "accuracy")), softmax_is_the_best_rung),
    "diverse": Claim(
        [("shakespeare",), ("shakespeare-separate-16",), ("shakespeare-separate-64",)],
        [(0, key) for key in ("diversity_as_drawn", "diversity", "removable_few", "removable_some")],
        heads_differ_and_are_needed),
    "ensemble": Claim(
        [(f"verdict-{name}",) for name in ("heads-1", "separate-2", "separate-4", "wide-feed-forward", "four-models")],
        ((0, "parameters"), *((0, key) for key in ("train_loss", "lowest_val_loss", "val_loss"))),
        models_are_an_ensemble_and_heads_are_not),
    "loop": Claim(
        [(f"loop-{heads}", f"product-{heads}") for heads in LOOPS], ((0, "ms"), (1, "ms"), (1, "ratio")),
        many_heads_make_a_slow_loop, is_timed=True),
    "muon": Claim(
        [("adamw",), ("adamw-as-long",), ("muon",)], ((0, "train_loss"), (0, "val_loss")),
        lambda r: below(r, "val_loss", "muon", "adamw") and below(r, "val_loss", "muon", "adamw-as-long")),
    "muon_step": Claim(
        [("adamw", "muon")], ((0, "ms"), (1, "ms"), (0, "ratio")),
        lambda r: abs(spread(r["adamw"], "ratio")[0] - IN_THE_SAME_TIME / 1000) < 0.15, is_timed=True),
}
