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
    return table(["heads", "width per head", "Shakespeare: training", "Shakespeare: validation", "The Verdict: training",
                  "The Verdict: lowest validation", "The Verdict: last validation"], rows)


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
    return table(["d", "loss: scaled", "loss: unscaled", "entropy before training: scaled", "before: unscaled",
                  "entropy after training: scaled", "after: unscaled"], rows)


def dropout_names(text):
    return {dropout: f"{text}-dropout-{dropout}" if dropout else ("shakespeare" if text == "shakespeare" else "verdict-heads-4")
            for dropout in DROPOUTS}


def dropout_table(results):
    rows = [[str(dropout), *(number(results[dropout_names("shakespeare")[dropout]], key) for key in ("train_loss", "val_loss")),
             *(number(results[dropout_names("verdict")[dropout]], key) for key in ("train_loss", "lowest_val_loss", "val_loss"))]
            for dropout in DROPOUTS]
    return table(["dropout", "Shakespeare: training", "Shakespeare: validation", "The Verdict: training",
                  "The Verdict: lowest validation", "The Verdict: last validation"], rows)


def leak_table(results):
    names = {"shakespeare": "with", "shakespeare-leak": "without"}
    lines = table(["causal mask", "training loss", "validation loss", "words that exist"],
                  [[text, number(results[name], "train_loss"), number(results[name], "val_loss"), percent(results[name], "words")]
                   for name, text in names.items()])
    for name, text in names.items():
        written = [line[:60] for line in results[name][0]["text"].splitlines()[:4]]
        lines += ["", f"How the text of the first seed begins, {text} the mask (the first 60 characters of each line):", "", "```", *written, "```"]
    return lines


