"""Trains every task config with several seeds and writes what came out into configs/README.md.

    python3 tools/wings/bench/task_results.py [--heed build/release/heed] [--seeds 1 2 3] [--only negation ...] [--runs DIR]

One run at a time, on whatever cores there are. A result that is there already (the run's checkpoint of the last step,
with the same config) is taken as it is, so an interrupted table is gone on with. Needs nothing but Python.
Exit code 1 when a figure was missed.
"""
import argparse
import csv
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BEGIN, END = "<!-- results: tools/wings/bench/task_results.py -->", "<!-- end of results -->"

# name of the row, config, --set arguments, metric, target ("<": must stay below)
ROWS = [
    ("`copy`", "copy", [], "exact_match", ">= 0.99"),
    ("`reverse`", "reverse", [], "exact_match", ">= 0.99"),
    ("`sort`", "sort", [], "exact_match", ">= 0.99"),
    ("`sort`, one head as wide as the four", "sort", ["model.num_heads=1"], "exact_match", ""),
    ("`modular_addition`", "modular_addition", [], "accuracy", ">= 0.95"),
    ("`six_words`", "six_words", [], "accuracy", ">= 1"),
    ("`induction`", "induction", [], "accuracy", ">= 0.99"),
    ("`induction_one_block`", "induction_one_block", [], "accuracy", "< 0.5"),
    ("`associative_recall`", "associative_recall", [], "accuracy", ">= 0.99"),
    ("`dyck`", "dyck", [], "accuracy", ">= 0.99"),
    ("`parity`", "parity", [], "accuracy", ""),
    ("`parity_gru`", "parity_gru", [], "accuracy", ">= 0.99"),
    ("`negation`", "negation", [], "accuracy", ">= 0.98"),
    ("`negation_bag_of_words`", "negation_bag_of_words", [], "accuracy", "< 0.75"),
    ("`word_sense`", "word_sense", [], "accuracy", ">= 0.98"),
    ("`reorder_translation`", "reorder_translation", [], "exact_match", ">= 0.98"),
    ("`reorder_translation_fixed_context`", "reorder_translation_fixed_context", [], "exact_match", ""),
    ("`reorder_translation_rnn_attention`", "reorder_translation_rnn_attention", [], "exact_match", ">= 0.98"),
    ("`reorder_translation_rnn_attention`, `dot`", "reorder_translation_rnn_attention", ["model.attention=dot"],
     "exact_match", ""),
    ("`reorder_translation_rnn`", "reorder_translation_rnn", [], "exact_match", ""),
]


def heed(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"heed {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def measure(program, runs, config, sets, seed):
    """The evaluation of a run, with the seconds that its training took."""
    changes = [f"seed={seed}", *sets]
    run = runs / "-".join([config, *(change.replace("=", "_") for change in changes)])
    marker = run / "result.json"
    source = (ROOT / "configs" / f"{config}.yaml").read_text()
    if marker.exists() and (known := json.loads(marker.read_text()))["config"] == source:
        return known
    shutil.rmtree(run, ignore_errors=True)  # of another config, or interrupted
    heed(program, "train", ROOT / "configs" / f"{config}.yaml", "--out", run, *(a for c in changes for a in ("--set", c)))
    result = json.loads(heed(program, "eval", run, "--json"))
    with open(run / "metrics.csv") as rows:
        rows = list(csv.DictReader(rows))
    result["seconds"] = float(rows[-1]["seconds"])
    result["curve"] = [[int(r["step"]), float(r["loss"]), float(r["val_loss"])] for r in rows if r["val_loss"] and r["loss"]]
    result["config"] = source
    marker.write_text(json.dumps(result))
    return result


def reached(value, figure):
    if not figure:
        return True
    sign, number = figure.split()
    return value >= float(number) if sign == ">=" else value < float(number)


def percent(value):
    return f"{100 * value:.2f}%" if value < 1 else "100%"


def figure_text(measured, figure):
    kind = "exact match" if measured == "exact_match" else "accuracy"
    if not figure:
        return kind
    sign, number = figure.split()
    return f"{kind} {'at least' if sign == '>=' else 'below'} {100 * float(number):g}%"


def main_table(results, seeds):
    lines = ["| config | figure | " + " | ".join(f"seed {s}" for s in seeds) + " | seconds |",
             "|---|---|" + "---:|" * (len(seeds) + 1)]
    for name, config, sets, measured, figure in ROWS:
        runs = results.get((config, *sets))
        if runs:
            values = " | ".join(percent(run[measured]) for run in runs)
            seconds = " ".join(f"{run['seconds']:.0f}" for run in runs)
            lines.append(f"| {name} | {figure_text(measured, figure)} | {values} | {seconds} |")
    return lines


# What the decoder of each translator gets of the source.
TRANSLATORS = {
    ("reorder_translation",): "transformer, cross-attention",
    ("reorder_translation_rnn_attention",): "GRU, attention",
    ("reorder_translation_fixed_context",): "transformer, the mean of its states",
    ("reorder_translation_rnn",): "GRU, its last state",
}


def length_table(results):
    """Exact match by the words of a sentence, all seeds together, for every translator that was trained."""
    configs = [c for c in TRANSLATORS if c in results]
    if not configs:
        return []
    shares = []
    for config in configs:
        right, all_of = {}, {}
        for run in results[config]:
            for row in run["by_length"]:
                words = row["targets"] - 1  # without <end>
                all_of[words] = all_of.get(words, 0) + row["sequences"]
                right[words] = right.get(words, 0) + row["sequences"] * row["exact_match"]
        shares.append({words: right[words] / all_of[words] for words in all_of})
    words = sorted(shares[0])
    lines = ["", "Held-out sentences translated exactly right, by their number of words, all seeds together:", "",
             "| words | " + " | ".join(map(str, words)) + " |", "|---|" + "---:|" * len(words)]
    for name, share in zip((TRANSLATORS[c] for c in configs), shares):
        lines.append(f"| {name} | " + " | ".join(f"{100 * share[w]:.1f}%" for w in words) + " |")
    return lines


def curve_table(results):
    """The late generalisation of modular_addition: the losses of the first seed over its steps."""
    runs = results.get(("modular_addition",))
    if not runs:
        return []
    curve = runs[0]["curve"]
    lines = ["", "`modular_addition`: what is trained on is known by heart first, the rest of the table comes right later:", "",
             "| step | " + " | ".join(str(step) for step, _, _ in curve) + " |", "|---|" + "---:|" * len(curve)]
    for name, column in (("loss", 1), ("val_loss", 2)):
        lines.append(f"| {name} | " + " | ".join(f"{row[column]:.3f}" for row in curve) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=str(ROOT / "build/release/heed"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--only", nargs="+", help="configs by name; the table then has no others")
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs/results")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "configs/README.md")
    args = parser.parse_args()
    results, missed = {}, []
    for name, config, sets, measured, figure in ROWS:
        if args.only and config not in args.only:
            continue
        runs = [measure(args.heed, args.runs, config, sets, seed) for seed in args.seeds]
        results[(config, *sets)] = runs
        values = [run[measured] for run in runs]
        print(f"{name:42} {measured:12}", *map(percent, values), "seconds", *(f"{r['seconds']:.0f}" for r in runs),
              flush=True)
        missed += [f"{name} {percent(v)}, wanted {figure}" for v in values if not reached(v, figure)]
    page = args.out.read_text()
    before, rest = page.split(BEGIN)
    table = "\n".join(main_table(results, args.seeds) + length_table(results) + curve_table(results))
    args.out.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")
    print("\n".join(missed) if missed else "every figure was reached")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
