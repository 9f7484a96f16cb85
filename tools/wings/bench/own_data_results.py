"""Writes two tasks that are made from a seed to files, trains on these as on a user's own, and compares the figures.

    python3 tools/wings/bench/own_data_results.py [--heed build/release/heed] [--seeds 1 2 3] [--runs DIR] [--examples 20000]

negation and reorder_translation, 20,000 examples each to train on (the tasks themselves make new ones for every batch),
and those that the task holds out to validate with. Prints the rows of the table in configs/wings/own_data/your_own_data.md. Needs
nothing but Python. Exit code 1 when a figure was missed.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
# task, type for its file, metric, the task's own target, marks that are no words
TASKS = [("negation", "labelled", "accuracy", 0.98, "<class> "),
         ("reorder_translation", "pairs", "exact_match", 0.98, " <end>")]


def heed(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"heed {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def examples(program, task, mark, seed):
    """(what is given, the answer) of the training and the validation examples that a task shows."""
    config = ROOT / f"configs/{task}.yaml"
    data = json.loads(heed(program, "data", config, "--examples", 100_000, "--json", "--set", f"seed={seed}"))
    parts = {"training": [], "validation": []}
    for one in data["examples"]:
        given = one["source"] if "source" in one else one["given"]
        parts[one["split"]].append((given.replace(mark, ""), one["answer"].replace(mark, "")))
    return parts


def write(path, pairs):
    path.write_text("".join(f"{given}\t{answer}\n" for given, answer in pairs))


def make_files(program, folder, task, mark, count):
    first = examples(program, task, mark, 1)
    held_out = list(dict.fromkeys(first["validation"]))
    hidden = {given for given, _ in held_out}
    train, seed = first["training"], 1000
    while len(train) < count:  # another seed holds other examples out
        train += [pair for pair in examples(program, task, mark, seed)["training"] if pair[0] not in hidden]
        seed += 1
    write(folder / f"{task}_train.tsv", train[:count])
    write(folder / f"{task}_val.tsv", held_out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=ROOT / "build/release/heed", type=pathlib.Path)
    parser.add_argument("--seeds", default=[1, 2, 3], type=int, nargs="+")
    parser.add_argument("--runs", default=pathlib.Path("runs/own_data_results"), type=pathlib.Path)
    parser.add_argument("--examples", default=20_000, type=int)
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    missed = False
    for task, kind, metric, target, mark in TASKS:
        make_files(options.heed, options.runs, task, mark, options.examples)
        data = (f"data={{type: {kind}, path: {(options.runs / f'{task}_train.tsv').resolve()}, "
                f"validation: {(options.runs / f'{task}_val.tsv').resolve()}}}")
        figures = []
        for seed in options.seeds:
            run = options.runs / f"{task}-{seed}"
            shutil.rmtree(run, ignore_errors=True)
            heed(options.heed, "train", ROOT / f"configs/{task}.yaml", "--set", data, "--set", f"seed={seed}", "--set", "sample={}",
                 "--out", run)
            figures.append(json.loads(heed(options.heed, "eval", run, "--json"))[metric])
        missed |= min(figures) < target
        print(f"| `{task}` | {metric.replace('_', ' ')} | " + " | ".join(f"{100 * one:.2f}%" for one in figures) + " |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
