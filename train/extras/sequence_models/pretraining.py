"""What masked pre-training is worth: a classifier of 100 labelled reviews, from random numbers and from pre-trained weights.

    python3 train/extras/sequence_models/pretraining.py [--heed build/release/heed] [--seeds 1 2 3 4 5] [--runs runs/pretraining]

For each seed: reviews_masked.yaml, then reviews_100.yaml twice. Prints the accuracy on 1,000 held-out reviews, and the mean
gain with its 95% interval (Student's t over the seeds). Exit code 1 unless the interval is above 0. Needs Python only.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

CONFIGS = pathlib.Path(__file__).resolve().parents[3] / "train/extras/sequence_models/configs"
T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}  # by the number of seeds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default="build/release/heed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--runs", type=pathlib.Path, default=pathlib.Path("runs/pretraining"))
    args = parser.parse_args()
    if len(args.seeds) not in T_95:
        parser.error("expected 2 to 10 seeds")

    def heed(*arguments):
        done = subprocess.run([args.heed, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    def accuracy(config, seed, name, *more):
        run = args.runs / f"{name}-{seed}"
        heed("train", CONFIGS / f"{config}.yaml", "--set", f"seed={seed}", "--out", run, *more)
        return json.loads(heed("eval", run, "--json"))["accuracy"]

    gains = []
    print("seed  masked words right   100 reviews, from random numbers   from reviews_masked")
    for seed in args.seeds:
        masked = accuracy("reviews_masked", seed, "masked")
        scratch = accuracy("reviews_100", seed, "scratch")
        pretrained = accuracy("reviews_100", seed, "pretrained", "--weights", args.runs / f"masked-{seed}",
                              "--set", 'train.weights_ignore=["out_head.*"]')
        gains.append(pretrained - scratch)
        print(f"{seed:4} {masked:19.1%} {scratch:34.1%} {pretrained:21.1%}", flush=True)
    half = T_95[len(gains)] * statistics.stdev(gains) / len(gains) ** 0.5
    print(f"gain {statistics.mean(gains):.1%}, 95% interval {statistics.mean(gains) - half:.1%} to {statistics.mean(gains) + half:.1%}")
    sys.exit(0 if statistics.mean(gains) > half else 1)


if __name__ == "__main__":
    main()
