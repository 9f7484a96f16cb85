"""heed against PyTorch, by turns (A B A B ...), medians and their ratio.

    python tools/bench/compare_torch.py [--rows char,char_dropout] [--rounds 5] [--compile] [--json out.json]

Needs PyTorch in the Python that runs it, and build/release/heed. Each round starts one process of each side with the
same number of threads; the ratio is PyTorch's median time over heed's. OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are taken
out of the environment: a preset may pin OpenBLAS to old kernels. A machine whose rounds differ by more than a third
is called too noisy.
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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NANO = dict(layers=4, heads=4, width=128, context=64, batch=12, vocab=65, dropout=0.0, bias=False)
ROWS = {
    "char": dict(NANO, what="char-GPT, dropout 0", steps=100),
    "char_dropout": dict(NANO, what="char-GPT, dropout 0.2", steps=100, dropout=0.2),
    "6x384": dict(NANO, what="6 layers, 384 wide, T 256, batch 8, dropout 0.2", steps=6, layers=6, heads=6, width=384,
                  context=256, batch=8, dropout=0.2),
    "124m": dict(what="GPT-2 124M, T 64, batch 4", steps=4, layers=12, heads=12, width=768, context=64, batch=4,
                 vocab=50257, dropout=0.0, bias=True),
}


def config(row, folder):
    """The YAML config of a row; tokens beyond Shakespeare's 65 characters are drawn at random."""
    if row["vocab"] == 65:
        data = f"{{type: text, path: {ROOT}/configs/data/tinyshakespeare.txt, tokenizer: char}}"
    else:
        import random
        draw = random.Random(1)
        tokens = b"".join(draw.randrange(row["vocab"]).to_bytes(2, "little") for _ in range(40000))
        (folder / "tokens.bin").write_bytes(tokens)
        data = f"{{type: tokens, path: {folder}/tokens.bin, vocab_size: {row['vocab']}}}"
    biases = "qkv_bias: true, bias: true" if row["bias"] else "bias: false"
    return f"""seed: 1
data: {data}
model: {{type: gpt, context_length: {row['context']}, d_model: {row['width']}, num_heads: {row['heads']},
        num_layers: {row['layers']}, dropout: {row['dropout']}, {biases}, tie_embeddings: true, init: gpt2,
        activation: gelu}}
optimizer: {{type: adamw, lr: 1e-3, betas: [0.9, 0.99], weight_decay: 0.1}}
train: {{steps: 100, batch_size: {row['batch']}, clip_grad_norm: 1.0}}
"""


def run(command, env):
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def torch_command(row, threads, compiled):
    command = [sys.executable, HERE / "torch_step.py", "--threads", threads, "--dropout", row["dropout"]]
    for name in ("layers", "heads", "width", "context", "batch", "vocab", "steps"):
        command += ["--" + name, row[name]]
    command += ["--bias"] * row["bias"] + ["--compile"] * compiled
    return [str(word) for word in command]


def compare(row, heed, rounds, threads, compiled, env):
    """Medians of both sides, and how much the rounds of the noisier side differ."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "row.yaml").write_text(config(row, folder))
        ours = [str(heed), "bench", str(folder / "row.yaml"), "--steps", str(2 * row["steps"]), "--json"]
        sides = {"torch": [], "heed": []}
        for _ in range(rounds):
            sides["torch"].append(run(torch_command(row, threads, compiled), env))
            sides["heed"].append(run(ours, env))
    torch_ms = [r["ms"] for r in sides["torch"]]
    heed_ms = [r["ms_per_step"] for r in sides["heed"]]
    spread = max((max(v) - min(v)) / statistics.median(v) for v in (torch_ms, heed_ms))
    result = {"row": row["what"], "torch_ms": statistics.median(torch_ms), "heed_ms": statistics.median(heed_ms),
              "torch_mb": max(r["mb"] for r in sides["torch"]), "heed_mb": max(r["peak_mb"] for r in sides["heed"]),
              "share_of_peak": statistics.median(r["share_of_peak"] for r in sides["heed"]),
              "kernel": sides["heed"][0]["kernel"], "spread": spread}
    return dict(result, ratio=result["torch_ms"] / result["heed_ms"])


def cpu_name():
    with open("/proc/cpuinfo") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help="which, of " + ", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--compile", action="store_true", help="torch.compile instead of eager")
    parser.add_argument("--heed", type=pathlib.Path, default=ROOT / "build/release/heed")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures here too")
    a = parser.parse_args()
    import torch

    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    env["OMP_NUM_THREADS"] = str(a.threads)
    mode = "torch.compile" if a.compile else "eager"
    print(f"{datetime.date.today()}, {cpu_name()}, {a.threads} threads, PyTorch {torch.__version__} ({mode}), "
          f"{a.rounds} rounds by turns, medians\n")
    print("| step of training | PyTorch | heed | ratio | memory | of sgemm peak |\n|---|---|---|---|---|---|")
    results = []
    for name in a.rows.split(","):
        r = compare(ROWS[name], a.heed, a.rounds, a.threads, a.compile, env)
        results.append(dict(r, name=name))
        noisy = "  (rounds differ by %.0f%%: too noisy)" % (100 * r["spread"]) if r["spread"] > 1 / 3 else ""
        print(f"| {r['row']} | {r['torch_ms']:.1f} ms, {r['torch_mb']:.0f} MB | {r['heed_ms']:.1f} ms, "
              f"{r['heed_mb']:.0f} MB | {r['ratio']:.2f} | {r['heed_mb'] / r['torch_mb']:.2f} | "
              f"{100 * r['share_of_peak']:.0f}% |{noisy}", flush=True)
    if a.json:
        a.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
