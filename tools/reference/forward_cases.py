"""Compares `heed forward` with PyTorch 2.13 on random cases: every layer, sizes 1 to 129, masks, biases, options.

    python tools/reference/forward_cases.py --seed 1 --count 200 --heed build/release/heed [--init] [--keep DIR]

Values and all gradients. In float64 the distance to PyTorch is at most 1e-11 of the largest value; in float32 the
distance to PyTorch's float64 result is at most 2e-5, or 4 times PyTorch float32's own distance where that is larger. "Largest"
is that of the tensor itself or, for gradients, a fiftieth of the case's largest gradient, dy included (or the weight's,
for a bias): some gradients are zero but for rounding. A key's bias moves all scores of a query alike; a layer norm of
width 1 gives its shift whatever x is, so that dx is 0, where PyTorch subtracts two roundings of dy / sqrt(eps).

--init leaves the weights out: the parameters must be PyTorch's after manual_seed(seed), to 1e-6, and y theirs.
Exit code 1 on any miss; --keep DIR keeps the files of missed cases, with the command that was run.
"""
import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import torch
import yaml
from safetensors.torch import load_file, save_file

import torch_layers
from layer_cases import KINDS, Case, draw_cases

PRECISIONS = {"float64": torch.float64, "float32": torch.float32}


def scales(reference: dict, dy: torch.Tensor) -> dict[str, float]:
    largest = {k: v.abs().max().item() if v.numel() else 0.0 for k, v in reference.items()}
    all_gradients = max([v for k, v in largest.items() if k != "y"], default=0.0)
    all_gradients = max(all_gradients, dy.abs().max().item() if dy.numel() else 0.0)
    scale = {}
    for name, value in largest.items():
        if name != "y":
            weight = largest.get(name.removesuffix("bias") + "weight", 0.0) if name.endswith("bias") else 0.0
            value = max(value, weight, all_gradients / 50)
        scale[name] = value or 1.0
    return scale


def distances(got: dict, reference: dict, dy: torch.Tensor) -> dict[str, float]:
    """The largest difference of each tensor, relative to its scale; infinite for a wrong shape, a NaN or a gap."""
    out = {}
    for name, scale in scales(reference, dy).items():
        a, b = got.get(name), reference[name]
        if a is None or a.shape != b.shape or not a.isfinite().all():
            out[name] = float("inf")
        else:
            out[name] = (a.double() - b).abs().max().item() / scale if b.numel() else 0.0
    return out


def run_heed(heed: str, folder: pathlib.Path, config: dict, inputs: dict, *flags: str, weights=None) -> dict:
    """Writes the files, runs `heed forward`, returns what it wrote; RuntimeError with its message when it fails."""
    (folder / "config.yaml").write_text(yaml.safe_dump({"model": config}, sort_keys=False))
    save_file({k: v.contiguous() for k, v in inputs.items()}, folder / "x.safetensors")
    command = [heed, "forward", folder / "config.yaml", "--in", folder / "x.safetensors",
               "--out", folder / "y.safetensors", *flags]
    if weights:
        save_file(weights, folder / "w.safetensors")
        command += ["--weights", folder / "w.safetensors"]
    command = [str(part) for part in command]
    (folder / "command.txt").write_text(shlex.join(command) + "\n")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return load_file(folder / "y.safetensors")


def check_forward(heed: str, folder: pathlib.Path, case: Case, precision: str) -> list[tuple[float, str, float]]:
    """(share of what is allowed, tensor, distance) of every tensor; a share above 1 is a miss."""
    got = run_heed(heed, folder, case.config, case.inputs, "--backward", "--precision", precision, weights=case.weights)
    reference = case.outputs(torch.float64)
    extra = set(got) - set(reference)
    if extra:
        raise RuntimeError(f"unexpected outputs {sorted(extra)}")
    if any(t.dtype != PRECISIONS[precision] for t in got.values()):
        raise RuntimeError(f"an output is not {precision}")
    allowed = dict.fromkeys(reference, 1e-11)
    if precision == "float32":
        own = distances(case.outputs(torch.float32), reference, case.inputs["dy"])
        assert max(own.values()) < 1e-2, f"an ill-conditioned case: PyTorch itself is off by {max(own.values())}"
        allowed = {name: max(2e-5, 4 * d) for name, d in own.items()}
    return [(d / allowed[name], name, d) for name, d in distances(got, reference, case.inputs["dy"]).items()]


