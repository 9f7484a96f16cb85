"""The command heed of the wheel: becomes the program that lies in the package heedgrad, without importing the package."""
import importlib.util
import os
import sys


def main() -> None:
    package = importlib.util.find_spec("heedgrad")
    if package is None or not package.submodule_search_locations:
        sys.exit("heed: this Python has no package heedgrad; install the wheel again")
    program = os.path.join(package.submodule_search_locations[0], "_native", "bin", "heed")
    os.execv(program, ["heed", *sys.argv[1:]])
