"""heed against PyTorch (and JAX), by turns (A B A B ...): medians, and the ratio to the fastest of the others.

    cmake --build --preset release --target heed benchmarks
    python tools/extras/bench/compare_torch.py [--rows char,attention] [--rounds 5] [--compile] [--jax]
                                        [--also HEED_KERNELS=vector-256] [--json out.json] [--readme]

Needs PyTorch (and JAX, if asked for) in the Python that runs it. Each round starts one process of each side with the
same number of threads. OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are taken out of the environment: a preset may pin
OpenBLAS to old kernels. What the machine can do is probed before each row. Rounds that differ by more than a third are
called too noisy. --also runs heed once more in every round, with that in its environment. "Bound" is the ratio of a heed
that did its matrix products at the speed of large ones (the best of the row) and nothing else: a target beyond it is
out of reach where it was measured. The exit code is 1 when a ratio of heed by itself falls short of its target.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BEGIN, END = "<!-- speed: tools/extras/bench/compare_torch.py -->", "<!-- end of speed -->"
NANO = dict(layers=4, heads=4, width=128, context=64, batch=12, vocab=65, dropout=0.0, bias=False)
LAYER = ("layer multi_head_attention --set d_in=768 --set d_out=768 --set context_length=1024 --set num_heads=12 "
         "--set packed=true --batch 8 --length 1024 --width 768 --rounds 6").split()
ALONE = ["attention", "--batch", "1", "--heads", "4", "--width", "64", "--length", "4096", "--rounds", "8"]

# name: description, target ratio, and the arguments of both sides (see commands())
ROWS = {
    "char": dict(NANO, what="char-GPT step, dropout 0", target=2.4, steps=100),
    "char_dropout": dict(NANO, what="char-GPT step, dropout 0.2", target=3.6, steps=100, dropout=0.2),
    "6x384": dict(NANO, what="6 x 384, T 256, batch 8, dropout 0.2", target=2.7, steps=6, layers=6, heads=6,
                  width=384, context=256, batch=8, dropout=0.2),
    "124m": dict(what="GPT-2 124M, T 64, batch 4", target=2.2, steps=4, layers=12, heads=12, width=768, context=64,
                 batch=4, vocab=50257, dropout=0.0, bias=True),
    "layer_forward": dict(what="attention layer b 8, T 1024, d 768: forward", target=2.3,
                          torch=["attention_layer_forward"], ours=LAYER, key="forward_ms"),
    "layer": dict(what="the same: forward + backward", target=2.0, torch=["attention_layer"],
                  ours=LAYER, key="forward_backward_ms"),
    "attention": dict(what="attention alone, 4 heads of 64, T 4096", target=2.0, torch=["attention"],
                      ours=ALONE, key="forward_backward_ms"),
    "attention_dropout": dict(what="the same, dropout 0.1", target=14, torch=["attention", "--dropout", "0.1"],
                              ours=[*ALONE, "--dropout", "0.1"], key="forward_backward_ms"),
    "chain": dict(what="chain of 1000 multiplications of 4 numbers, an operation", target=40, torch=["chain"],
                  ours=["chain"], key="us_per_op"),
    "start": dict(NANO, what="start to first training step done, char-GPT", target=15, steps=1, wall=True),
    "run": dict(what="shakespeare_char.yaml, whole run with nine evaluations", target=2.4, wall=True),
}


def config(row):
    """The YAML config of a row; tokens beyond Shakespeare's 65 characters are drawn at random."""
    if row["vocab"] == 65:
        data = f"{{type: text, path: {ROOT}/configs/data/tinyshakespeare.txt, tokenizer: char}}"
    else:
        data = f"{{type: synthetic, vocab_size: {row['vocab']}}}"
    biases = "qkv_bias: true, bias: true" if row["bias"] else "bias: false"
    return f"""seed: 1
data: {data}
model: {{type: gpt, context_length: {row['context']}, d_model: {row['width']}, num_heads: {row['heads']},
        num_layers: {row['layers']}, dropout: {row['dropout']}, {biases}, tie_embeddings: true, init: gpt2,
        activation: gelu}}
optimizer: {{type: adamw, lr: 1e-3, betas: [0.9, 0.99], weight_decay: 0.1}}
train: {{steps: {row['steps']}, batch_size: {row['batch']}, clip_grad_norm: 1.0}}
"""