def check_init(heed: str, folder: pathlib.Path, case: Case, precision: str, seed: int) -> list[tuple]:
    """The same for the parameters (1e-6) and the y that they give."""
    inputs = {k: v for k, v in case.inputs.items() if k != "dy"}
    saved = folder / "saved.safetensors"
    got = run_heed(heed, folder, case.config, inputs, "--precision", precision, "--seed", str(seed),
                   "--save-weights", str(saved))
    torch.manual_seed(seed)
    drawn = {k: p.detach().double() for k, p in torch_layers.build(case.config).named_parameters()}
    ours = load_file(saved) if drawn else {}
    if set(ours) != set(drawn):
        raise RuntimeError(f"parameters {sorted(ours)}, PyTorch has {sorted(drawn)}")
    rows = []
    for path, p in drawn.items():
        if ours[path].shape != p.shape:
            raise RuntimeError(f"{path} is {tuple(ours[path].shape)}, PyTorch's {tuple(p.shape)}")
        distance = (ours[path].double() - p).abs().max().item() / max(1.0, p.abs().max().item())
        rows.append((distance / 1e-6, path, distance))
    case = Case(case.config, case.inputs, {k: v.double() for k, v in ours.items()})
    reference = {"y": case.outputs(torch.float64)["y"]}
    dy = case.inputs["dy"]
    own = 0.0 if precision == "float64" else distances(case.outputs(torch.float32), reference, dy)["y"]
    distance = distances(got, reference, dy)["y"]
    rows.append((distance / (1e-11 if precision == "float64" else max(2e-5, 4 * own)), "y", distance))
    return rows


def describe(case: Case) -> str:
    shapes = {k: f"{tuple(v.shape)} {str(v.dtype).removeprefix('torch.')}" for k, v in case.inputs.items() if k != "dy"}
    return f"{json.dumps(case.config)} {shapes}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--heed", default="build/release/heed")
    parser.add_argument("--precision", choices=tuple(PRECISIONS), help="only this one")
    parser.add_argument("--only", nargs="+", metavar="TYPE", default=KINDS, help="these layers alone")
    parser.add_argument("--init", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    precisions = [args.precision] if args.precision else list(PRECISIONS)
    results, misses, tensors = [], 0, 0
    for index, case in enumerate(draw_cases(args.seed, args.count, args.only)):
        for precision in precisions:
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                try:
                    if args.init:
                        rows = check_init(args.heed, folder, case, precision, args.seed + index)
                    else:
                        rows = check_forward(args.heed, folder, case, precision)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    rows = [(float("inf"), str(error), float("inf"))]
                tensors += len(rows)
                worst = max(rows)
                results.append((*worst, precision, index, case))
                if not worst[0] <= 1:
                    misses += 1
                    if args.keep:
                        shutil.copytree(folder, args.keep / f"{index}-{precision}", dirs_exist_ok=True)
    for precision in precisions:
        print(f"{precision}: the worst, as a share of what is allowed")
        chosen = sorted((r for r in results if r[3] == precision), key=lambda r: -r[0])
        for share, name, distance, _, index, case in chosen[: max(5, min(misses, 20))]:
            print(f"  {share:8.2e}  distance {distance:.1e}  case {index}  {name}\n      {describe(case)}")
    print(f"{len(results)} runs over {args.count} cases, {tensors} tensors compared, {misses} misses")
    sys.exit(1 if misses or not tensors else 0)


if __name__ == "__main__":
    main()
