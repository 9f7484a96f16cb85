"""Trains the configs with several seeds and fills in the tables of results on the pages in configs/.

    python3 tools/wings/bench/results.py tasks       # every task                             configs/README.md
    python3 tools/wings/bench/results.py circuits    # what the heads of induction.yaml do    configs/README.md
    python3 tools/wings/bench/results.py own_data    # from files    configs/wings/own_data/your_own_data.md
    python3 tools/wings/bench/results.py claims      # nine claims about attention            configs/claims.md
    python3 tools/wings/bench/results.py kinds       # every kind of attention, on one text   configs/attention.md
    python3 tools/wings/bench/results.py --check     # the models and pages are valid, two steps of one claim; writes nothing
          [--heed build/release/heed] [--seeds 1 2 3] [--only negation ...] [--runs DIR]

A table lies on its page between <!-- NAME: tools/wings/bench/results.py --> and <!-- end of NAME -->; titles and labels are the
page's. A run that is there is taken as it is, so an interrupted table is continued. --only takes tasks or claims by name;
with it or other --seeds tables are printed, not written, and other rows are as on the page. Claims run two at a time, on
a thread each. Exit code 1 when a figure was missed, or what a page says of a claim no longer follows. Needs Python only.
"""
import argparse
import concurrent.futures
import csv
import functools
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import typing

import effects

CONFIGS = (ROOT := pathlib.Path(__file__).resolve().parents[3]) / "configs"
FILES = {file.stem: file for file in [*CONFIGS.glob("*.yaml"), *CONFIGS.glob("wings/*/*.yaml")]}


# ---- One model: training, measuring
class Model(typing.NamedTuple):
    config: str
    sets: tuple = ()  # of --set
    asked: tuple = ()  # what else is measured: "entropy" of the attention weights, "text" that it writes


def run_heed(program, threads, *arguments):
    command = [program, *map(str, arguments)]
    environment = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def train_arguments(model, seed, steps=None):
    changes = [f"seed={seed}", *model.sets, *([f"train.steps={steps}"] if steps else [])]
    return [FILES[model.config], *(part for change in changes for part in ("--set", change))]


def mean_entropy(heed, run):
    """Of the attention weights of a row, in nats, over all heads and 32 validation windows."""
    heads = json.loads(heed("probe", run, "heads", "--examples", 32, "--json"))["heads"]
    return sum(head["entropy"] for head in heads) / len(heads)


def share_of_words(text):
    """How many of the words of at least three letters are words of Shakespeare's."""
    shakespeare = (CONFIGS / "data/tinyshakespeare.txt").read_text()
    words, known = (re.findall(r"[a-z']{3,}", of.lower()) for of in (text, shakespeare))
    return sum(map(set(known).__contains__, words)) / max(1, len(words))


def measure(heed, model, seed, run, steps=None):
    """Trains and evaluates one model, unless `run` has its result. Returns what the pages need of it."""
    arguments = train_arguments(model, seed, steps)
    known_as = {"arguments": arguments[1:], "config": arguments[0].read_text(), "asked": list(model.asked)}
    marker = run / "result.json"
    if marker.exists() and (known := json.loads(marker.read_text()))["known_as"] == known_as:
        return known
    shutil.rmtree(run, ignore_errors=True)  # of another config, or interrupted
    heed("train", *arguments, "--out", run)
    result = json.loads(heed("eval", run, "--json"))
    result["parameters"] = json.loads(heed("inspect", run, "--json"))["parameters"]
    with open(run / "metrics.csv") as file:
        rows = list(csv.DictReader(file))
    result["seconds"] = float(rows[-1]["seconds"])
    result["curve"] = [[float(row["loss"]), float(row["val_loss"])] for row in rows if row["val_loss"] and row["loss"]]
    result["lowest_val_loss"] = min([result["val_loss"], *(float(row["val_loss"]) for row in rows if row["val_loss"])])
    if "entropy" in model.asked:
        result["entropy"] = mean_entropy(heed, run)
        drawn = run / "as_drawn"  # one step with a learning rate of almost 0
        heed("train", *arguments, "--set", "train.steps=1", "--set", "optimizer.lr=1e-9", "--set",
             "schedule={type: constant}", "--out", drawn)
        result["entropy_as_drawn"] = mean_entropy(heed, drawn)
    if "text" in model.asked:
        result["text"] = heed("generate", run, "--prompt", "ROMEO:", "--tokens", 500, "--seed", seed)
        result["words"] = share_of_words(result["text"].removeprefix("ROMEO:"))
    result |= {"known_as": known_as, "run": str(run)}
    marker.write_text(json.dumps(result))
    return result


