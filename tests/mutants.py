#!/usr/bin/env python3
"""Plants the faults of tests/mutants.md one at a time, and looks whether tests find each.

    tests/mutants.py                      all of them
    tests/mutants.py 3 17                 some
    tests/mutants.py --all 3              with all tests of ctest, not only those that the table names
    tests/mutants.py --build FOLDER 3     in that build folder instead of build/release
    tests/mutants.py --check              only looks whether the texts to replace are still in the sources

The faults are planted in the sources that the build folder belongs to, which must be a clean checkout: a worktree of
its own, say, so that yours stays as it is. Each line begins with found or SURVIVED. The exit code is 1 if a fault
survives, does not compile, has no tests or cannot be planted. Needs nothing but Python, git and CMake.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PRODUCT = ["autograd", "layers", "train", "tools"]
TESTS = {"f32": "heed_tests", "f64": "heed_tests_f64"}  # the program of the tests f32/..., and f64/...


def table():
    """{number: (file, what, before, after, tests)} of mutants.md."""
    faults = {}
    for line in (HERE / "mutants.md").read_text().splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and cells[0].isdigit():
            faults[int(cells[0])] = tuple(cell.strip("`") for cell in cells[1:])
    return faults


def run(*words):
    """(whether it went well, its output)"""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


class Build:
    def __init__(self, folder, all_tests):
        self.folder, self.all_tests = folder, all_tests
        cache = folder / "CMakeCache.txt"
        home = re.search(r"^CMAKE_HOME_DIRECTORY:\w+=(.*)$", cache.read_text() if cache.is_file() else "", re.M)
        if home is None:
            sys.exit(f"{folder}: expected a build folder; make one: cmake --preset release")
        self.sources = pathlib.Path(home[1])
        changed = run("git", "-C", self.sources, "status", "--porcelain", "--", *PRODUCT)[1]
        if changed:
            sys.exit(f"{self.sources}: expected a clean checkout, got\n{changed}")

    def make(self, names):
        programs = [program for label, program in TESTS.items() if label in names]
        targets = [] if self.all_tests else ["--target", "heed", "heed-f64", *programs]
        return run("cmake", "--build", self.folder, "-j", os.cpu_count(), *targets)

    def test(self, names):
        """(how many tests there are, those that failed); it ends at the first of them."""
        chosen = ["ctest", "--test-dir", self.folder] + ([] if self.all_tests else ["-R", names])
        count = re.search(r"Total Tests: (\d+)", run(*chosen, "-N")[1])
        well, output = run(*chosen, "-j", os.cpu_count(), "--stop-on-failure")
        failed = re.findall(r"^\s*\d+ - (\S+) \((?!Skipped|Not Run|Disabled)", output, re.M)
        return int(count[1]) if count else 0, [] if well else failed


def try_fault(build, number, fault):
    """Whether a test finds it."""
    file, what, before, after, tests = fault
    path = build.sources / file
    whole = path.read_text()
    if whole.count(before) != 1:
        sys.exit(f"fault {number}: expected the text once in {path}, got it {whole.count(before)} times: {before}")
    try:
        path.write_text(whole.replace(before, after))
        well, output = build.make(tests)
        if not well:
            verdict, by = "NOT BUILT", output[-2000:]
        else:
            count, failed = build.test(tests)
            verdict = "found" if failed else "SURVIVED" if count else "NO TESTS"
            by = f"by {', '.join(failed)}" if failed else f"{count} tests, {tests}"
    finally:
        path.write_text(whole)
    print(f"{verdict:8}  {number:2}  {file}: {what}; {by}", flush=True)
    return verdict == "found"


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("numbers", nargs="*", type=int, metavar="NUMBER")
    words.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build/release")
    words.add_argument("--all", action="store_true", help="all tests of ctest, not only those of the table")
    words.add_argument("--check", action="store_true", help="plant nothing, look whether each could be")
    given = words.parse_args()
    faults = table()
    unknown = [number for number in given.numbers if number not in faults]
    if unknown:
        sys.exit(f"expected numbers from 1 to {max(faults)}, got {unknown[0]}")
    chosen = {number: faults[number] for number in given.numbers or faults}
    if given.check:
        gone = [n for n, fault in chosen.items() if (HERE.parent / fault[0]).read_text().count(fault[2]) != 1]
        return f"tests/mutants.md: expected each text once in its file, got others for {gone}" if gone else 0
    build = Build(given.build.resolve(), given.all)
    all_names = "|".join(fault[4] for fault in chosen.values())
    well, output = build.make(all_names)
    if not well:
        sys.exit(output[-2000:])
    failed = build.test(all_names)[1]
    if failed:  # they would seem to find anything
        sys.exit(f"without a fault: failed {', '.join(failed)}")
    good = [try_fault(build, number, fault) for number, fault in chosen.items()]
    print(f"{sum(good)} of {len(good)} faults found")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
