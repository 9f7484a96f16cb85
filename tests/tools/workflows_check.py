#!/usr/bin/env python3
"""Each step of .github/workflows is a script that is here, with options that it takes; tools/release.sh refuses what
cannot become a release.   workflows_check.py   Exits with 77 without PyYAML or git."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
wrong = []
scripts = set()


def spellings(text, matrix):
    """A command once for each value of the matrix that it names; other expressions stay as one word."""
    names = re.findall(r"\$\{\{ *matrix\.(\w+) *\}\}", text)
    texts = [text]
    for name in names:
        texts = [re.sub(r"\$\{\{ *matrix\." + name + r" *\}\}", str(value), one) for one in texts for value in matrix[name]]
    return [re.sub(r"\$\{\{.*?\}\}", "VALUE", one) for one in texts]


def check_command(where, words):
    """A script of the project is there, can be run, and its text has each option and each bare word it is given."""
    for word in words:
        if re.match(r"(\.ci|tools|tests|configs)/", word) and not (ROOT / word).exists():
            wrong.append(f"{where}: there is no {word}")
    program = ROOT / words[0]
    if "/" not in words[0] or not program.exists():
        return
    scripts.add(words[0])
    if not os.access(program, os.X_OK):
        wrong.append(f"{where}: {words[0]} cannot be run")
    text = program.read_text()
    for word in words[1:]:
        if re.fullmatch(r"--\w[\w-]*|[a-z]+", word) and words[words.index(word) - 1] != "--out":
            if not re.search(rf"^[^#]*(?<![\w-]){re.escape(word)}(?![\w-])", text, re.M):
                wrong.append(f"{where}: {words[0]} does not take {word}")


def check_workflow(path):
    workflow = yaml.safe_load(path.read_text())
    for name, job in workflow["jobs"].items():
        where = f"{path.name}: {name}"
        if job.get("needs", name) not in workflow["jobs"]:
            wrong.append(f"{where} needs {job['needs']}, which is not there")
        for step in job["steps"]:
            if "uses" in step and not re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"]):
                wrong.append(f"{where}: {step['uses']} has no version")
            for line in step.get("run", "").splitlines():
                for text in spellings(line, job.get("strategy", {}).get("matrix", {})):
                    for command in re.split(r"&&|\|\||;|\|", text):
                        check_command(where, shlex.split(command))


def check_release():
    """In a clone: what must be right before a release, broken one by one."""
    version = re.search(r"^project\(heedgrad VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    with tempfile.TemporaryDirectory() as temporary:
        clone = pathlib.Path(temporary) / "a clone"
        shutil.copytree(ROOT / "tools", clone / "tools", ignore=shutil.ignore_patterns("extras", "reference", "python"))
        for file in ("CMakeLists.txt", "CHANGES.md"):
            shutil.copy(ROOT / file, clone)
        git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]

        def commit():
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
                subprocess.run([*git, *words], check=True)

        def expect(status, text, *arguments):
            run = subprocess.run([clone / "tools/release.sh", *arguments], capture_output=True, text=True)
            said = run.stdout + run.stderr
            if run.returncode != status or text not in said:
                wrong.append(f"release.sh {' '.join(arguments)}: {run.returncode}, {said!r}; expected {status}, {text!r}")

        changes = clone / "CHANGES.md"
        heading = re.compile(rf"^## {re.escape(version)}.*$", re.M)
        changes.write_text(heading.sub(f"## {version}, 2026-01-31", changes.read_text()))
        commit()
        expect(2, "usage:")
        expect(2, "usage:", "v" + version)
        expect(0, f"{version} can be made", version, "--check")
        expect(1, f"says version {version}, not 9.9.9", "9.9.9", "--check")
        (clone / "new").touch()
        expect(1, "commit these changes first", version, "--check")
        (clone / "new").unlink()
        changes.write_text(heading.sub(f"## {version}, in development", changes.read_text()))
        commit()
        expect(1, "has no date", version, "--check")
        changes.write_text(heading.sub("## Later", changes.read_text()))
        commit()
        expect(1, "has no section", version, "--check")


for file in sorted((ROOT / ".github/workflows").glob("*.yml")):
    check_workflow(file)
if {".ci/run", "tools/test.sh", "tools/release.sh"} - scripts:
    wrong.append(f"the workflows call {sorted(scripts)} alone")
if shutil.which("git"):
    check_release()
print(*wrong, sep="\n")
sys.exit(bool(wrong))
