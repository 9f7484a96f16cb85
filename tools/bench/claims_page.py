"""The page configs/claims.md: its claims, tables and verdicts. claims.py measures them."""
import dataclasses
import math
import shlex
import statistics
import textwrap
import typing

from claims_runs import BASES, DROPOUTS, HEADS, MODELS, WIDTH, WIDTHS


def mean(results, key):
    return statistics.mean(result[key] for result in results)


def deviation(results, key):
    return statistics.stdev(result[key] for result in results) if len(results) > 1 else 0.0


def below(results, key, low, high):
    """Whether model `low` is below model `high` by more than their two spreads together."""
    low, high = results[low], results[high]
    return mean(high, key) - mean(low, key) > deviation(low, key) + deviation(high, key)


def same(results, key, one, other):
    return not below(results, key, one, other) and not below(results, key, other, one)


def number(results, key):
    return f"{mean(results, key):.3f} ± {deviation(results, key):.3f}"


def percent(results, key):
    return f"{100 * mean(results, key):.1f} ± {100 * deviation(results, key):.1f}%"


def table(head, rows):
    """Lines of a table; its first column is text, the others are numbers."""
    return ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)] + ["| " + " | ".join(row) + " |" for row in rows]


def command(name):
    """How a model is trained, as a command next to the bases that the page begins with."""
    model = MODELS[name]
    base = next((key for key, (config, sets) in BASES.items() if model.config == config and model.sets[:len(sets)] == sets), None)
    start = f"${base}" if base else f"configs/{model.config}.yaml"
    sets = model.sets[len(BASES[base][1]):] if base else model.sets
    return " ".join(["heed train", start, *(f"--set {shlex.quote(change)}" for change in sets)])


