#!/usr/bin/env python3
"""The weekend path: the files that the READMEs name to be read, counted.

    tools/reading_path.py            files and lines per folder, and the total
    tools/reading_path.py --files    every file of the path, in reading order

A README names the files of its folder under a heading "Read in this order", one a line:

    1. [graph/tensor.h](graph/tensor.h): what it shows

The order is that of the READMEs: the folders below, each followed by its sub-folders as its README links them. A file
counts where it is named first. The evening is the list of the first README: from the first tensor to a trained GPT.
The exit code is 1 if a file is missing, an item is not of that form, a README names more than 16 files or is linked
from nowhere, or the evening has more than 1,500 lines. Needs nothing but Python.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["autograd", "layers", "train", "tools"]
MOST_IN_A_README = 16
LINES_OF_AN_EVENING = 1_500

HEADING = re.compile(r"#+ Read in this order\s*")
ITEM = re.compile(r"\d+\. \[([^\]]+)\]\(([^)]+)\): \S")
FOLDER_LINK = re.compile(r"\]\(([a-z0-9_/]+)/(?:README\.md)?\)")


def prose(readme):
    """The lines of a README without its blocks of code."""
    lines, inside = [], False
    for line in readme.read_text().splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            lines.append(line)
    return lines


def named_files(readme, problems):
    """The files that a README names, in its order."""
    files, listing = [], False
    for line in prose(readme):
        if line.startswith("#"):
            listing = bool(HEADING.fullmatch(line))
        elif listing and re.match(r"\d+\.", line):
            item = ITEM.match(line)
            if item is None or item[1] != item[2]:
                problems.append(f"{shown(readme)}: expected `1. [file](file): what it shows`, got: {line}")
                continue
            files.append((readme.parent / item[2]).resolve())
            if not files[-1].is_file():
                problems.append(f"{shown(readme)}: there is no {item[2]}")
    if len(files) > MOST_IN_A_README:
        problems.append(f"{shown(readme)}: names {len(files)} files, more than {MOST_IN_A_README}")
    return [file for file in files if file.is_file()]


def readmes(folder):
    """The README of a folder, then those of the sub-folders that it links, in its order."""
    readme = folder / "README.md"
    if not readme.is_file():
        return []
    links = [name for line in prose(readme) for name in FOLDER_LINK.findall(line)]
    below = [folder / name for name in dict.fromkeys(links) if (folder / name).is_dir()]
    return [readme, *(found for part in below for found in readmes(part))]


def shown(path):
    return path.relative_to(ROOT).as_posix()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="name every file, in reading order")
    arguments = parser.parse_args()

    problems, lines = [], {}
    evening = named_files(ROOT / "README.md", problems)  # a selection of files that the other READMEs name
    read = [readme for folder in FOLDERS for readme in readmes(ROOT / folder)]
    for readme in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("README.md")):
        if readme not in read and named_files(readme, problems):
            problems.append(f"{shown(readme)}: no README above links its folder")

    print(f"{'README in':28} {'files':>6} {'lines':>7}")
    for readme in read:
        fresh = [file for file in named_files(readme, problems) if file not in lines]
        counts = {file: len(file.read_text().splitlines()) for file in fresh}
        lines.update(counts)
        if fresh:
            print(f"{shown(readme.parent):28} {len(fresh):6} {sum(counts.values()):7,}")
        if arguments.files:
            for file, count in counts.items():
                print(f"    {shown(file):45} {count:7}")
    total = sum(lines.values())
    print(f"{'total':28} {len(lines):6} {total:7,}")
    spine = sum(len(file.read_text().splitlines()) for file in evening)
    print(f"{'of these, the evening':28} {len(evening):6} {spine:7,}")
    if spine > LINES_OF_AN_EVENING:
        problems.append(f"README.md: the evening has {spine} lines, more than {LINES_OF_AN_EVENING}")

    problems += [f"README.md: no other README names {shown(file)}" for file in evening if file not in lines]
    for problem in problems:
        print(f"reading_path: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
