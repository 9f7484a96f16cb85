#!/usr/bin/env python3
"""Which lines of the product the float32 tests run: builds them with counters in build/coverage, runs them, counts.

    tests/coverage.py                                a table
    tests/coverage.py -R f32/train/yaml              by these tests alone; what is not -D goes to ctest
    tests/coverage.py -DHEED_TESTS_MATCH=^tests/train  options of CMake

A line counts once, in however many units it is compiled, and is covered if it runs in one of them. A template without a
use has no lines. build/coverage/missed.txt names the lines that did not run. Needs GCC and its gcov.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/coverage"
JOBS = str(len(os.sched_getaffinity(0)))
FOLDERS = ["autograd", "layers", "train", "tools"]
# The first that fits.
GROUPS = {"extras": "/extras/", "own kernels": "^autograd/kernels/(simd|gemm|attention)/", "core": ""}


def build(options):
    # Tests and the standard library get no counters. The engine's tests would take far longer with -O0.
    flags = f"-O1 --coverage -fprofile-filter-files='{ROOT}/({'|'.join(FOLDERS)})/.*'"
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={flags}",
                    "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=10", "-DHEED_NATIVE=ON", *options],
                   check=True)
    subprocess.run(["cmake", "--build", BUILD, "-j", JOBS, "--target", "heed_tests", "heed"], check=True)


def counts_of(unit):
    """[(path, line, count)] of the product's lines in a unit; 0 in all if it never ran."""
    gcov = subprocess.run(["gcov", "--json-format", "--stdout", unit], cwd=BUILD, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    return [(os.path.relpath(BUILD / file["file"], ROOT), line["line_number"], line["count"])
            for file in json.loads(gcov.stdout)["files"] for line in file["lines"]]


def lines_that_ran():
    """{path: {line: whether it ran}}"""
    ran = collections.defaultdict(lambda: collections.defaultdict(bool))
    with concurrent.futures.ThreadPoolExecutor(int(JOBS)) as pool:
        for found in pool.map(counts_of, sorted(BUILD.rglob("*.gcno"))):
            for path, line, count in found:
                if path.split("/")[0] in FOLDERS:
                    ran[path][line] |= count != 0
    return ran


def main(options, tests):
    build(options)
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    subprocess.run(["ctest", "--test-dir", BUILD, "-L", "f32", "-j", JOBS, *tests])
    ran = lines_that_ran()
    tally, missed = collections.Counter(), []
    for path, lines in sorted(ran.items()):
        group = next(name for name, pattern in GROUPS.items() if re.search(pattern, path))
        for folder in (path.split("/")[0], "all"):
            tally[group, folder] += len(lines)
            tally[group, folder, "ran"] += sum(lines.values())
        missed += [f"{path}:{line}\n" for line, good in sorted(lines.items()) if not good]
    (BUILD / "missed.txt").write_text("".join(missed))
    for group in reversed(GROUPS):
        for folder in [*FOLDERS, "all"]:
            if total := tally[group, folder]:
                part = tally[group, folder, "ran"]
                print(f"{group:12} {folder:9} {part:6} of {total:6} lines {100 * part / total:6.2f}%")


if __name__ == "__main__":
    main([word for word in sys.argv[1:] if word.startswith("-D")],
         [word for word in sys.argv[1:] if not word.startswith("-D")])
