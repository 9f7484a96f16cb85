"""Trains configs with different numbers of threads and kernels, and compares the weights byte for byte.

    python3 tools/extras/bench/same_bits.py                                   every config that ends within a minute
    python3 tools/extras/bench/same_bits.py train/extras/sequence_models/configs/copy.yaml --threads 1,2,16 --kernels SkylakeX,Haswell --steps 50
    python3 tools/extras/bench/same_bits.py train/extras/sequence_models/configs/copy.yaml --widths vector-128,vector-256,openblas

For each config, precision, kernel of OpenBLAS and vector width of our own kernels (a value of HEED_KERNELS), all numbers
of threads must give the weights of one thread. More threads than cores are allowed. "default" is what is chosen for this
CPU. The exit code is 1 when any weights differ. tests/bits.py compares with the weights of other machines,
tests/golden/bits.json, and writes that file.
"""
import argparse
import hashlib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SLOW = {"gpt2_124m", "smollm2_135m"}  # minutes


def weights(heed, config, steps, precision, threads, kernel, width):
    """The checksum of the weights after `steps` steps, or what went wrong."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "HEED_KERNELS"))}
    if kernel != "default":
        environment["OPENBLAS_CORETYPE"] = kernel
    if width != "default":
        environment["HEED_KERNELS"] = width
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        command = [heed, "train", config, "--out", out, "--threads", threads, "--set", f"train.steps={steps}",
                   "--set", f"precision={precision}", "--set", f"eval.every={steps}", "--set", "eval.batches=1"]
        if "\nsample:" in config.read_text():
            command += ["--set", f"sample.every={10 * steps}"]
        done = subprocess.run([str(c) for c in command], env=environment, capture_output=True, text=True)
        files = sorted(out.glob("checkpoints/step-*/model.safetensors"))
        if done.returncode or not files:
            return "failed: " + done.stderr.strip()[-200:]
        return hashlib.sha256(files[-1].read_bytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", nargs="*", type=pathlib.Path)
    parser.add_argument("--threads", default="1,2,3,4,5,7,8,16")
    parser.add_argument("--kernels", default="default,SkylakeX,Haswell,Prescott")
    parser.add_argument("--widths", default="default")
    parser.add_argument("--precisions", default="float32,float64")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--heed", default=ROOT / "build/release/heed")
    a = parser.parse_args()
    configs = a.configs or [c for c in sorted((ROOT / "configs").glob("*.yaml")) if c.stem not in SLOW]
    compared = differ = 0
    for config in configs:
        for precision in a.precisions.split(","):
            for kernel, width in itertools.product(a.kernels.split(","), a.widths.split(",")):
                sums = {t: weights(a.heed, config, a.steps, precision, t, kernel, width) for t in a.threads.split(",")}
                alone = next(iter(sums.values()))
                others = [t for t, s in sums.items() if s != alone or s.startswith("failed")]
                compared += len(sums) - 1
                differ += len(others)
                print(f"{config.stem:32} {precision} {kernel:10} {width:10} {alone[:12]} "
                      + (f"DIFFERS with {', '.join(others)} threads" if others else "equal"), flush=True)
    print(f"{compared} comparisons, {differ} differ")
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