def heads_table(results):
    rows = [[str(heads), str(WIDTH // heads), *(number(results[shakespeare(heads)], key) for key in ("train_loss", "val_loss")),
             *(number(results[f"verdict-heads-{heads}"], key) for key in ("train_loss", "lowest_val_loss", "val_loss"))]
            for heads in HEADS]
    return table(["heads", "width of one", "Shakespeare: training", "validation", "The Verdict: training",
                  "lowest validation", "last validation"], rows)


def shakespeare(heads):
    return "shakespeare" if heads == 4 else f"shakespeare-heads-{heads}"


SPLIT = {
    "shakespeare": "split, 16 wide",
    "shakespeare-separate-16": "separate, 16 wide",
    "shakespeare-separate-64": "separate, 64 wide (full width)",
    "shakespeare-wide-feed-forward": "split, 16 wide, and a wider feed-forward",
}
OUT_PROJ = {
    "shakespeare": "with `out_proj`",
    "shakespeare-no-out_proj": "without",
    "shakespeare-bare": "no feed-forward, with `out_proj`",
    "shakespeare-bare-no-out_proj": "no feed-forward, without",
}


def losses_table(what, names):
    def rows(results):
        return table([what, "parameters", "training loss", "validation loss"],
                     [[text, f"{results[name][0]['parameters']:,}", number(results[name], "train_loss"),
                       number(results[name], "val_loss")] for name, text in names.items()])
    return rows


def scale_table(results):
    keys = ("val_loss", "entropy_as_drawn", "entropy")
    rows = [[str(width), *(number(results[f"shakespeare-{kind}-{width}"], key) for key in keys for kind in ("scaled", "unscaled"))]
            for width in WIDTHS]
    return table(["d", "validation loss: scaled", "unscaled", "entropy, as drawn: scaled", "unscaled",
                  "entropy, trained: scaled", "unscaled"], rows)


def dropout_names(text):
    return {dropout: f"{text}-dropout-{dropout}" if dropout else ("shakespeare" if text == "shakespeare" else "verdict-heads-4")
            for dropout in DROPOUTS}


def dropout_table(results):
    rows = [[str(dropout), *(number(results[dropout_names("shakespeare")[dropout]], key) for key in ("train_loss", "val_loss")),
             *(number(results[dropout_names("verdict")[dropout]], key) for key in ("train_loss", "lowest_val_loss", "val_loss"))]
            for dropout in DROPOUTS]
    return table(["dropout", "Shakespeare: training", "validation", "The Verdict: training", "lowest validation",
                  "last validation"], rows)


def leak_table(results):
    names = {"shakespeare": "with", "shakespeare-leak": "without"}
    lines = table(["causal mask", "training loss", "validation loss", "words that exist"],
                  [[text, number(results[name], "train_loss"), number(results[name], "val_loss"), percent(results[name], "words")]
                   for name, text in names.items()])
    for name, text in names.items():
        written = [line[:60] for line in results[name][0]["text"].splitlines()[:4]]
        lines += ["", f"How the text of the first seed begins, {text} the mask (lines cut after 60 characters):", "", "```", *written, "```"]
    return lines


def matrices_table(results):
    names = {"none": "no attention", "simple": "`simple_attention`, no matrices", "v1": "`self_attention_v1`",
             "v2": "`self_attention_v2`"}
    return table(["in place of attention", "sort: symbols", "whole sequences", "negation", "word_sense"],
                 [[text, percent(results[f"sort-{name}"], "accuracy"), percent(results[f"sort-{name}"], "exact_match"),
                   percent(results[f"negation-{name}"], "accuracy"), percent(results[f"word_sense-{name}"], "accuracy")]
                  for name, text in names.items()])


ONES = {
    "negation-bag": "no blocks: the mean of the words",
    "negation-none": "two blocks without attention",
    "negation-ones": "two blocks, one mean for all",
    "negation-head": "two blocks, learned weights, one head",
    "negation-heads": "two blocks, learned weights, four heads",
}


def ones_table(results):
    return table(["model", "parameters", "accuracy", "validation loss"],
                 [[text, f"{results[name][0]['parameters']:,}", percent(results[name], "accuracy"), number(results[name], "val_loss")]
                  for name, text in ONES.items()])


TRANSLATORS = {
    "reorder_translation_fixed_context": "transformer, the mean of its states",
    "reorder_translation": "transformer, cross-attention",
    "reorder_translation_rnn": "GRU, its last state",
    "reorder_translation_rnn_attention": "GRU, attention",
}
LENGTHS = ((5, 6), (7, 8), (9, 10), (11, 12), (13, 14))


def share_right(result, words):
    rows = [row for row in result["by_length"] if row["targets"] - 1 in words]  # without <end>
    return sum(row["sequences"] * row["exact_match"] for row in rows) / sum(row["sequences"] for row in rows)


def at_length(results, words):
    return [{"share": share_right(result, words)} for result in results]


def length_table(results):
    return table(["words in the sentence", *(f"{a} or {b}" for a, b in LENGTHS)],
                 [[text, *(percent(at_length(results[name], words), "share") for words in LENGTHS)]
                  for name, text in TRANSLATORS.items()])


# Whether the verdicts still follow from the results.


def heads_overfit(results):
    doublings = list(zip(HEADS, HEADS[1:]))
    return (all(below(results, "train_loss", f"verdict-heads-{twice}", f"verdict-heads-{heads}")
                and below(results, "val_loss", f"verdict-heads-{heads}", f"verdict-heads-{twice}") for heads, twice in doublings)
            and all(below(results, "lowest_val_loss", "verdict-heads-1", f"verdict-heads-{heads}") for heads in HEADS[1:])
            and all(below(results, "val_loss", shakespeare(heads), shakespeare(8)) for heads in (1, 2)))


def full_width_is_better(results):
    return (same(results, "val_loss", "shakespeare", "shakespeare-separate-16")
            and below(results, "val_loss", "shakespeare-separate-64", "shakespeare")
            and below(results, "val_loss", "shakespeare-separate-64", "shakespeare-wide-feed-forward"))


def out_proj_can_go(results):
    return (same(results, "val_loss", "shakespeare", "shakespeare-no-out_proj")
            and same(results, "val_loss", "shakespeare-bare", "shakespeare-bare-no-out_proj"))


def scaling_matters_when_wide(results):
    def scaled_is_better(width):
        return below(results, "val_loss", f"shakespeare-scaled-{width}", f"shakespeare-unscaled-{width}")
    return (scaled_is_better(128) and scaled_is_better(512) and not scaled_is_better(8) and not scaled_is_better(32)
            and all(below(results, "val_loss", f"shakespeare-scaled-{b}", f"shakespeare-scaled-{a}") for a, b in zip(WIDTHS, WIDTHS[1:]))
            and mean(results["shakespeare-unscaled-512"], "entropy_as_drawn") < math.log(2))


def dropout_reduces_overfitting(results):
    long, short = dropout_names("shakespeare"), dropout_names("verdict")
    return (all(below(results, "val_loss", short[b], short[a]) and below(results, "train_loss", short[a], short[b])
                for a, b in zip(DROPOUTS, DROPOUTS[1:]))
            and not any(below(results, "val_loss", long[dropout], long[0]) for dropout in DROPOUTS[1:])
            and below(results, "val_loss", long[0], long[0.5]))


def leak_writes_nonsense(results):
    return mean(results["shakespeare-leak"], "val_loss") < 0.1 and mean(results["shakespeare-leak"], "words") < 0.02


def matrices_are_needed(results):
    tasks = ("sort", "negation", "word_sense")
    return all(not below(results, "accuracy", f"{task}-none", f"{task}-simple")
               and below(results, "accuracy", f"{task}-simple", f"{task}-v2") for task in tasks)


def one_mean_does_much(results):
    return (below(results, "accuracy", "negation-none", "negation-ones") and same(results, "accuracy", "negation-ones", "negation-head")
            and below(results, "accuracy", "negation-ones", "negation-heads"))


def fixed_context_forgets(results):
    def share(name, words):
        return mean(at_length(results[name], words), "share")
    return share("reorder_translation_rnn", LENGTHS[0]) < 0.5 and all(
        share(fixed, LENGTHS[0]) > 10 * share(fixed, LENGTHS[-1]) and share(attending, LENGTHS[-1]) > 0.9
        for fixed, attending in (("reorder_translation_fixed_context", "reorder_translation"),
                                 ("reorder_translation_rnn", "reorder_translation_rnn_attention")))


@dataclasses.dataclass(frozen=True)
class Claim:
    name: str
    title: str
    claim: str
    measured: str
    models: tuple
    commands: tuple  # names of the models whose commands are shown
    table: typing.Callable
    verdict: str
    follows: typing.Callable  # whether the verdict follows from the results


CLAIMS = (
    Claim(
        "heads", "Several heads against one", "One head may overfit; several heads are an ensemble.",
        "Models of the same width, and so with the same number of weights, whose attention has 1, 2, 4 or 8 heads. Shakespeare is a "
        "text of which the model sees a part only once. \"The Verdict\" is short and is read 22 times over, so that every model "
        "overfits: its validation loss falls, and rises again.",
        (*(shakespeare(heads) for heads in HEADS), *(f"verdict-heads-{heads}" for heads in HEADS)),
        ("shakespeare-heads-1", "verdict-heads-1"), heads_table, "Contradicted on this scale: heads do not protect from overfitting, they overfit more. On \"The Verdict\" each doubling of "
        "their number lowers the training loss and raises the last validation loss, and one head reaches the lowest validation loss of "
        "all. On Shakespeare, too, one or two wide heads are better than eight narrow ones.",
        heads_overfit),
    Claim(
        "split", "Split width against full width",
        "Splitting the width over the heads is as good as heads that each see all of it.",
        "Four heads. With the split, one matrix of 64 columns is cut into four heads of 16 columns. Separate heads have matrices of "
        "their own, and a Linear layer takes their outputs side by side. Full width makes attention four times as large, so the last "
        "row is the split model with as many weights more in its feed-forward layers.",
        tuple(SPLIT), ("shakespeare-separate-64", "shakespeare-wide-feed-forward"), losses_table("four heads", SPLIT),
        "Heads of the same width do as well from one matrix as from matrices of their own. But the claim does not hold for full width: "
        "heads that are 64 wide reach a lower loss than a split, also than one with as many weights, spent on its feed-forward layers.",
        full_width_is_better),
    Claim(
        "out_proj", "Without out_proj", "`out_proj`, the Linear layer behind the heads, can be left out.",
        "Without `out_proj` the heads' results are mixed only by the feed-forward layers. The last two rows have none either.",
        tuple(OUT_PROJ), ("shakespeare-no-out_proj", "shakespeare-bare-no-out_proj"), losses_table("four heads", OUT_PROJ),
        "Holds: without `out_proj` the loss is no higher than the seeds differ, whether a feed-forward layer mixes the heads or nothing "
        "does.",
        out_proj_can_go),
    Claim(
        "scale", "Without the scaling by sqrt(d)",
        "Scores are divided by the square root of the width d, since dot products grow with it, and softmax would become too sharp.",
        "One head of width d in a model that is always 64 wide; a Linear layer brings the head's output back to 64. The entropy of a "
        "row of attention weights is small if the head attends to a single token. It is 3.21 on average if a head attends to all "
        "tokens so far equally. It was measured on 32 windows of the validation text, before training (as drawn) and after it.",
        tuple(f"shakespeare-{kind}-{width}" for width in WIDTHS for kind in ("scaled", "unscaled")),
        ("shakespeare-unscaled-512",), scale_table, "Holds for wide heads. As drawn, an unscaled head of width 512 attends to one or two tokens, and training never recovers: the loss "
        "is far higher than with scaling, with which it falls as d grows. For d = 8 and 32 the scaling makes no such difference: without it "
        "the loss is no higher.",
        scaling_matters_when_wide),
    Claim(
        "dropout", "Dropout on the weights", "Dropout on the attention weights reduces overfitting.",
        "Only attention weights are dropped, nothing else in the model. Both losses are measured without dropout.",
        (*dropout_names("shakespeare").values(), *dropout_names("verdict").values()),
        ("shakespeare-dropout-0.1", "verdict-dropout-0.1"), dropout_table, "Holds on a short text: the more weights are dropped, the less \"The Verdict\" is learned by heart, and the lower the last validation "
        "loss. On Shakespeare, which the model does not overfit, the validation loss only rises.",
        dropout_reduces_overfitting),
    Claim(
        "leak", "Without the causal mask",
        "A language model without a causal mask sees what it has to predict. Its loss is low, and its text is nonsense.",
        "The same model with and without the mask. Each seed wrote 500 characters after `ROMEO:`, at temperature 0.8. "
        "\"Words that exist\" are those of at least three letters that occur in Shakespeare's text.",
        ("shakespeare", "shakespeare-leak"), ("shakespeare-leak",), leak_table, "Holds. Without the mask the loss is close to 0, for validation text as well, and the model writes no words at all: it has learned "
        "to copy the next character, and while it writes there is none.",
        leak_writes_nonsense),
    Claim(
        "matrices", "Attention without trainable weights",
        "Without trainable weights, attention compares the words by their own vectors. It cannot learn what to look for.",
        "Two blocks with one head, or with something else in its place. `sort` sorts 8 numbers. In `negation` a sentence is praise or not, "
        "in `word_sense` its \"bank\" is at a river or has money. The embeddings and feed-forward layers are trained in all of them. "
        "\"No attention\" is a Linear layer: each word by itself.",
        tuple(f"{task}-{name}" for task in ("sort", "negation", "word_sense") for name in ("none", "simple", "v1", "v2")),
        ("sort-simple", "negation-simple", "word_sense-simple"), matrices_table, "Holds. Attention without matrices is no better than no attention on any of the three tasks, and trained matrices solve what it "
        "cannot. (On Shakespeare it could not be compared: it has no causal mask.)",
        matrices_are_needed),
    Claim(
        "ones", "One mean for all against learned weights",
        "A matrix of ones (`np.ones`) as attention weights gives every word the same mean, and no word a say in what it gets.",
        "`negation`: \"Attention is not too shabby\" is praise. With `scale: 0` all scores are 0, so every word gets the mean of the "
        "values of all words: ones, divided by the number of words. All models classify the mean over their last states. The first has "
        "no positions either. Held out are combinations of a negation and a judgement, so they cannot be known by heart.",
        tuple(ONES), ("negation-bag", "negation-ones", "negation-head"), ones_table, "Holds in part: with one mean for all a word knows which others there are, and with the layers behind it that is enough for "
        "nearly all of these sentences. The learned weights of a single head are better by no more than the seeds differ; those of four "
        "heads are clearly better.",
        one_mean_does_much),
    Claim(
        "length", "A fixed context against attention, by length",
        "A vector of fixed size holds a short sentence, not a long one; attention to all states has no such limit.",
        "Sentences of a toy German, translated into a toy English with another word order. A sentence counts if all its words are right.",
        tuple(TRANSLATORS), tuple(TRANSLATORS), length_table, "Holds: with a fixed context the share of correct sentences falls steeply with their length, with attention it does not. The "
        "last state of a GRU of this size and training does not even hold most of the short ones.",
        fixed_context_forgets),
)


def section(claim, results):
    """The part of the page about one claim, as lines."""
    position = 1 + CLAIMS.index(claim)
    return [f"## {position}. {claim.title}", "", f"> {claim.claim}", "", *wrapped(claim.measured), "", "```sh",
            *(command(name) for name in claim.commands), "```", "", *claim.table(results), "",
            *wrapped(f"**Verdict.** {claim.verdict}"), ""]


def wrapped(text):
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def page(results, seeds):
    minutes = sum(run["cpu_seconds"] for runs in results.values() for run in runs) / 60
    intro = f"""The book "Build a Large Language Model (From Scratch)", chapter 3, and other texts that explain attention claim
nine things. This page measures each of them with `heed` alone, on small models and texts, and says where the result contradicts
the claim. `python3 tools/bench/claims.py` trains the {len(results)} models with the seeds {", ".join(map(str, seeds))} and writes this
page, verdicts included. Its {len(results) * len(seeds)} runs took {minutes:.0f} minutes of CPU time: about
{minutes / 2:.0f} minutes on two quiet cores."""
    how = f"""A figure is the mean over the {len(seeds)} seeds ± the standard deviation. A seed decides the first weights, the order of the
batches and what is generated. Two means are called different if they are further apart than their two deviations together. Losses are
means of the cross-entropy per token, from `heed eval`, without dropout; "training" is measured on as much of the training text as
there is text for validation. Except where a section says otherwise the model is a GPT with two blocks, {WIDTH} wide, with four heads
and without dropout. A small model on a small text says nothing about a large one."""
    bases = [f"{name}='configs/{config}.yaml {' '.join('--set ' + change for change in sets)}'" for name, (config, sets) in BASES.items()]
    lines = ["# What the documents claim, measured", "", *wrapped(" ".join(intro.split())), "", *wrapped(" ".join(how.split())), "",
             "Each section shows how one or two of its models are trained. Add `--set seed=1 --out runs/mine`, then run",
             "`heed eval runs/mine`. The commands begin with one of these (in bash):", "", "```sh", *bases, "```", ""]
    return "\n".join(lines + [line for claim in CLAIMS for line in section(claim, results)]).rstrip("\n") + "\n"