def measure_all(args, models, runs, jobs=1, steps=None):
    """{name: [a result for each seed]}. All models of a seed come before the next seed; a model of two names runs once."""
    heed = functools.partial(run_heed, args.heed, 1 if jobs > 1 else None)
    names = {model: name for name, model in reversed(models.items())}
    results = {model: [None] * len(args.seeds) for model in names}
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    waiting = {pool.submit(measure, heed, model, seed, runs / f"{names[model]}-{seed}", steps): (model, i)
               for i, seed in enumerate(args.seeds) for model in dict.fromkeys(models.values())}
    try:
        for done in concurrent.futures.as_completed(waiting):
            model, i = waiting[done]
            results[model][i] = one = done.result()
            print(f"{names[model]:44} seed {args.seeds[i]}  val_loss {one['val_loss']:.4f}  {one['seconds']:.0f} s", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return {name: results[model] for name, model in models.items()}


# ---- Pages
def percent(value):
    return f"{100 * value:.2f}%" if value < 1 else "100%"


def on_page(page, name):
    """What stands on a page before, between and behind the two marks."""
    begin, end = f"<!-- {name}: tools/wings/bench/results.py -->\n", f"<!-- end of {name} -->\n"
    text = (CONFIGS / page).read_text()
    if text.count(begin) != 1 or text.count(end) != 1:
        raise RuntimeError(f"configs/{page}: expected {begin.strip()} and {end.strip()} once")
    return text[:text.index(begin) + len(begin)], text[text.index(begin) + len(begin):text.index(end)], text[text.index(end):]


def put(args, page, name, text):
    before, _, behind = on_page(page, name)
    if args.printed:
        print(text)
    else:
        (CONFIGS / page).write_text(before + text + behind)


def table(page, name):
    """The titles and the rows of a table, as cells."""
    lines = on_page(page, name)[1].splitlines()
    titles, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return titles, rows


def fill(args, page, name, new_row):
    """new_row(number, cells of the old row, titles) gives the cells of a row."""
    titles, rows = table(page, name)
    new = ["| " + " | ".join(new_row(i, row, titles)) + " |\n" for i, row in enumerate(rows)]
    put(args, page, name, "".join([*on_page(page, name)[1].splitlines(True)[:2], *new]))


# ---- Tasks
VARIANTS = {"one head as wide as the four": ("model.num_heads=1",), "`dot`": ("model.attention=dot",)}
TRANSLATORS = ("reorder_translation", "reorder_translation_rnn_attention", "reorder_translation_fixed_context",
               "reorder_translation_rnn")  # in the order of the table


def tasks_on_page():
    """(name of the run, model, metric, least value, what it must stay below), as the page has them."""
    for label, figure, *_ in table("README.md", "tasks")[1]:
        config, _, variant = label.partition(", ")
        model = Model(config.strip("`"), VARIANTS[variant] if variant else ())
        metric, sign, bound = re.fullmatch(r"(exact match|accuracy)(?: (at least|below) ([\d.]+)%)?", figure).groups()
        least, most = (-math.inf, float(bound) / 100) if sign == "below" else (float(bound or 0) / 100, math.inf)
        yield run_name(model), model, metric.replace(" ", "_"), least, most


def run_name(model):
    return "-".join([model.config, *(change.replace("=", "_") for change in model.sets)])


def share_right(by_length, words):
    rows = [row for row in by_length if row["targets"] - 1 in words]  # without <end>
    return sum(row["sequences"] * row["exact_match"] for row in rows) / sum(row["sequences"] for row in rows)


def tasks(args):
    known = list(tasks_on_page())
    models = {name: model for name, model, *_ in known if model.config in (args.only or [model.config])}
    results = measure_all(args, models, args.runs)

    def task_row(i, row, _):
        (name, _, metric, *_), label = known[i], row[:2]
        figures = [percent(run[metric]) for run in results.get(name, [])]
        return [*label, *figures, " ".join(f"{run['seconds']:.0f}" for run in results[name])] if figures else row

    def sentence_row(i, row, titles):  # all seeds together
        found = [of for run in results.get(TRANSLATORS[i], []) for of in run["by_length"]]
        return [row[0], *(f"{100 * share_right(found, (int(words),)):.1f}%" for words in titles[1:])] if found else row

    def curve_row(i, row, _):  # of the first seed
        curve = results["modular_addition"][0]["curve"] if "modular_addition" in results else None
        return [row[0], *(f"{losses[i]:.3f}" for losses in curve)] if curve else row

    for name, new_row in (("tasks", task_row), ("sentences", sentence_row), ("curve", curve_row)):
        fill(args, "README.md", name, new_row)
    return [f"{name}: {percent(run[metric])} is not from {least:.2f} to {most:.2f}" for name, _, metric, least, most in known
            for run in results.get(name, []) if not (least <= run[metric] < most)]


# ---- Circuits
CIRCUITS = (Model("induction"), Model("induction", ("model.num_heads=2",)), Model("induction", ("model.num_heads=4",)),
            Model("induction_one_block"))  # in the order of the table


def circuit(heed, result):
    """The accuracy, the best previous-token head of block 0, the best induction head of the last block, and the accuracy
    without the head of each block that matters most; with one block, without the first alone."""
    heads = json.loads(heed("probe", result["run"], "heads", "--json"))["heads"]
    parts = json.loads(heed("probe", result["run"], "ablate", "--json"))["parts"]
    last = max(head["block"] for head in heads)
    best = [max(head[score] for head in heads if head["block"] == block)
            for block, score in ((0, "previous_token"), (last, "induction"))]
    without = [min(part["accuracy"] for part in parts if part["head"] is not None and part["part"] == f"trf_blocks.{block}.att")
               for block in sorted({0, last})]
    return (result["accuracy"], *best, *without)


def circuits(args):
    measured = measure_all(args, {run_name(model): model for model in CIRCUITS}, args.runs)
    found = [[circuit(args.run_heed, run) for run in measured[run_name(model)]] for model in CIRCUITS]
    forms = ("{:.2%}", "{:.2f}", "{:.2f}", "{:.0%}", "{:.0%}")
    fill(args, "README.md", "circuits", lambda i, row, _: [
        row[0], *(" ".join(form.format(one[k]) for one in found[i] if k < len(one)) for k, form in enumerate(forms))])
    return [f"induction: {one}" for one in found[0]
            if one[0] < 0.99 or one[1] <= 0.4 or one[2] <= 0.7 or max(one[3:]) > one[0] - 0.5]


# ---- Two tasks as files of a user's own
# task: type for its file, metric, marks that are no words
OWN_DATA = {"negation": ("labelled", "accuracy", "<class> "), "reorder_translation": ("pairs", "exact_match", " <end>")}


def examples(heed, task, seed):
    """(what is given, the answer) of the training and the validation examples that a task shows."""
    data = json.loads(heed("data", FILES[task], "--examples", 100_000, "--json", "--set", f"seed={seed}"))
    parts, mark = {"training": [], "validation": []}, OWN_DATA[task][2]
    for one in data["examples"]:
        parts[one["split"]].append((one.get("source", one["given"]).replace(mark, ""), one["answer"].replace(mark, "")))
    return parts["training"], list(dict.fromkeys(parts["validation"]))


def own_file(heed, folder, task, count=20_000):
    """Writes examples of a task to two files; the task itself makes new ones for every batch. Returns the data section."""
    (train, held_out), seed = examples(heed, task, 1), 1000
    hidden = {given for given, _ in held_out}
    while len(train) < count:  # another seed holds other examples out
        train += [pair for pair in examples(heed, task, seed)[0] if pair[0] not in hidden]
        seed += 1
    folder.mkdir(parents=True, exist_ok=True)
    paths = [(folder / f"{task}_{part}.tsv").resolve() for part in ("train", "val")]
    for path, pairs in zip(paths, (train[:count], held_out)):
        path.write_text("".join(f"{given}\t{answer}\n" for given, answer in pairs))
    return f"data={{type: {OWN_DATA[task][0]}, path: {paths[0]}, validation: {paths[1]}}}"


def own_data(args):
    own = {f"own-{task}": Model(task, (own_file(args.run_heed, args.runs, task), "sample={}")) for task in OWN_DATA}
    results = measure_all(args, own | {task: Model(task) for task in OWN_DATA}, args.runs)
    shown = [[[run[metric] for run in results[name]] for name in (f"own-{task}", task)]
             for task, (_, metric, _) in OWN_DATA.items()]
    fill(args, "wings/own_data/your_own_data.md", "own_data", lambda i, row, _: [
        *row[:2], *map(percent, shown[i][0]), " ".join(map(percent, shown[i][1]))])
    return [f"own-{task}: {min(of)}, expected 0.98" for task, (of, _) in zip(OWN_DATA, shown) if min(of) < 0.98]


# ---- Claims: configs/claims.md has the words, here are the models, the figures, and what has to follow from them
WIDTH, HEADS, WIDTHS, DROPOUTS = 64, (1, 2, 4, 8), (8, 32, 128, 512), (0, 0.1, 0.2, 0.5)
SMALL = (f"model.d_model={WIDTH}", "model.num_layers=2", "model.dropout=0")
TEXTS = {
    "shakespeare": Model("shakespeare_multi_head_attention", (*SMALL, "optimizer.lr=3e-3", "schedule.min_lr=3e-4",
                                                              "eval.every=none", "sample.every=none")),
    "verdict": Model("the_verdict", (*SMALL, "eval.every=25", "train.steps=800", "optimizer.lr=2e-3", "sample.every=none")),
}
LENGTHS = ((5, 6), (7, 8), (9, 10), (11, 12), (13, 14))


def on(text, *sets, asked=()):
    return Model(TEXTS[text].config, (*TEXTS[text].sets, *sets), asked)


def attention(*fields):
    return f"model.attention={{{', '.join(('type: multi_head_attention', *fields))}}}"


def own_heads(kind, width, heads, more=""):
    """Heads of any width in place of attention; a Linear layer brings their output back to the width of the model."""
    layer = f"{{type: {kind}, d_in: {WIDTH}, d_out: {width}, context_length: 64, num_heads: {heads}{more}}}"
    linear = f"{{type: linear, d_in: {heads * width}, d_out: {WIDTH}}}"
    return "model.num_heads=1", f"model.attention={{type: sequential, layers: [{layer}, {linear}]}}"


def sentences(task, *sets):
    steps = {"negation": 1500, "word_sense": 800}[task]
    return Model(task, ("model.num_heads=1", f"train.steps={steps}", "eval.every=none", "sample.every=none", *sets))


def claim_models():
    models = {"shakespeare": on("shakespeare", asked=("text",))}  # 4 heads; all on Shakespeare are compared with it
    models |= {f"verdict-heads-{heads}": on("verdict", f"model.num_heads={heads}") for heads in HEADS}
    models |= {f"shakespeare-heads-{heads}": on("shakespeare", f"model.num_heads={heads}") for heads in HEADS}
    for text, usual in (("shakespeare", "shakespeare"), ("verdict", "verdict-heads-4")):
        models |= {f"{text}-dropout-{dropout}": on(text, attention(f"dropout: {dropout}")) for dropout in DROPOUTS}
        models |= {f"{text}-heads-4": models[usual], f"{text}-dropout-0": models[usual]}
    for width in (WIDTH // 4, WIDTH):
        models[f"shakespeare-separate-{width}"] = on("shakespeare", *own_heads("multi_head_attention_wrapper", width, 4))
    without, bare = attention("out_proj: false"), "model.feed_forward=none"
    for name, sets in (("wide-feed-forward", ["model.hidden_multiplier=10"]), ("no-out_proj", [without]), ("bare", [bare]),
                       ("bare-no-out_proj", [bare, without])):
        models[f"shakespeare-{name}"] = on("shakespeare", *sets)
    for kind, scale in (("scaled", "auto"), ("unscaled", 1)):
        heads = {d: own_heads("multi_head_attention", d, 1, f", out_proj: false, scale: {scale}") for d in WIDTHS}
        models |= {f"shakespeare-{kind}-{d}": on("shakespeare", *head, asked=("entropy",)) for d, head in heads.items()}
    models["shakespeare-leak"] = on("shakespeare", attention("causal: false"), asked=("text",))
    for name, instead in (("none", f"linear, d_in: {WIDTH}, d_out: {WIDTH}"), ("simple", "simple_attention"),
                          ("v1", "self_attention_v1"), ("v2", "self_attention_v2")):
        instead = f"model.attention={{type: {instead}}}"
        models[f"sort-{name}"] = Model("sort_self_attention_v2", ("eval.every=none", instead))
        models |= {f"{task}-{name}": sentences(task, instead) for task in ("negation", "word_sense")}
    models["negation-bag"] = Model("negation_bag_of_words", ("eval.every=none",))
    for name, change in (("ones", attention("scale: 0")), ("head", attention()), ("heads", "model.num_heads=4")):
        models[f"negation-{name}"] = sentences("negation", change)
    for config in TRANSLATORS:
        size = ("model.d_model=96", "train.steps=1000") if "_rnn" in config else (f"model.d_model={WIDTH}",)
        models[config] = Model(config, ("eval.every=none", "sample.every=none", *size))
    return models


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


def models_of(claims):
    models = claim_models()
    wanted = {models[name] for claim in claims for names in CLAIMS[claim].rows for name in names}
    return {name: model for name, model in models.items() if model in wanted}


def fill_claim(args, name, results):
    rows, columns = CLAIMS[name].rows, CLAIMS[name].columns
    fill(args, "claims.md", name, lambda i, row, _: [
        *row[:len(row) - len(columns)], *(figure(results[rows[i][of]], key) for of, key in columns)])


def effects_of(name):
    """The pairs that the page compares, with what the table of the claim, as it stands there, says of them."""
    titles, rows = table("claims.md", name)
    return [[*row[:3], *effects.row_of(titles, rows, *row[:3])] for row in table("claims.md", f"effects of {name}")[1]]


def fill_effects(args, name):
    rows = effects_of(name)
    fill(args, "claims.md", f"effects of {name}", lambda i, *_: rows[i])


def claims(args):
    names = [name for name in CLAIMS if name in (args.only or CLAIMS)]
    models = models_of(names)
    results = measure_all(args, models, args.runs / "claims", jobs=2)
    for name in names:
        fill_claim(args, name, results)
    for name in () if args.printed else names:
        fill_effects(args, name)
    for model in ("shakespeare", "shakespeare-leak") if "leak" in names else ():
        written = [line[:60] for line in results[model][0]["text"].splitlines()[:4]]
        put(args, "claims.md", f"text of {model}", "\n".join(["```", *written, "```", ""]))
    minutes = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) / 60
    print(f"{len(set(models.values())) * len(args.seeds)} runs, {minutes:.0f} minutes of CPU time")
    return [f"{name}: what the page says no longer follows" for name in names if not CLAIMS[name].follows(results)]


# ---- Kinds of attention: configs/attention.md has a row for each, with what is put in place of the usual one
def kinds_on_page():
    """{name of the run: model}, in the order of the rows."""
    rows = table("attention.md", "kinds")[1]
    return {f"kind-{i}": on("shakespeare", *(f"model.{change}" for change in re.findall(r"`([^`]+)`", changes)))
            for i, (_, changes, *_) in enumerate(rows)}


def kinds(args):
    results = measure_all(args, kinds_on_page(), args.runs / "kinds", jobs=2)
    fill(args, "attention.md", "kinds", lambda i, row, _: [
        *row[:-2], *(figure(results[f"kind-{i}"], key) for key in ("parameters", "val_loss"))])
    return []


# ---- The program
def check(args):
    models = models_of(CLAIMS)
    for model in {*models.values(), *CIRCUITS, *kinds_on_page().values(), *(model for _, model, *_ in tasks_on_page())}:
        args.run_heed("validate", *train_arguments(model, 1))
    page, known = (CONFIGS / "claims.md").read_text(), {(model.config, model.sets) for model in models.values()}
    bases = dict(re.findall(r"^(\w+)='(.*)'$", page, re.M))
    for line in re.findall(r"^heed train (.*)$", page, re.M):  # each is how one of the models is trained
        config, *rest = shlex.split(re.sub(r"^\$(\w+)", lambda base: bases[base[1]], line))
        if (pathlib.Path(config).stem, tuple(rest[1::2])) not in known:
            raise RuntimeError(f"configs/claims.md: expected the command of a model of results.py, got {line}")
    for name in CLAIMS:
        if (expected := effects_of(name)) != (got := table("claims.md", f"effects of {name}")[1]):
            raise RuntimeError(f"configs/claims.md: effects of {name}: its table says {expected}, got {got}")
    sizes = [("claims.md", name, len(claim.rows)) for name, claim in CLAIMS.items()] + [
        ("README.md", "circuits", len(CIRCUITS)), ("README.md", "sentences", len(TRANSLATORS)), ("README.md", "curve", 2),
        ("wings/own_data/your_own_data.md", "own_data", len(OWN_DATA))]
    for where, name, rows in sizes:
        if (got := len(table(where, name)[1])) != rows:
            raise RuntimeError(f"configs/{where}: {name}: expected {rows} rows, got {got}")
    with tempfile.TemporaryDirectory() as runs:
        fill_claim(args, "ones", measure_all(args, models_of(["ones"]), pathlib.Path(runs), jobs=2, steps=2))
    return []


def main():
    parts = {"tasks": tasks, "circuits": circuits, "own_data": own_data, "claims": claims, "kinds": kinds}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=parts)
    parser.add_argument("--heed", default=str(ROOT / "build/release/heed"))
    parser.add_argument("--seeds", type=int, nargs="+", help="default: 1 2 3; for claims 1 2 3 4 5")
    parser.add_argument("--only", nargs="+", help="tasks by their config, or claims by name")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs/results")
    parser.add_argument("--check", action="store_true", help="validate all models, train two steps of one claim")
    args = parser.parse_args()
    if bool(args.part) == args.check:
        parser.error("expected one of " + ", ".join(parts) + ", or --check")
    if args.part == "claims" and args.seeds and len(args.seeds) != effects.SEEDS:
        parser.error(f"claims: expected {effects.SEEDS} seeds, got {len(args.seeds)}")
    args.run_heed = functools.partial(run_heed, args.heed, None)
    args.printed = bool(args.only or args.seeds or args.check)
    args.seeds = args.seeds or ([1] if args.check else [1, 2, 3, 4, 5] if args.part == "claims" else [1, 2, 3])
    wrong = check(args) if args.check else parts[args.part](args)
    print("\n".join(wrong) or "every figure was reached")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
