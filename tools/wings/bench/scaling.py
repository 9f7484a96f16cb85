#!/usr/bin/env python3
"""What many machines gain: a model of the time of a step, traffic and memory, from what one machine measures.

    python3 tools/wings/bench/scaling.py --measure     # measures on this machine: writes scaling.json, then scaling.md's tables
    python3 tools/wings/bench/scaling.py               # computes the tables of scaling.md again, from scaling.json
    python3 tools/wings/bench/scaling.py --measure --only char,6x384

--measure needs a quiet machine for a quarter of an hour, and mpirun. scaling.md says what the model is. Needs nothing but
Python.
"""
import argparse
import contextlib
import datetime
import json
import math
import multiprocessing
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

from compare_torch import ROWS, config, cpu_name

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NAMES = {"char": "char-GPT", "6x384": "6 x 384", "124m": "GPT-2 124M"}
STEPS = {"char": 60, "6x384": 4, "124m": 2}
NETWORKS = (1, 10, 100)  # Gbit/s
MACHINES = [2**k for k in range(1, 11)]
WIRE = 0.94           # payload in what an Ethernet carries, 1,448 of 1,538 bytes: where no cable was measured
PIECE = 1 << 18       # shard_sum.cpp: elements of a piece, at most
LEAST_PIECE = 1 << 12
BYTES = 4             # float32
CORES = len(os.sched_getaffinity(0))


# ---- What is measured

def bench(heed, row, sets=(), processes=1, threads=1, launcher=(), profile=False):
    """heed bench of a row of compare_torch.py, as a dictionary."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "row.yaml"
        path.write_text(config(ROWS[row]))
        command = [heed, "bench", path, "--steps", STEPS[row], "--json"] + ["--profile"] * profile
        for each in sets:
            command += ["--set", each]
        if processes > 1:
            by = launcher or ["mpirun", "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "--mca", "btl", "self,tcp"]
            command = [*by, "--bind-to", "none", "-n", processes, *command]
        env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              env=env | {"OMP_NUM_THREADS": str(threads)}, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
        return json.loads(done.stdout)


def batch_and_update(heed, row, threads):
    """Milliseconds of a micro-batch and of an update; the share of the backward pass; megabytes."""
    step = bench(heed, row, threads=threads, profile=True)
    forward = sum(each.get("forward_ms", 0) for each in step["profile"])
    backward = sum(each.get("backward_ms", 0) for each in step["profile"])
    update = next(each["ms"] for each in step["profile"] if each["op"] == "batch, clipping, optimizer")
    return {"threads": threads, "batch_ms": step["ms_per_step"] - update, "update_ms": update,
            "backward_share": backward / (forward + backward), "peak_mb": step["peak_mb"]}


def parts(number):
    return [f"train.accumulate={number}", f"train.shards={number}"]


def measure_row(heed, row):
    def run(shards, processes, launcher=()):
        keys = ("ms_per_step", "communication_ms", "waited_for_messages_ms", "communication_hidden", "peak_mb")
        got = bench(heed, row, parts(shards), processes, launcher=launcher)
        return {key: got[key] for key in keys if key in got}

    found = {"machine": batch_and_update(heed, row, CORES), "core": batch_and_update(heed, row, 1),
             "runs": {n: run(4, n) for n in (1, 2, 3, 4)}, "two": run(2, 2)}
    if os.geteuid() == 0 and shutil.which("tc"):
        with tempfile.TemporaryDirectory() as folder:
            with two_machines(folder) as launcher:
                found["gigabit"] = run(2, 2, launcher)
    return found


@contextlib.contextmanager
def two_machines(folder):
    """Two network namespaces, joined by a cable of 1 Gbit/s; the beginning of a command that runs on both."""
    names = [f"heed-{os.getpid()}-{k}" for k in (1, 2)]
    launcher = pathlib.Path(folder) / "launcher"  # in place of ssh: ADDRESS COMMAND...
    launcher.write_text(f"""#!/bin/bash
