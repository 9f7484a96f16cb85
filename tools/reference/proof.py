"""What tools/proof.sh asks transformers and PyTorch. Exit code 1 when heed's numbers are not theirs.

    python tools/reference/proof.py logits RUN EXPORTED    logits of a run beside those of what `heed export` made of it
    python tools/reference/proof.py losses RUN             losses of a run of configs/shakespeare_char.yaml beside those
                                                           of the same steps in PyTorch; the time of a step of both

`heed` must be in the PATH.
"""
import argparse
import csv
import os
import pathlib
import re
import statistics
import sys
import tempfile

import torch
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools/extras/bench"))
THREADS = len(os.sched_getaffinity(0))


def logits(run: pathlib.Path, exported: pathlib.Path) -> bool:
    import hugging_face

    torch.set_num_threads(1)
    model = hugging_face.AutoModelForCausalLM.from_pretrained(exported, dtype=torch.float32)
    single, double = hugging_face.compare_logits(hugging_face.Heed("heed"), run, model, seed=1)
    print(f"transformers {hugging_face.transformers.__version__}: largest difference {single:.1e} in float32, "
          f"{double:.1e} in float64")
    return single <= 1e-5


def config_of(file: pathlib.Path) -> dict:
    """PyYAML takes 1e-3 for a string, and 1.0e-3 for a number."""
    return yaml.safe_load(re.sub(r"\b(\d)e-", r"\1.0e-", file.read_text()))


def losses(run: pathlib.Path) -> bool:
    import train_traces

    config = config_of(ROOT / "configs/shakespeare_char.yaml")
    done = config_of(run / "config.yaml")  # with what --set has changed, and the defaults
    config |= {section: done[section] for section in ("seed", "random", "schedule", "train")}
    text = (ROOT / "configs" / config["data"]["path"]).read_text()
    theirs = train_traces.train(config, text, torch.float32, THREADS)["loss"]
    with open(run / "metrics.csv") as file:
        ours = [float(row["loss"]) for row in csv.DictReader(file)]
    difference = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    print(f"PyTorch {torch.__version__}: {len(theirs)} losses from {theirs[0]:.6f} to {theirs[-1]:.6f}, heed's from "
          f"{ours[0]:.6f} to {ours[-1]:.6f}, largest difference {difference:.1e}")
    times = step_times()
    print(f"a step: PyTorch {times['PyTorch']:.1f} ms, heed {times['heed']:.1f} ms, "
          f"{times['PyTorch'] / times['heed']:.1f} times as fast")
    return len(theirs) >= 20 and difference <= 1e-5 and times["heed"] < times["PyTorch"]


def step_times(rounds: int = 3) -> dict[str, float]:
    """ms, medians of rounds by turns."""
    import compare_torch

    sides = argparse.Namespace(heed=pathlib.Path("heed"), threads=THREADS, compile=False, jax=False)
    row = compare_torch.ROWS["char"] | {"steps": 20}
    environment = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"} | {"OMP_NUM_THREADS": str(THREADS)}
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for side, command in compare_torch.commands("char", row, sides, pathlib.Path(folder)).items():
                times.setdefault(side, []).append(compare_torch.run(command, row, environment)["ms"])
    return {side: statistics.median(each) for side, each in times.items()}


if __name__ == "__main__":
    check = {"logits": logits, "losses": losses}[sys.argv[1]]
    sys.exit(not check(*map(pathlib.Path, sys.argv[2:])))
