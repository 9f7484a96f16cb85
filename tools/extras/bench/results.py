"""Trains the configs with several seeds and fills in the tables of results on the pages in configs/.

    python3 tools/extras/bench/results.py tasks       # every task                             configs/README.md
    python3 tools/extras/bench/results.py circuits    # what the heads of induction.yaml do    configs/README.md
    python3 tools/extras/bench/results.py own_data    # from files    tools/extras/own_data/configs/your_own_data.md
    python3 tools/extras/bench/results.py claims      # sixteen claims                         configs/claims.md
    python3 tools/extras/bench/results.py kinds       # every kind of attention, on one text   configs/attention.md
    python3 tools/extras/bench/results.py times       # what is timed on the last two pages: on a machine that is quiet
    python3 tools/extras/bench/results.py --check     # the models and pages are valid, two steps of one claim; writes nothing
          [--heed build/release/heed] [--seeds 1 2 3] [--only negation ...] [--runs DIR]

A table lies on its page between <!-- NAME: tools/extras/bench/results.py --> and <!-- end of NAME -->; titles and labels are the
page's. A run that is there is taken as it is, so an interrupted table is continued. --only takes tasks or claims by name;
with it or other --seeds tables are printed, not written, and other rows are as on the page. Claims run two at a time, on
a thread each. Exit code 1 when a figure was missed, or what a page says of a claim no longer follows. Needs Python only.
"""
import argparse
import concurrent.futures
import functools
import json
import math
import pathlib
import re
import resource
import shlex
import sys
import tempfile

from claims import effects, reach, recall, times
from claims.figures import figure
from claims.measure import FILES, Model, measure_all, run_heed, train_arguments
from claims.models import LOOPS, claim_models, on
from claims.pages import CONFIGS, ROOT, fill, percent, put, table
from claims.verdicts import CLAIMS


# ---- Tasks
VARIANTS = {"one head as wide as the four": ("model.num_heads=1",), "`dot`": ("model.attention=dot",)}


def tasks_on_page():
    """(name of the run, model, metric, least value, what it must stay below), as the page has them."""
    for label, figures, *_ in table("README.md", "tasks")[1]:
        config, _, variant = label.partition(", ")
        model = Model(config.strip("`"), VARIANTS[variant] if variant else ())
        metric, sign, bound = re.fullmatch(r"(exact match|accuracy)(?: (at least|below) ([\d.]+)%)?", figures).groups()
        least, most = (-math.inf, float(bound) / 100) if sign == "below" else (float(bound or 0) / 100, math.inf)
        yield run_name(model), model, metric.replace(" ", "_"), least, most


def run_name(model):
    return "-".join([model.config, *(change.replace("=", "_") for change in model.sets)])


def tasks(args):
    known = list(tasks_on_page())
    models = {name: model for name, model, *_ in known if model.config in (args.only or [model.config])}
    results = measure_all(args, models, args.runs)

    def task_row(i, row, _):
        (name, _, metric, *_), label = known[i], row[:2]
        figures = [percent(run[metric]) for run in results.get(name, [])]
        return [*label, *figures, " ".join(f"{run['seconds']:.0f}" for run in results[name])] if figures else row

    def curve_row(i, row, _):  # of the first seed
        curve = results["modular_addition"][0]["curve"] if "modular_addition" in results else None
        return [row[0], *(f"{losses[i]:.3f}" for losses in curve)] if curve else row

    for name, new_row in (("tasks", task_row), ("curve", curve_row)):
        fill(args, "README.md", name, new_row)
    return [f"{name}: {percent(run[metric])} is not from {least:.2f} to {most:.2f}" for name, _, metric, least, most in known
            for run in results.get(name, []) if not (least <= run[metric] < most)]


# ---- Circuits
OWN_DATA_PAGE = "../tools/extras/own_data/configs/your_own_data.md"
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
    fill(args, OWN_DATA_PAGE, "own_data", lambda i, row, _: [
        *row[:2], *map(percent, shown[i][0]), " ".join(map(percent, shown[i][1]))])
    return [f"own-{task}: {min(of)}, expected 0.98" for task, (of, _) in zip(OWN_DATA, shown) if min(of) < 0.98]


# ---- Claims
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
    names = [name for name, claim in CLAIMS.items() if name in (args.only or CLAIMS) and not claim.is_timed]
    models = models_of(names)
    recall.write(args.folder / "runs/recall")
    results = measure_all(args, models, args.runs / "claims", jobs=2)
    for name in names:
        fill_claim(args, name, results)
    for name in () if args.printed else names:
        fill_effects(args, name)
    for model in ("shakespeare", "shakespeare-leak") if "leak" in names else ():
        written = [line[:60] for line in results[model][0]["text"].splitlines()[:4]]
        put(args, "claims.md", f"text of {model}", "\n".join(["```", *written, "```", ""]))
    if "reach" in names and not args.printed:
        labels = [row[0] for row in table("claims.md", "reach")[1]]
        reach.draw({label: results[name] for label, (name,) in zip(labels, CLAIMS["reach"].rows)})
    minutes = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) / 60
    print(f"{len(set(models.values())) * len(args.seeds)} runs, {minutes:.0f} minutes of CPU time")
    return what_no_longer_follows(names, results)


