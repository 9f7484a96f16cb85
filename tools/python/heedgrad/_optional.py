"""Packages that only some functions need."""

from __future__ import annotations

import importlib
from typing import Any


def optional(package: str, what: str) -> Any:
    """Imports a package. Raises ImportError with the command that installs it.

    >>> optional("math", "an example").pi > 3
    True
    >>> try:
    ...     optional("no_such_package", "an example")
    ... except ImportError as error:
    ...     print(error)
    an example needs the package no_such_package: pip install no_such_package
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(f"{what} needs the package {package}: pip install {package}") from None
