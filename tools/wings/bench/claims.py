"""Measures nine statements that the book and other texts make about attention, and writes configs/claims.md.

    python3 tools/wings/bench/claims.py [--heed build/release/heed] [--seeds 1 2 3 4 5] [--only heads scale ...] [--runs DIR]
    python3 tools/wings/bench/claims.py --check     # every config is valid, and two steps of one claim; writes nothing

Trains every model of claims_runs.py with every seed: two runs at a time, on one thread each. Runs that are there already
are taken as they are, so an interrupted page is continued. The page is claims_page.py's. Needs nothing but Python.
Exit code 1 when a result on the page no longer follows from its figures.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import claims_page
from claims_page import CLAIMS
from claims_runs import MODELS

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROMPT, WRITTEN = "ROMEO:", 500  # what a language model continues, and by how many characters


class Heed:
    """Runs commands on one thread and adds up their CPU seconds."""

    def __init__(self, program):
        self.program = program
        self.seconds = 0.0

    def __call__(self, *arguments):
        command = [self.program, *map(str, arguments)]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, env=os.environ | {"OMP_NUM_THREADS": "1"})
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds += usage.ru_utime + usage.ru_stime
            out.seek(0)
            err.seek(0)
            if process.returncode:
                raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}\n{err.read().decode()}")
            return out.read().decode()


def train_arguments(model, seed, steps=None):
    changes = [f"seed={seed}", *model.sets, *([f"train.steps={steps}"] if steps else [])]
    return [ROOT / "configs" / f"{model.config}.yaml", *(part for change in changes for part in ("--set", change))]


def mean_entropy(heed, run):
    """Of the attention weights of a row, in nats, over all heads and 32 validation windows."""
    heads = json.loads(heed("probe", run, "heads", "--examples", 32, "--json"))["heads"]
    return sum(head["entropy"] for head in heads) / len(heads)


def share_of_words(text):
    """How many of the words of at least three letters are words of Shakespeare's."""
    known = set(words_of((ROOT / "configs/data/tinyshakespeare.txt").read_text()))
    words = words_of(text)
    return sum(word in known for word in words) / max(1, len(words))


def words_of(text):
    return [word for word in re.findall(r"[a-z']+", text.lower()) if len(word) >= 3]


def measure(program, model, seed, run, steps=None):
    """Trains and evaluates one model, unless `run` has its result. Returns what the page needs of it."""
    arguments = train_arguments(model, seed, steps)
    known_as = {"arguments": list(map(str, arguments[1:])), "config": arguments[0].read_text(), "asked": model.asked}
    marker = run / "result.json"
    if marker.exists() and (known := json.loads(marker.read_text()))["known_as"] == json.loads(json.dumps(known_as)):
        return known
    heed = Heed(program)
    shutil.rmtree(run, ignore_errors=True)  # of another config, or interrupted
    heed("train", *arguments, "--out", run)
    result = json.loads(heed("eval", run, "--json"))
    result["parameters"] = json.loads(heed("inspect", run, "--json"))["parameters"]
    with open(run / "metrics.csv") as rows:
        losses = [float(row["val_loss"]) for row in csv.DictReader(rows) if row["val_loss"]]
    result["lowest_val_loss"] = min([result["val_loss"], *losses])
    if "entropy" in model.asked:
        result["entropy"] = mean_entropy(heed, run)
        drawn = run / "as_drawn"  # one step with a learning rate of almost 0
        heed("train", *arguments, "--set", "train.steps=1", "--set", "optimizer.lr=1e-9", "--set",
             "schedule={type: constant}", "--out", drawn)
        result["entropy_as_drawn"] = mean_entropy(heed, drawn)
    if "text" in model.asked:
        written = heed("generate", run, "--prompt", PROMPT, "--tokens", WRITTEN, "--seed", seed)
        result["text"] = written
        result["words"] = share_of_words(written.removeprefix(PROMPT))
    result["cpu_seconds"] = heed.seconds
    result["known_as"] = known_as
    marker.write_text(json.dumps(result))
    return result


def measure_all(program, names, seeds, runs, jobs, steps=None):
    """{name: [a result for each seed]}. All models of a seed come before the next seed."""
    results = {name: [None] * len(seeds) for name in names}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(measure, program, MODELS[name], seed, runs / f"{name}-{seed}", steps): (name, i)
                   for i, seed in enumerate(seeds) for name in names}
        try:
            for done in concurrent.futures.as_completed(waiting):
                name, i = waiting[done]
                results[name][i] = done.result()
                print(f"{name:32} seed {seeds[i]}  val_loss {results[name][i]['val_loss']:.4f}  "
                      f"{results[name][i]['cpu_seconds']:.0f} s", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return results


def check(program):
    """That every model is valid, and that a claim can be measured and written."""
    heed = Heed(program)
    for model in MODELS.values():
        heed("validate", *train_arguments(model, 1))
    claim = next(claim for claim in CLAIMS if claim.name == "ones")
    with tempfile.TemporaryDirectory() as runs:
        results = measure_all(program, claim.models, [1], pathlib.Path(runs), 2, steps=2)
    print("\n".join(claims_page.section(claim, results)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=str(ROOT / "build/release/heed"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--only", nargs="+", choices=[claim.name for claim in CLAIMS], help="claims; writes no page")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs/claims")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time, on a thread each")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "configs/claims.md")
    parser.add_argument("--check", action="store_true", help="validate all models, train two steps of one claim")
    args = parser.parse_args()
    if args.check:
        return check(args.heed)
    claims = [claim for claim in CLAIMS if not args.only or claim.name in args.only]
    names = list(dict.fromkeys(name for claim in claims for name in claim.models))
    results = measure_all(args.heed, names, args.seeds, args.runs, args.jobs)
    if args.only:
        print("\n".join(line for claim in claims for line in claims_page.section(claim, results)))
    else:
        args.out.write_text(claims_page.page(results, args.seeds))
    wrong = [claim.title for claim in claims if not claim.follows(results)]
    print("\n".join(f"the result no longer follows from the figures: {title}" for title in wrong)
          or "every result follows from its figures")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