def what_no_longer_follows(names, results):
    return [f"{name}: what the page says no longer follows" for name in names if not CLAIMS[name].follows(results)]


# ---- Kinds of attention: configs/attention.md has a row for each, with what is put in place of the usual one
KINDS = ("attention.md", "kinds")


def kinds_on_page():
    """{name of the run: model}, in the order of the rows."""
    return {f"kind-{i}": on("shakespeare", *(f"model.{change}" for change in re.findall(r"`([^`]+)`", changes)))
            for i, (_, changes, *_) in enumerate(table(*KINDS)[1])}


def kept(numbers, tokens):
    """The kB that both blocks keep of so many tokens, of the numbers of a block as the page has them: 2 D T."""
    product = re.sub(r"(?<=[\w)²]) (?=[\w(])", " * ", numbers).replace("²", " ** 2")
    bytes_kept = 2 * 4 * eval(product, {}, {"D": 64, "H": 4, "d": 16, "T": tokens})
    return f"{bytes_kept / 1000:,.1f}"


def kinds(args):
    results = measure_all(args, kinds_on_page(), args.runs / "kinds", jobs=2)
    fill(args, *KINDS, lambda i, row, _: [
        *row[:4], *(kept(row[3], tokens) for tokens in (64, 4096)), row[6],
        *(figure(results[f"kind-{i}"], key) for key in ("parameters", "val_loss"))])
    return []


# ---- What is timed
def timed(args, names):
    """{name of the run: [what a round gives]}, of the models of these claims and, if all are asked for, of kinds."""
    found = times.by_turns(args.run_heed, models_of(names) | ({} if args.only else kinds_on_page()))
    results = {name: [{"ms": one} for one in of] for name, of in found.items()}
    for slow, fast in [(f"loop-{heads}", f"product-{heads}") for heads in LOOPS] + [("muon", "adamw")]:
        for one, other in zip(results.get(slow, []), results.get(fast, [])):
            other["ratio"] = one["ms"] / other["ms"]
    return results


def time_all(args):
    names = [name for name, claim in CLAIMS.items() if claim.is_timed and name in (args.only or CLAIMS)]
    results = timed(args, names)
    for name in names:
        fill_claim(args, name, results)
    for name in () if args.printed else names:
        fill_effects(args, name)
    if not args.only:
        fill(args, *KINDS, lambda i, row, _: [*row[:6], figure(results[f"kind-{i}"], "ms"), *row[7:]])
    return what_no_longer_follows(names, results)


# ---- The program
def check_models(args, models):
    """That all are valid, and that each command on the page of claims is how one of them is trained or timed."""
    every = {*models.values(), *CIRCUITS, *kinds_on_page().values(), *(model for _, model, *_ in tasks_on_page())}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda model: args.run_heed("validate", *train_arguments(model, 1)), every))
    page, known = (CONFIGS / "claims.md").read_text(), {(model.config, model.sets) for model in models.values()}
    bases = dict(re.findall(r"^(\w+)='(.*)'$", page, re.M))
    for line in re.findall(r"^heed (?:train|bench) (.*?)(?: --set seed=1 --out \S+)?$", page, re.M):
        config, *rest = shlex.split(re.sub(r"^\$(\w+)", lambda base: bases[base[1]], line))
        if (pathlib.Path(config).stem, tuple(rest[1::2])) not in known:
            raise RuntimeError(f"configs/claims.md: expected the command of a model of results.py, got {line}")


def check_pages():
    for name in CLAIMS:
        if (expected := effects_of(name)) != (got := table("claims.md", f"effects of {name}")[1]):
            raise RuntimeError(f"configs/claims.md: effects of {name}: its table says {expected}, got {got}")
    sizes = [("claims.md", name, len(claim.rows)) for name, claim in CLAIMS.items()] + [
        ("README.md", "circuits", len(CIRCUITS)), ("README.md", "curve", 2),
        (OWN_DATA_PAGE, "own_data", len(OWN_DATA))]
    for where, name, rows in sizes:
        if (got := len(table(where, name)[1])) != rows:
            raise RuntimeError(f"configs/{where}: {name}: expected {rows} rows, got {got}")


def check(args):
    check_pages()
    with tempfile.TemporaryDirectory() as folder:
        args.folder = pathlib.Path(folder)
        args.run_heed = functools.partial(run_heed, args.heed, args.folder, 1)
        recall.write(args.folder / "runs/recall")
        check_models(args, models_of(CLAIMS))
        fill_claim(args, "ones", measure_all(args, models_of(["ones"]), args.folder, jobs=2, steps=2))
    return []


def main():
    parts = {"tasks": tasks, "circuits": circuits, "own_data": own_data, "claims": claims, "kinds": kinds,
             "times": time_all}
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
    args.heed, args.runs, args.folder, args.threads = pathlib.Path(args.heed).resolve(), args.runs.resolve(), ROOT, None
    args.run_heed = functools.partial(run_heed, args.heed, args.folder, args.threads)
    args.printed = bool(args.only or args.seeds or args.check)
    args.seeds = args.seeds or ([1] if args.check else [1, 2, 3, 4, 5] if args.part == "claims" else [1, 2, 3])
    wrong = check(args) if args.check else parts[args.part](args)
    print("\n".join(wrong) or "every figure was reached")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