name=heed-{os.getpid()}-${{1##*.}}
shift
exec ip netns exec $name unshare --uts sh -c "hostname $name; $*"
""")
    launcher.chmod(0o755)

    def ip(*words):
        subprocess.run(["ip", *map(str, words)], check=True)

    try:
        for name in names:
            ip("netns", "add", name)
        ip("-n", names[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", names[1])
        for k, name in enumerate(names, 1):
            ip("-n", name, "address", "add", f"10.78.0.{k}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("netns", "exec", name, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "1gbit", "burst", "128kb",
               "latency", "20ms")
        yield [launcher, "10.78.0.1", "mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", launcher, "-host",
               "10.78.0.1,10.78.0.2"]
    finally:
        for name in names:
            ip("netns", "delete", name)


def echo(listener):
    with listener.accept()[0] as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := connection.recv(64):
            connection.sendall(data)


def measure_latency(rounds=5000):
    """Seconds that a short message takes by TCP from one process to another: half of a round trip, median of nine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        other = multiprocessing.Process(target=echo, args=(listener,))
        other.start()
        with socket.create_connection(listener.getsockname()) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            seconds = []
            for _ in range(9):
                begin = time.perf_counter()
                for _ in range(rounds // 9):
                    connection.sendall(b"x" * 16)
                    connection.recv(64)
                seconds.append((time.perf_counter() - begin) / (rounds // 9) / 2)
        other.join()
    return statistics.median(seconds)


# ---- The model

def parameters(row):
    """The sizes of the parameters of a row, in the order of the model."""
    r = ROWS[row]
    d, bias = r["width"], r["bias"]
    linear = [d * d] + [d] * bias
    block = linear * 4 + [4 * d * d] + [4 * d] * bias + [4 * d * d] + [d] * bias + [d] * (2 + 2 * (row == "124m"))
    return [r["vocab"] * d, r["context"] * d] + block * r["layers"] + [d] * (1 + (row == "124m"))


def largest_share(sizes, machines):
    """Elements of the machine that owns the most, and the number of pieces: as ShardSum::cut_into_pieces()."""
    most = max(LEAST_PIECE, min(PIECE, sum(sizes) // machines))
    load, pieces = [0] * machines, 0
    for size in sizes:
        for begin in range(0, size, most):
            least = min(range(machines), key=load.__getitem__) if machines > 1 else 0
            load[least] += min(most, size - begin)
            pieces += 1
    return max(load), pieces


class Model:
    """A row of compare_torch.py, the figures of one machine, and those of the messages."""

    def __init__(self, row, measured, messages):
        self.name, self.sizes = NAMES[row], parameters(row)
        self.tokens = ROWS[row]["batch"] * ROWS[row]["context"]
        self.gradients = BYTES * sum(self.sizes)  # bytes
        self.batch, self.update = measured["batch_ms"] / 1e3, measured["update_ms"] / 1e3
        self.backward = self.batch * measured["backward_share"]
        self.peak = measured["peak_mb"] * 1e6
        # The embeddings get their gradients last. Nothing hides the time that theirs travel.
        self.late = sum(self.sizes[:2]) / sum(self.sizes)
        self.messages = messages

    def traffic(self, machines):
        """Bytes that the busiest machine sends in a step, and as many that it receives."""
        own = BYTES * largest_share(self.sizes, machines)[0]
        return self.gradients - own + own * (machines - 1)

    def travel(self, machines, gigabits):
        """Seconds of the gradients on their own."""
        _, pieces = largest_share(self.sizes, machines)
        count = 2 * pieces * (machines - 1) / machines
        traffic = self.traffic(machines)
        wire = traffic / (gigabits * 1e9 / 8 * self.messages["wire"])
        return max(wire, traffic * self.messages["second_per_byte"]) + count * self.messages["second_per_message"]

    def agree(self, machines, gigabits):
        """Seconds for losses and lists: one after the other to rank 0, then along a tree; and two numbers along it."""
        rounds = math.ceil(math.log2(machines))
        listed = machines * (len(self.sizes) + 16 + 8)
        gather = 2 * (machines - 1) * self.messages["second_per_message"]
        return gather + rounds * (6 * self.messages["latency"] + listed / (gigabits * 1e9 / 8 * self.messages["wire"]))

    def step(self, machines, gigabits, batches=1):
        alone = batches * self.batch + self.update
        if machines == 1:
            return alone
        travel = self.travel(machines, gigabits)
        return alone + max(travel * self.late, travel - self.backward) + self.agree(machines, gigabits)

    def efficiency(self, machines, gigabits, batches=1):
        return self.step(1, gigabits, batches) / self.step(machines, gigabits, batches)

    def memory(self, machines, shard_optimizer):
        """Bytes of a machine: weights, gradients of its own shard and of its pieces, moments; the rest as measured."""
        rest = self.peak - 4 * self.gradients
        copies = 1 + (machines - 1) / machines
        return rest + self.gradients * (1 + copies + 2 / (machines if shard_optimizer else 1))


def fit_messages(rows, latency):
    """Seconds of a message, seconds of a byte, and the share of a network's bits that carry gradients.

    A message costs what a short one takes. The rest of the time of the gradients between two processes is that of their
    bytes, by least squares of relative errors. The share follows from the cable of 1 Gbit/s, where it was measured.
    """
    points, shares = [], []
    for row, found in rows.items():
        _, pieces = largest_share(parameters(row), 2)
        traffic = BYTES * sum(parameters(row))
        seconds = found["two"]["communication_ms"] / 1e3
        points.append((max(seconds - pieces * latency, 0.0) / seconds, traffic / seconds))
        if "gigabit" in found:
            shares.append(traffic / (1e9 / 8) / (found["gigabit"]["communication_ms"] / 1e3))
    byte = sum(y * x for y, x in points) / sum(x * x for _, x in points)
    return {"second_per_message": latency, "second_per_byte": byte, "latency": latency,
            "wire": statistics.median(shares) if shares else WIRE}


# ---- The check against runs of one to four processes

def shared_cores(works, cores):
    """Seconds until all processes are done, which share the cores of a machine fairly."""
    left, now = sorted(works), 0.0
    while left:
        speed = min(1.0, cores / len(left))
        now += left[0] / speed
        left = [work - left[0] for work in left[1:]]
    return now


def shards_of(processes, shards=4):
    return [shards * (k + 1) // processes - shards * k // processes for k in range(processes)]


def predicted(row, found, messages, processes, gigabits=math.inf, shards=4):
    """Seconds of a step of four micro-batches, by processes of one thread on the cores of this machine."""
    batch, update = found["core"]["batch_ms"] / 1e3, found["core"]["update_ms"] / 1e3
    crowd = max(1.0, processes / CORES)
    compute = shared_cores([n * batch for n in shards_of(processes, shards)], CORES) + crowd * update
    if processes == 1:
        return compute
    model = Model(row, found["core"], messages)
    travel = model.travel(processes, gigabits) * crowd
    return compute + max(travel * model.late, travel - model.backward * crowd)


def gradient_copies(processes, shards=4):
    """Of rank 0: train/wings/processes/shards.h."""
    own = shards_of(processes, shards)[0]
    return (2 if own > 2 else own) + (shards - own) / processes


# ---- The page

def mb(count):
    return f"{count / 1e6:,.0f}" if count >= 1e7 else f"{count / 1e6:.1f}"


def ms(seconds):
    return f"{1e3 * seconds:,.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.1f}"


def measured_table(figures):
    lines = ["| model | parameters | gradients, MB | tokens of a micro-batch | micro-batch, ms | of it backward | update, ms "
             "| memory, MB |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for row, found in figures["rows"].items():
        m, one = Model(row, found["machine"], figures["messages"]), found["machine"]
        lines.append(f"| {m.name} | {sum(m.sizes):,} | {mb(m.gradients)} | {m.tokens:,} | {one['batch_ms']:.1f} "
                     f"| {100 * one['backward_share']:.0f}% | {one['update_ms']:.1f} | {one['peak_mb']:,.0f} |")
    messages = figures["messages"]
    return lines + [
        "",
        f"Between two processes on this machine, by TCP, a short message arrives after {1e6 * messages['latency']:.0f} us.",
        f"Gradients travel at {1e-9 / messages['second_per_byte']:.1f} GB/s: sent, received and added, in both directions.",
        f"Through a cable of 1 Gbit/s they use {100 * messages['wire']:.0f}% of it in each direction."]


def model_table(model):
    lines = [f"### {model.name}", "",
             "| machines | traffic, MB | memory, MB | with `shard_optimizer` | step at 1, 10, 100 Gbit/s, ms | efficiency |",
             "|---:|---:|---:|---:|---:|---:|",
             f"| 1 | 0 | {mb(model.memory(1, False))} | | {ms(model.step(1, 1))} | 100% |"]
    for n in MACHINES:
        steps = ", ".join(ms(model.step(n, g)) for g in NETWORKS)
        efficiency = ", ".join(f"{100 * model.efficiency(n, g):.0f}%" for g in NETWORKS)
        lines.append(f"| {n:,} | {mb(model.traffic(n))} | {mb(model.memory(n, False))} | {mb(model.memory(n, True))} "
                     f"| {steps} | {efficiency} |")
    return lines + [""]


def most_machines(model, gigabits):
    """The most of MACHINES that one micro-batch each keeps at work for half of the time."""
    return max([1] + [n for n in MACHINES if model.efficiency(n, gigabits) >= 0.5])


def batches_for(model, gigabits, efficiency):
    """Micro-batches of each of 1,024 machines for this efficiency."""
    batches = 1
    while model.efficiency(1024, gigabits, batches) < efficiency:
        batches += 1
    return batches


def fastest(model, gigabits, batches=64):
    """How many times as fast as one machine the best number of machines takes a step of so many micro-batches."""
    return max((model.step(1, gigabits, batches) / model.step(n, gigabits, batches / n), n) for n in MACHINES[:6])


def end_table(models):
    lines = ["| model | Gbit/s | machines at 50%, a micro-batch each | micro-batches for 50% of 1,024 | for 90% "
             "| a step of 64 micro-batches |", "|---|---:|---:|---:|---:|---:|"]
    for model in models:
        for g in NETWORKS:
            gain, n = fastest(model, g)
            most = most_machines(model, g)
            lines.append(f"| {model.name} | {g} | {f'{most:,}' if most > 1 else 'none'} | {batches_for(model, g, 0.5)} "
                         f"| {batches_for(model, g, 0.9)} | {gain:.1f} times as fast on {n} |")
    return lines


def check_table(figures):
    lines = ["| model | processes | step, ms | by the model | off | memory of rank 0, MB | by the model | communication hidden |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for row, found in figures["rows"].items():
        gradients = BYTES * sum(parameters(row))
        rest = found["core"]["peak_mb"] * 1e6 - gradients  # of one micro-batch: everything but its gradients
        cases = [(n, run, 4, math.inf, n) for n, run in found["runs"].items()]
        if "gigabit" in found:
            cases.append(("2, 1 Gbit/s between them", found["gigabit"], 2, 1, 2))
        for label, run, shards, gigabits, n in cases:
            step = predicted(row, found, figures["messages"], int(n), gigabits, shards)
            memory = rest + gradients * gradient_copies(int(n), shards)
            hidden = f"{100 * run['communication_hidden']:.0f}%" if "communication_hidden" in run else ""
            lines.append(f"| {NAMES[row]} | {label} | {run['ms_per_step']:,.1f} | {1e3 * step:,.1f} "
                         f"| {100 * (1e3 * step / run['ms_per_step'] - 1):+.0f}% | {run['peak_mb']:,.0f} | {mb(memory)} "
                         f"| {hidden} |")
    return lines


def write_page(figures):
    models = [Model(row, found["machine"], figures["messages"]) for row, found in figures["rows"].items()]
    tables = {"measured": [f"{figures['date']}, {figures['cpu']}, {figures['rows']['char']['machine']['threads']} threads:", "",
                           *measured_table(figures)],
              "tables": [line for model in models for line in model_table(model)],
              "end": end_table(models),
              "check": check_table(figures)}
    page = HERE / "scaling.md"
    text = page.read_text()
    for name, lines in tables.items():
        begin, end = f"<!-- {name}: tools/wings/bench/scaling.py -->", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = "\n".join([before + begin, *lines, end]) + rest.split(end)[1]
    page.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", type=pathlib.Path, default=ROOT / "build/release/heed")
    parser.add_argument("--measure", action="store_true", help="measure first")
    parser.add_argument("--only", default=",".join(NAMES), help="with --measure: which models, of " + ", ".join(NAMES))
    a = parser.parse_args()
    kept = HERE / "scaling.json"
    figures = json.loads(kept.read_text()) if kept.exists() else {"rows": {}}
    if a.measure:
        for row in a.only.split(","):
            figures["rows"][row] = json.loads(json.dumps(measure_row(a.heed, row)))
        figures["rows"] = {row: figures["rows"][row] for row in NAMES if row in figures["rows"]}
        figures["latency"] = measure_latency()
        figures["cpu"], figures["date"] = cpu_name(), datetime.date.today().isoformat()
        kept.write_text(json.dumps(figures, indent=1) + "\n")
    figures["messages"] = fit_messages(figures["rows"], figures["latency"])
    write_page(figures)


if __name__ == "__main__":
    main()
