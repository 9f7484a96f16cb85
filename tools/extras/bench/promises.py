"""What heed promises about its speed, apart from the comparison with others, measured on this machine.

    cmake --build --preset release --target heed benchmarks
    python3 tools/extras/bench/promises.py [--only agree busy memory threads peak] [--rounds 5]

    agree    `heed bench` tells the time that `heed train` takes: 200 steps, within 5%
    busy     beside two processes that spin, a step is at most 2.5 times slower
    memory   attention's memory grows linearly from T 256 to 8192
    threads  two threads are at least 1.7 times as fast as one, on GPT-2 124M
    peak     at least 65% of the speed of OpenBLAS's sgemm, on 6 x 384 and on GPT-2 124M

What is compared runs by turns, A B A B; medians. Needs nothing but Python. Exit code 1 when one is not kept.
"""
import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHAR = ROOT / "configs/shakespeare_char.yaml"
LARGE = ROOT / "configs/gpt2_124m.yaml"
SPIN = [sys.executable, "-c", "while True: pass"]


class Machine:
    def __init__(self, folder, rounds):
        self.folder, self.rounds = folder, rounds
        self.env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}

    def run(self, program, *arguments, **env):
        done = subprocess.run([str(self.folder / program), *map(str, arguments)], capture_output=True, text=True,
                              env=self.env | env)
        if done.returncode:
            sys.exit(f"{program} {' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def bench(self, config, steps, *more, **env):
        return json.loads(self.run("heed", "bench", config, "--steps", steps, "--json", *more, **env))

    def by_turns(self, a, b):
        """Medians of a() and b()."""
        pairs = [(a(), b()) for _ in range(self.rounds)]
        return tuple(statistics.median(values) for values in zip(*pairs))


def agree(machine):
    steps = 200

    def train():
        with tempfile.TemporaryDirectory() as folder:
            # Logs only steps 1 and 201, so nothing but training happens in between.
            machine.run("heed", "train", CHAR, "--out", pathlib.Path(folder) / "run", *sets(
                f"train.steps={steps + 2}", f"train.log_every={steps + 1}", "eval.every=100000",
                "sample.every=100000", "checkpoint.every=100000"))
            with open(pathlib.Path(folder) / "run/metrics.csv") as rows:
                seconds = {int(row["step"]): float(row["seconds"]) for row in csv.DictReader(rows)}
            return 1e3 * (seconds[steps + 1] - seconds[1]) / steps

    bench, trained = machine.by_turns(lambda: machine.bench(CHAR, steps)["ms_mean"], train)
    return abs(bench / trained - 1) <= 0.05, f"bench {bench:.2f} ms, train {trained:.2f} ms a step: {bench / trained:.3f}"


def busy(machine):
    def beside_two():
        neighbours = [subprocess.Popen(SPIN) for _ in range(2)]
        try:
            return machine.bench(CHAR, 100)["ms_per_step"]
        finally:
            for neighbour in neighbours:
                neighbour.kill()
                neighbour.wait()

    alone, beside = machine.by_turns(lambda: machine.bench(CHAR, 100)["ms_per_step"], beside_two)
    return beside <= 2.5 * alone, f"{alone:.1f} ms alone, {beside:.1f} ms beside two: {beside / alone:.2f} times"


def memory(machine):
    lengths = [256, 512, 1024, 2048, 4096, 8192]
    mb = [json.loads(machine.run("ops_bench", "attention", "--length", t, "--rounds", 1))["peak_mb"] for t in lengths]
    # Memory per additional token between two lengths. It would double each time if memory were
    # quadratic in T.
    slopes = [(b - a) / (u - t) for a, b, t, u in zip(mb, mb[1:], lengths, lengths[1:])]
    figures = ", ".join(f"T {t} {m:.0f} MB" for t, m in zip(lengths, mb))
    return slopes[-1] <= 1.25 * slopes[-3], f"{figures}; kB a token {', '.join(f'{1e3 * s:.1f}' for s in slopes)}"


def threads(machine):
    one, two = machine.by_turns(*(lambda n=n: machine.bench(LARGE, 3, OMP_NUM_THREADS=n)["ms_per_step"] for n in "12"))
    return one >= 1.7 * two, f"one {one:.0f} ms, two {two:.0f} ms: {one / two:.2f} times"


def peak(machine):
    wide = sets("data.type=synthetic", "data.vocab_size=65", "model.context_length=256", "model.d_model=384",
                "model.num_heads=6", "model.num_layers=6", "model.dropout=0.2", "train.batch_size=8")
    share = {"6 x 384": [], "GPT-2 124M": []}
    for _ in range(machine.rounds):
        share["6 x 384"].append(machine.bench(LARGE, 5, *wide)["share_of_peak"])
        share["GPT-2 124M"].append(machine.bench(LARGE, 5)["share_of_peak"])
    medians = {name: statistics.median(values) for name, values in share.items()}
    return min(medians.values()) >= 0.65, ", ".join(f"{name} {100 * value:.0f}%" for name, value in medians.items())


def sets(*changes):
    return [word for change in changes for word in ("--set", change)]


CHECKS = {check.__name__: check for check in (agree, busy, memory, threads, peak)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where the programs are")
    a = parser.parse_args()
    machine = Machine(a.build, a.rounds)
    all_kept = True
    for name in a.only:
        kept, figures = CHECKS[name](machine)
        all_kept = all_kept and kept
        print(f"{name:8} {'kept    ' if kept else 'NOT KEPT'}  {figures}", flush=True)
    sys.exit(0 if all_kept else 1)


if __name__ == "__main__":
    main()
