"""The weights that every machine gives: trains the configs of tests/golden/bits.json and compares their SHA-256.

    python3 tests/bits.py                          1 and 3 threads, each vector width of this CPU; --quick: the first config
    python3 tests/bits.py --heed build/arm64/heed  another build
    python3 tests/bits.py --write                  the file anew, by this machine; --passed: adds this kind of CPU to it

A kind of CPU is a line of the file once it has passed. A mismatch names the first step and tensor. As long as the file has
one kind, one on another kind is only printed. Skipped (77) where multiplications and additions are not fused.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests/golden/bits.json"
LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
SHAKESPEARE = "configs/shakespeare_char.yaml"
GPT2 = ["model.d_model=192", "model.num_heads=6", "model.num_layers=6", "model.bias=true", "model.qkv_bias=true"]
MODELS = {  # config, what is set in it, steps
    "char_gpt": (SHAKESPEARE, ["model.dropout=0.2"], 50),
    "modern": ("configs/shakespeare_modern.yaml", [], 50),
    "window": ("configs/shakespeare_window.yaml", [], 50),
    "encoder_decoder": ("train/extras/sequence_models/configs/copy.yaml", [], 50),
    "lstm": ("layers/extras/recurrent/configs/shakespeare_lstm.yaml", [], 50),
    "gated_delta_net": ("layers/extras/alternatives/configs/shakespeare_gated_delta_net.yaml", [], 50),
    "experts": ("layers/extras/alternatives/configs/shakespeare_experts.yaml", [], 50),
    "gpt2_init": (SHAKESPEARE, GPT2, 20),
}


class Skipped(Exception):
    pass


def kind_of_cpu(heed):
    """The CPU that the program runs on: "AuthenticAMD, family 25, model 17"."""
    with open(heed, "rb") as program:
        emulated = program.read(19)[18] == 0xB7 and platform.machine() != "aarch64"
    if emulated:
        return "64-bit Arm, emulated"
    facts = dict(line.split("\t: ", 1) for line in open("/proc/cpuinfo").read().splitlines() if "\t: " in line)
    facts = {name.strip(): value for name, value in facts.items()}
    names = ["vendor_id", "cpu family", "model"] if "vendor_id" in facts else ["CPU implementer", "CPU part"]
    return ", ".join(f"{name.replace('cpu ', '')} {facts.get(name)}" for name in names).replace("vendor_id ", "")


def train(heed, model, threads, width, folder, every=None):
    """The checkpoints of a run, by step: folders."""
    config, sets, steps = MODELS[model]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_", "HEED_KERNELS"))}
    environment |= {"HEED_KERNELS": width} if width else {}
    text = (ROOT / config).read_text()
    sets = sets + [f"train.steps={steps}", f"checkpoint.every={every or steps}", f"checkpoint.keep={steps + 1}",
                   "checkpoint.optimizer_state=false", f"eval.every={steps}", "eval.batches=1"]
    sets += [f"sample.every={10 * steps}"] if "\nsample:" in text else []
    out = pathlib.Path(folder) / "run"
    command = [heed, "train", ROOT / config, "--out", out, "--threads", threads]
    for value in sets:
        command += ["--set", value]
    done = subprocess.run([str(c) for c in command], env=environment, capture_output=True, text=True)
    if "HEED_KERNELS=" in done.stderr and " available" in done.stderr:
        raise Skipped(done.stderr.strip()[-100:])
    if done.returncode:
        sys.exit(f"{model}: {done.stderr.strip()[-300:]}")
    found = {int(f.name[5:]): f for f in sorted(out.glob("checkpoints/step-*"))}
    made_with = json.loads((found[steps] / "manifest.json").read_text())["made_with"]
    if (made_with["kernels"], made_with["loops"]) != ("our own, fused", "fused"):
        raise Skipped(f"multiplications and additions are not fused: {made_with}")
    return found


def sha256(checkpoint):
    return hashlib.sha256((checkpoint / "model.safetensors").read_bytes()).hexdigest()


def codes(checkpoint):
    """Two letters for each tensor, in the order of their names."""
    data = (checkpoint / "model.safetensors").read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    code = {}
    for name in sorted(header.keys() - {"__metadata__"}):
        first, end = header[name]["data_offsets"]
        digest = hashlib.sha256(data[begin + first:begin + end]).digest()
        code[name] = LETTERS[digest[0] & 31] + LETTERS[digest[1] & 31]
    return code


def first_difference(heed, model, threads, width, golden):
    with tempfile.TemporaryDirectory() as folder:
        for step, checkpoint in train(heed, model, threads, width, folder, every=1).items():
            line = golden["by_step"][step - 1]
            for i, (name, code) in enumerate(codes(checkpoint).items()):
                if line[2 * i:2 * i + 2] != code:
                    return f"step {step}, {name}"
    return "not found again"


def write(heed):
    models = {}
    for model, (config, sets, steps) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            found = train(heed, model, 2, "", folder, every=1)
            models[model] = {"config": config, "set": sets, "steps": steps, "weights": sha256(found[steps]),
                             "by_step": ["".join(codes(c).values()) for c in found.values()]}
        print(model, models[model]["weights"], flush=True)
    about = "Written by tests/bits.py: SHA-256 of model.safetensors after the last step; of each step, two letters a tensor"
    GOLDEN.write_text(json.dumps({"about": about, "kinds": [kind_of_cpu(heed)], "models": models}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=ROOT / "build/release/heed")
    parser.add_argument("--threads", default="1,3")
    parser.add_argument("--widths", default=",vector-256,vector-512", help='"" is the one chosen for this CPU')
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--passed", action="store_true")
    a = parser.parse_args()
    if a.write:
        return write(a.heed)
    if not GOLDEN.exists():
        print("skipped: no tests/golden/bits.json; --write writes it")
        return 77
    golden = json.loads(GOLDEN.read_text())
    models = [m for m in a.models.split(",") if (ROOT / MODELS[m][0]).exists()]
    widths = a.widths.split(",")
    if a.quick:
        models, widths = models[:1], [""]
    kind, off, counts = kind_of_cpu(a.heed), [], collections.Counter()
    for model in models:
        for width in widths:
            for threads in a.threads.split(","):
                where = f"{model}, {width or 'the chosen width'}, {threads} threads"
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        same = sha256(train(a.heed, model, threads, width, folder)[MODELS[model][2]])
                    expected = golden["models"][model]["weights"]
                    if same != expected:
                        first = first_difference(a.heed, model, threads, width, golden["models"][model])
                        off.append(f"{where}: first other bits at {first}; {same[:12]}, expected {expected[:12]}")
                        print(off[-1], flush=True)
                    counts["compared"] += 1
                except Skipped as why:
                    if not width:
                        print(f"skipped: {why}")
                        return 77
                    counts[f"left out: {why}"] += 1
    known = kind in golden["kinds"]
    print(f"{kind}{'' if known else ' (new)'}:", dict(counts), f"{len(off)} off")
    if a.passed and not off and not known:
        GOLDEN.write_text(json.dumps(golden | {"kinds": golden["kinds"] + [kind]}, indent=1) + "\n")
    return 1 if off and (known or len(golden["kinds"]) > 1) else 0


if __name__ == "__main__":
    sys.exit(main())
