"""Trains configs/wings/probe/induction.yaml with several seeds and numbers of heads, and configs/wings/probe/induction_one_block.yaml, asks
`heed probe` what their heads do, and writes a table into configs/README.md.

    python3 tools/wings/bench/circuit_results.py [--heed build/release/heed] [--seeds 1 2 3] [--runs DIR]

Runs that are there already are taken as they are (tools/wings/bench/task_results.py). Exit code 1 when a figure was missed.
"""
import argparse
import json
import pathlib
import sys

from task_results import ROOT, heed, measure

BEGIN, END = "<!-- circuits: tools/wings/bench/circuit_results.py -->", "<!-- end of circuits -->"
ROWS = [
    ("`induction`, one head in each block", "induction", []),
    ("two heads", "induction", ["model.num_heads=2"]),
    ("four heads", "induction", ["model.num_heads=4"]),
    ("`induction_one_block`", "induction_one_block", []),
]


def run_folder(runs, config, sets, seed):
    return runs / "-".join([config, *(change.replace("=", "_") for change in [f"seed={seed}", *sets])])


def circuit(program, run):
    """The best previous-token head of block 0, the best induction head of the last block, and the accuracy without
    the head of each block that matters most."""
    heads = json.loads(heed(program, "probe", run, "heads", "--json"))["heads"]
    parts = json.loads(heed(program, "probe", run, "ablate", "--json"))["parts"]
    last = max(head["block"] for head in heads)

    def best(block, score):
        return max(head[score] for head in heads if head["block"] == block)

    def without(block):
        return min(p["accuracy"] for p in parts if p["head"] is not None and p["part"] == f"trf_blocks.{block}.att")

    return {"previous": best(0, "previous_token"), "induction": best(last, "induction"), "without_first": without(0),
            "without_last": without(last)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=str(ROOT / "build/release/heed"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs/results")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "configs/README.md")
    args = parser.parse_args()
    seeds = ", ".join(map(str, args.seeds))
    lines = [f"| seeds {seeds} | accuracy | previous-token head | induction head | without the former | without the latter |",
             "|---|---:|---:|---:|---:|---:|"]
    missed = []
    for name, config, sets in ROWS:
        found = []
        for seed in args.seeds:
            accuracy = measure(args.heed, args.runs, config, sets, seed)["accuracy"]
            found.append({"accuracy": accuracy, **circuit(args.heed, run_folder(args.runs, config, sets, seed))})
            print(name, seed, found[-1], flush=True)
        if config == "induction" and not sets:
            missed += [one for one in found if one["accuracy"] < 0.99 or one["previous"] <= 0.4 or one["induction"] <= 0.7
                       or max(one["without_first"], one["without_last"]) > one["accuracy"] - 0.5]
        columns = [" ".join(f"{100 * one['accuracy']:.2f}%" for one in found)]
        columns += [" ".join(f"{one[key]:.2f}" for one in found) for key in ("previous", "induction")]
        columns += [" ".join(f"{100 * one[key]:.0f}%" for one in found) for key in ("without_first", "without_last")]
        if config == "induction_one_block":  # its only block is both
            columns[4] = ""
        lines.append(f"| {name} | " + " | ".join(columns) + " |")
    page = args.out.read_text()
    before, rest = page.split(BEGIN)
    args.out.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{rest.split(END)[1]}")
    print("\n".join(map(str, missed)) if missed else "every figure was reached")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