def step_arguments(row, threads):
    arguments = ["--threads", threads, "--dropout", row["dropout"]]
    for name in ("layers", "heads", "width", "context", "batch", "vocab", "steps"):
        arguments += ["--" + name, row[name]]
    return arguments + ["--bias"] * row["bias"]


def commands(name, row, a, folder):
    """The commands of a row by side; the first is ours. Each prints a JSON object as its last line."""
    python = [sys.executable]
    if name == "run":
        ours = [a.heed, "train", ROOT / "configs/shakespeare_char.yaml", "--out", folder / "run"]
        return {"heed": ours, "PyTorch": python + [HERE / "torch_run.py", "--threads", a.threads]}
    if "layers" not in row:
        ours = [a.heed.parent / "ops_bench", *row["ours"]]
        return {"heed": ours, "PyTorch": python + [HERE / "torch_ops.py", *row["torch"], "--threads", a.threads]}
    (folder / "row.yaml").write_text(config(row))
    ours = [a.heed, "bench", folder / "row.yaml", "--steps", 2 * row["steps"], "--json"]
    if name == "start":
        ours = [a.heed, "train", folder / "row.yaml", "--out", folder / "run"]
    torch = python + [HERE / "torch_step.py", *step_arguments(row, a.threads)]
    sides = {"heed": ours, "PyTorch": torch + (["--warm-up", 0] if name == "start" else [])}
    if name != "start":
        if a.compile:
            sides["torch.compile"] = torch + ["--compile"]
        if a.jax:
            sides["JAX"] = python + [HERE / "jax_step.py", *step_arguments(row, a.threads)]
    return sides


def run(command, row, env):
    """The row's time of one process, in its unit, and its peak memory if it says."""
    start = time.perf_counter()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env)
    wall = 1e3 * (time.perf_counter() - start)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr[-800:]}")
    if row.get("wall"):
        return {"ms": wall}
    result = json.loads(done.stdout.splitlines()[-1])
    ours = result.get("ms_per_step", result.get(row.get("key")))
    ms = result["ms"] if ours is None else ours / (1000 if row.get("key") == "us_per_op" else 1)
    return dict(ms=ms, mb=result.get("mb", result.get("peak_mb")), share=result.get("share_of_peak"),
                kernel=result.get("kernel"), gflop=result.get("gflop_per_step"), products=result.get("product_gflops"))


