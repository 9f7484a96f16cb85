"""The version of the package is that of the program, in CMakeLists.txt; all else is in pyproject.toml."""
import pathlib
import re

from setuptools import setup

cmake = pathlib.Path(__file__).resolve().parents[2] / "CMakeLists.txt"
setup(version=re.search(r"^project\(heedgrad VERSION ([\d.]+)", cmake.read_text(), re.M)[1])