def matrices_table(results):
    names = {"none": "no attention", "simple": "`simple_attention`, no trainable weights", "v1": "`self_attention_v1`",
             "v2": "`self_attention_v2`"}
    return table(["attention", "`sort`: numbers right", "`sort`: sequences right", "`negation`", "`word_sense`"],
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
    "reorder_translation_fixed_context": "transformer, mean of the encoder's states",
    "reorder_translation": "transformer, cross-attention",
    "reorder_translation_rnn": "GRU, last state only",
    "reorder_translation_rnn_attention": "GRU with attention",
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
    claim: str  # in our words
    source: str
    measured: str
    models: tuple
    commands: tuple  # names of the models whose commands are shown
    table: typing.Callable
    verdict: str  # a word or two: holds, contradicted, ...
    result: str  # and why
    follows: typing.Callable  # whether verdict and result follow from the figures


CLAIMS = (
    Claim(
        "heads", "Several heads against one", "A single head may overfit; several heads are an ensemble and overfit less.",
        "an introductory article",
        "Models of the same width, and so with the same number of weights, whose attention has 1, 2, 4 or 8 heads. The Shakespeare text "
        "is long: training does not get through it once. \"The Verdict\", the short story that the book uses, is short: it is read 22 "
        "times, so that every model overfits. Its validation loss falls and then rises.",
        (*(shakespeare(heads) for heads in HEADS), *(f"verdict-heads-{heads}" for heads in HEADS)),
        ("shakespeare-heads-1", "verdict-heads-1"), heads_table, "contradicted at this size",
        "One head does overfit, but more heads overfit more: on \"The Verdict\" each doubling lowers the training loss and raises the last "
        "validation loss. One head also reaches the lowest validation loss of all. On Shakespeare, which is not overfitted, one or two "
        "wide heads reach a lower loss than eight narrow ones.",
        heads_overfit),
    Claim(
        "split", "Split width against full width",
        "Heads that share the width (64 / 4 = 16 each) are as good as heads that are each 64 wide.", "an introductory article",
        "All models have four heads. *Split* (the book's `MultiHeadAttention`): one 64 x 64 matrix for the queries, one for the keys and "
        "one for the values, each cut into four heads 16 wide. *Separate* (`MultiHeadAttentionWrapper`): each head has its own matrices, "
        "and a Linear layer combines their outputs. Heads of the full width make attention four times as large. For a fair comparison, "
        "the last row adds the same number of weights to the feed-forward layers of the split model.",
        tuple(SPLIT), ("shakespeare-separate-64", "shakespeare-wide-feed-forward"), losses_table("four heads", SPLIT),
        "holds for heads of the same width only",
        "Heads 16 wide do as well from one matrix as from matrices of their own. But heads 64 wide reach a lower loss than split heads, "
        "even when the split model gets as many extra weights in its feed-forward layers.",
        full_width_is_better),
    Claim(
        "out_proj", "Without `out_proj`", "`out_proj`, the Linear layer after the heads, can be left out.", "book, 3.6",
        "Without `out_proj` the outputs of the heads only lie side by side, and the feed-forward layer mixes them. In the last two rows "
        "there is no feed-forward layer either: then only the matrices of the next block and the output layer do.",
        tuple(OUT_PROJ), ("shakespeare-no-out_proj", "shakespeare-bare-no-out_proj"), losses_table("four heads", OUT_PROJ),
        "holds at this size",
        "Without `out_proj` the loss rises by less than the spread between seeds, with a feed-forward layer and without one.",
        out_proj_can_go),
    Claim(
        "scale", "Without the scaling by the square root of d",
        "Dot products grow with the width d of a head, which makes softmax too sharp and its gradients too small. So they are divided "
        "by the square root of d.", "book, 3.4",
        "One head of width d in a model that is always 64 wide; a Linear layer brings the head's output back to 64. *Unscaled* is "
        "`scale: 1`; without that field scores are scaled. The entropy of a row of attention weights (in nats) is 0 if the head attends "
        "to a single token. If it attends equally to all tokens so far, it is 3.21 on average over the 64 positions. It is the mean over "
        "both blocks and the first 32 validation windows, before training and after it.",
        tuple(f"shakespeare-{kind}-{width}" for width in WIDTHS for kind in ("scaled", "unscaled")),
        ("shakespeare-unscaled-512",), scale_table, "holds for wide heads",
        "Before training, a scaled head spreads its attention in the same way at every width. An unscaled one gets sharper as d grows: at "
        "d = 512 it attends to one or two tokens, and it does not recover in this training. With scaling the loss falls as d grows. At "
        "d = 8 and 32 scaling does not lower the loss; at d = 8 the unscaled head is even slightly better.",
        scaling_matters_when_wide),
    Claim(
        "dropout", "Dropout on the attention weights", "Dropout on the attention weights reduces overfitting.", "book, 3.5",
        "Only attention weights are dropped, nothing else in the model. All losses are measured without dropout.",
        (*dropout_names("shakespeare").values(), *dropout_names("verdict").values()),
        ("shakespeare-dropout-0.1", "verdict-dropout-0.1"), dropout_table, "holds on a short text",
        "The more weights are dropped, the less \"The Verdict\" is memorised, and the lower the last validation loss. The lowest "
        "validation loss changes little: whoever stops training there needs no dropout. On Shakespeare, which training does not read "
        "even once, dropout never lowers the validation loss, and 0.5 raises it.",
        dropout_reduces_overfitting),
    Claim(
        "leak", "Without the causal mask",
        "A language model without a causal mask sees the tokens it has to predict. Its loss is low, and the text it writes is nonsense.",
        "book, 3.5, and its consequence",
        "The same model with and without the mask. For each seed the model generated 500 characters after `ROMEO:`, at temperature 0.8. "
        "\"Words that exist\" is the share of the generated words of three or more letters that occur in Shakespeare's text. (A model "
        "this small invents most of its words, with the mask too.)",
        ("shakespeare", "shakespeare-leak"), ("shakespeare-leak",), leak_table, "holds",
        "Without the mask the loss is close to 0, on validation text as well, and the model writes no word that exists. In training it "
        "could copy the next character from its input; when it generates text, the next character does not exist yet.",
        leak_writes_nonsense),
    Claim(
        "matrices", "Attention without trainable weights",
        "Without trainable weights, attention compares the words by their own vectors. It cannot learn what to look for.", "book, 3.3",
        "Models of two blocks with one head, in which attention is replaced. `sort` sorts 8 numbers; `negation` decides whether a "
        "sentence is praise; `word_sense` decides whether its \"bank\" is a river bank or a bank for money. Embeddings and feed-forward "
        "layers are always trained. \"No attention\" is a Linear layer that sees each word by itself; only the mean over all words, taken "
        "at the end, brings them together. `self_attention_v1` and `v2` compute the same; as in the book, v1 begins with numbers between "
        "0 and 1 (`torch.rand`), v2 with those of `nn.Linear`, around 0. Guessing one of two classes is right in 50% of the sentences.",
        tuple(f"{task}-{name}" for task in ("sort", "negation", "word_sense") for name in ("none", "simple", "v1", "v2")),
        ("sort-simple", "negation-simple", "word_sense-simple"), matrices_table, "holds",
        "Attention without trainable weights is no better than no attention on any of the three tasks. `self_attention_v2` solves all "
        "three. `self_attention_v1` differs only in its first weights and learns more slowly. (`simple_attention` has no causal mask, so "
        "it could not be compared on Shakespeare.)",
        matrices_are_needed),
    Claim(
        "ones", "One mean for all against learned weights",
        "If all attention weights are equal (`np.ones`, divided by the number of words), every word receives the same mean, so "
        "attention contributes little.", "an introductory article",
        "`negation`: \"Attention is not too shabby\" is praise. With `scale: 0` all scores are 0, so every word gets the mean of the "
        "values of all words; the query and key matrices are there and do nothing. All models average the outputs of their last layer "
        "and classify that mean. The first model has neither blocks nor positions. The validation sentences combine negations and "
        "judgements that do not occur together in training, so they cannot be memorised. Guessing is right in 50%.",
        tuple(ONES), ("negation-bag", "negation-ones", "negation-head"), ones_table, "mostly contradicted on this task",
        "With equal weights every word still learns which other words there are, and the layers after it classify nearly all of these "
        "sentences. One head with learned weights is not clearly better (within the spread); four heads are.",
        one_mean_does_much),
    Claim(
        "length", "Fixed context against attention, by sentence length",
        "A vector of fixed size holds a short sentence but not a long one; attention to all states has no such limit.", "book, 3.1",
        "Sentences of a toy German are translated into a toy English with another word order. Training sentences have all of these "
        "lengths, the same for both languages; those of the table were held out. A sentence counts as correct only if every word is "
        "right. The GRU is a recurrent network.",
        tuple(TRANSLATORS), tuple(TRANSLATORS), length_table, "holds",
        "With a fixed context the share of correct sentences falls steeply with their length, by more than the number of words alone "
        "would explain. With attention it stays at 100%. The last state of this GRU, after 1,000 steps, fails on most of the short "
        "sentences too; with attention the same 1,000 steps are enough.",
        fixed_context_forgets),
)


def section(claim, results):
    """The part of the page about one claim, as lines."""
    position = 1 + CLAIMS.index(claim)
    return [f"## {position}. {claim.title}", "", *wrapped(f"> {claim.claim} ({claim.source})", "> "), "", *wrapped(claim.measured), "",
            "```sh", *(command(name) for name in claim.commands), "```", "", *claim.table(results), "",
            *wrapped(f"**Result: {claim.verdict}.** {claim.result}"), ""]


def wrapped(text, later=""):
    return textwrap.wrap(text, 120, subsequent_indent=later, break_long_words=False, break_on_hyphens=False)


def summary():
    """The claims and what became of them, as lines."""
    rows = [[str(position), claim.title, claim.source, claim.verdict] for position, claim in enumerate(CLAIMS, 1)]
    return ["| | claim | source | result |", "|---:|---|---|---|"] + ["| " + " | ".join(row) + " |" for row in rows]


def page(results, seeds):
    minutes = sum(run["cpu_seconds"] for runs in results.values() for run in runs) / 60
    intro = f"""The book "Build a Large Language Model (From Scratch)", chapter 3, and other introductions to attention make claims
that can be tested. Here are nine of them, in our words, each measured with `heed`, the command-line tool of this project.
These are small models on small texts; large models may behave differently."""
    how = f"""Each number is the mean ± the standard deviation over {len(seeds)} seeds. The seed determines the initial weights, the
order of the batches and the sampling. Two means count as different if they differ by more than the sum of their standard
deviations. Losses are means of the cross-entropy per token (here a character), measured without dropout by `heed eval`. The
training loss is measured on as many training windows as there are for validation, evenly spaced. The lowest validation loss is
that of `metrics.csv`. Except where a section says otherwise the model is a GPT with two blocks, {WIDTH} wide, with four heads,
a context of 64 characters and no dropout; it is trained on Shakespeare for 1,000 steps of 12 windows, on "The Verdict" for 800
steps of 8."""
    made = f"""`python3 tools/wings/bench/claims.py` trains the {len(results)} models with the seeds {", ".join(map(str, seeds))}, writes this page, and
fails if a result no longer follows from the numbers. Its {len(results) * len(seeds)} runs took {minutes:.0f} minutes of CPU time: about
{minutes / 2:.0f} minutes on two quiet cores. `--only scale` measures a single claim."""
    commands = """Each section shows how some of its models are trained. Add `--set seed=1 --out runs/mine`, then run
`heed eval runs/mine`; the script shows how the other columns are measured. Where the heads are given in `model.attention`,
`model.num_heads` would do nothing; 1 says so. Sections 1 to 6 begin with one of these (bash):"""
    bases = [f"{name}='configs/{config}.yaml {' '.join('--set ' + change for change in sets)}'" for name, (config, sets) in BASES.items()]
    lines = ["# Nine claims about attention, measured", ""]
    for part in (intro, how, made):
        lines += [*wrapped(" ".join(part.split())), ""]
    lines += [*summary(), "", *wrapped(" ".join(commands.split())), "", "```sh", *bases, "```", ""]
    return "\n".join(lines + [line for claim in CLAIMS for line in section(claim, results)]).rstrip("\n") + "\n"
