"""One model: training it with every seed, and what is measured of it."""
import concurrent.futures
import csv
import functools
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import typing

from claims import ensemble, heads, reach, recall
from claims.pages import CONFIGS

FILES = {file.stem: file for file in [*CONFIGS.glob("*.yaml"), *CONFIGS.parent.glob("*/extras/*/configs/*.yaml")]}


class Model(typing.NamedTuple):
    config: str
    sets: tuple = ()  # of --set
    asked: tuple = ()  # what else is measured: names of MEASURED


def run_heed(program, folder, threads, *arguments):
    """What heed prints when it runs in `folder`."""
    command = [program, *map(str, arguments)]
    environment = os.environ | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def train_arguments(model, seed, steps=None):
    changes = [f"seed={seed}", *model.sets, *([f"train.steps={steps}"] if steps else [])]
    return [FILES[model.config], *(part for change in changes for part in ("--set", change))]


def still(arguments):
    """Arguments of a training that changes nothing: one step with a learning rate of almost 0."""
    return [*arguments, "--set", "train.steps=1", "--set", "optimizer.lr=1e-9", "--set", "schedule={type: constant}"]


def as_drawn(heed, run, arguments):
    """A run with the weights that training began with."""
    if not (drawn := run / "as_drawn").exists():
        heed("train", *still(arguments), "--out", drawn)
    return drawn


def mean_entropy(heed, run):
    """Of the attention weights of a row, in nats, over all heads and 32 validation windows."""
    heads = json.loads(heed("probe", run, "heads", "--examples", 32, "--json"))["heads"]
    return sum(head["entropy"] for head in heads) / len(heads)


def entropy(heed, run, arguments, _):
    return {"entropy": mean_entropy(heed, run), "entropy_as_drawn": mean_entropy(heed, as_drawn(heed, run, arguments))}


def share_of_words(text):
    """How many of the words of at least three letters are words of Shakespeare's."""
    shakespeare = (CONFIGS / "data/tinyshakespeare.txt").read_text()
    words, known = (re.findall(r"[a-z']{3,}", of.lower()) for of in (text, shakespeare))
    return sum(map(set(known).__contains__, words)) / max(1, len(words))


def writing(heed, run, _, seed):
    text = heed("generate", run, "--prompt", "ROMEO:", "--tokens", 500, "--seed", seed)
    return {"text": text, "words": share_of_words(text.removeprefix("ROMEO:"))}


def by_distance(heed, run, *_):
    found = {}
    for distance in recall.DISTANCES:
        evaluated = heed("eval", run, "--data", f"runs/recall/distance_{distance}.tsv", "--json")
        found[f"distance_{distance}"] = json.loads(evaluated)["accuracy"]
    return found


def fading(heed, run, arguments, _):
    found = {}
    for when, of in (("as_drawn", as_drawn(heed, run, arguments)), ("trained", run)):
        shares, found[f"norms_{when}"] = reach.bands(heed, of)
        found |= {f"reach_{when}_{band}": share for band, share in shares.items()}
    return found


def among_heads(heed, run, arguments, _):
    drawn = as_drawn(heed, run, arguments)
    few, some = heads.prune(heed, run, still(arguments))
    return {"diversity_as_drawn": heads.diversity(heed, drawn), "diversity": heads.diversity(heed, run),
            "removable_few": few, "removable_some": some}


def with_three_more(heed, run, arguments, seed):
    """In place of the model itself: four models, each from a seed of its own, whose probabilities are averaged."""
    members = [run, *(run / f"member-{k}" for k in range(3))]
    for k, member in enumerate(members[1:]):
        heed("train", *arguments, "--set", f"seed={100 * seed + k}", "--out", member)
    alone, expected = ensemble.loss_of(heed, [run]), json.loads(heed("eval", run, "--json"))["val_loss"]
    if abs(alone - expected) > 1e-4:
        raise RuntimeError(f"{run}: expected the loss of heed eval, {expected}, got {alone}")
    parameters = json.loads(heed("inspect", run, "--json"))["parameters"]
    return {"val_loss": ensemble.loss_of(heed, members), "parameters": len(members) * parameters, "train_loss": None,
            "lowest_val_loss": None}


# Each gets heed, the run, the arguments that trained it and the seed; returns what is added to the result.
MEASURED = {"entropy": entropy, "text": writing, "distances": by_distance, "reach": fading, "heads": among_heads,
            "ensemble": with_three_more}


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
    norms = [float(row["grad_norm"]) for row in rows if row["grad_norm"]]
    result |= {"grad_norm": statistics.median(norms), "largest_grad_norm": max(norms)}
    for name in model.asked:
        result |= MEASURED[name](heed, run, arguments, seed)
    result |= {"known_as": known_as, "run": str(run)}
    marker.write_text(json.dumps(result))
    return result


def measure_all(args, models, runs, jobs=1, steps=None):
    """{name: [a result for each seed]}. All models of a seed come before the next seed; a model of two names runs once."""
    heed = functools.partial(run_heed, args.heed, args.folder, 1 if jobs > 1 else args.threads)
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