def compare(name, a, env):
    row = ROWS[name]
    measured = {}
    probe = json.loads(subprocess.run([str(a.heed.parent / "ops_bench"), "machine"], capture_output=True, text=True,
                                      env=env, check=True).stdout)
    for _ in range(a.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for side, command in commands(name, row, a, pathlib.Path(folder)).items():
                measured.setdefault(side, []).append(run(command, row, env))
        if a.also:
            with tempfile.TemporaryDirectory() as folder:
                command = commands(name, row, a, pathlib.Path(folder))["heed"]
                measured.setdefault(a.also, []).append(run(command, row, env | dict([a.also.split("=", 1)])))
    times = {side: [r["ms"] for r in rounds] for side, rounds in measured.items()}
    ms = {side: statistics.median(t) for side, t in times.items()}
    others = {side: t for side, t in ms.items() if side not in ("heed", a.also)}
    best = min(others, key=others.get)
    spread = max((max(t) - min(t)) / statistics.median(t) for t in times.values())
    mb = {side: max(r["mb"] for r in rounds) for side, rounds in measured.items() if rounds[0].get("mb")}
    ours = measured["heed"] + measured.get(a.also, [])
    bound = None
    if ours[0].get("gflop"):
        bound = others[best] / (1e3 * ours[0]["gflop"] / max(r["products"] for r in ours))
    return {"name": name, "row": row["what"], "ms": ms, "others": others, "mb": mb, "best": best,
            "ratio": others[best] / ms["heed"], "also": others[best] / ms[a.also] if a.also else None,
            "bound": bound, "target": row["target"], "share_of_peak": measured["heed"][-1].get("share"),
            "kernel": ours[0].get("kernel"), "spread": spread, "probe": probe}


def time_text(ms):
    return f"{ms / 1000:.2f} s" if ms >= 1000 else f"{ms:.1f} ms" if ms >= 0.1 else f"{1000 * ms:.3f} us"


def line(r, also):
    others = ", ".join(f"{side} {time_text(ms)}" for side, ms in r["others"].items())
    memory = ""
    if "heed" in r["mb"] and len(r["mb"]) > 1:
        memory = f"{r['mb']['heed']:.0f} of {min(r['mb'][side] for side in r['others']):.0f} MB"
    share = f"{100 * r['share_of_peak']:.0f}%" if r["share_of_peak"] else ""
    note = f" (rounds differ by {100 * r['spread']:.0f}%: too noisy)" if r["spread"] > 1 / 3 else ""
    bound = f"{r['bound']:.2f}" if r["bound"] else ""
    p = r["probe"]
    more = f" {time_text(r['ms'][also])} | {r['also']:.2f} |" if also else ""
    return (f"| {r['row']} | {others} | {time_text(r['ms']['heed'])} | {r['ratio']:.2f} (target {r['target']}){note} |{more} "
            f"{bound} | {memory} | {share} | {p['fma_gflops']:.0f} / {p['sgemm_gflops']:.0f} / {p['bandwidth_gb_s']:.0f} |")


def cpu_name():
    with open("/proc/cpuinfo") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="which, of " + ", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--compile", action="store_true", help="torch.compile beside eager, where a model is trained")
    parser.add_argument("--jax", action="store_true", help="JAX, too, where a model is trained")
    parser.add_argument("--also", metavar="NAME=VALUE", help="heed with this in its environment, too")
    parser.add_argument("--heed", type=pathlib.Path, default=ROOT / "build/release/heed")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures here too")
    parser.add_argument("--readme", type=pathlib.Path, nargs="?", const=HERE / "README.md",
                        help="put the table between the marks of this file (default: README.md in this folder)")
    a = parser.parse_args()
    unknown = set(a.rows.split(",")) - set(ROWS)
    if a.also and "=" not in a.also:
        parser.error(f"--also: expected NAME=VALUE, got {a.also}")
    if unknown:
        parser.error(f"--rows: {', '.join(sorted(unknown))}: expected some of {', '.join(ROWS)}")
    import torch

    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    env["OMP_NUM_THREADS"] = str(a.threads)
    lines = [f"{datetime.date.today()}, {cpu_name()}, {a.threads} threads, PyTorch {torch.__version__}, "
             f"{a.rounds} rounds by turns, medians:", "",
             f"| work | others | heed | ratio to the fastest |{f' {a.also} | ratio |' if a.also else ''} bound | memory "
             "| of sgemm peak | FMA GFLOP/s / sgemm GFLOP/s / GB/s |",
             "|---" * (10 if a.also else 8) + "|"]
    print("\n".join(lines), flush=True)
    results = []
    for name in a.rows.split(","):
        results.append(compare(name, a, env))
        lines.append(line(results[-1], a.also))
        print(lines[-1], flush=True)
    if a.readme:
        before, rest = a.readme.read_text().split(BEGIN)
        a.readme.write_text("\n".join([before + BEGIN, *lines, END]) + rest.split(END)[1])
    if a.json:
        a.json.write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(any(r["ratio"] < r["target"] for r in results))


if __name__ == "__main__":
    main()
