"""What heed refuses or fails at, as exceptions that carry heed's own text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .run import Run


@dataclass(frozen=True)
class Mistake:
    """One mistake in a file.

    ``file`` is the file as it was named, or the ``--set`` argument; ``line`` and ``column`` count
    from 1; ``path`` is the key, such as ``model.num_heads``, and ``text`` says what was expected
    and what came.
    """

    file: str
    line: int
    column: int
    path: str
    text: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.path}: {self.text}" if self.path else f"{where}: {self.text}"


class Error(RuntimeError):
    """heed could not do what it was asked to do.

    The text is heed's own. ``code`` is its exit code: 1 failed at run time, 2 the config or an
    argument is wrong, 3 the training diverged. ``mistakes`` has the places in files that the text
    names; it is empty if it names none.

    >>> import heedgrad as hg
    >>> try:
    ...     hg.Run("runs/nowhere")
    ... except hg.Error as error:
    ...     print(error)
    runs/nowhere: expected a run folder: it has no config.yaml
    """

    def __init__(self, text: str, code: int = 1, mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.mistakes: tuple[Mistake, ...] = tuple(mistakes)


class ConfigError(Error):
    """A config or an argument is wrong. All mistakes of a config come at once.

    >>> import heedgrad as hg
    >>> config = {"data": {"type": "copy"}, "model": {"type": "gpt", "d_modle": 8}}
    >>> try:
    ...     hg.validate(config)
    ... except hg.ConfigError as error:
    ...     for mistake in error.mistakes:
    ...         if mistake.path == "model.d_modle":
    ...             print(mistake.line, mistake.column, mistake.text)
    7 3 unknown key, did you mean d_model?
    """

    def __init__(self, text: str, code: int = 2, mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(text, code, mistakes)


class DivergedError(Error):
    """A loss, gradient or weight is not finite. The last good checkpoint is kept."""

    def __init__(self, text: str, code: int = 3, mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(text, code, mistakes)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has stopped a training, which has saved.

    ``run`` is the run, ``run.resume()`` goes on with the bits of a run that was not interrupted. It
    is a ``KeyboardInterrupt``: a script that does not catch it ends, as after any Ctrl-C. ``run``
    is None if training had not begun.
    """

    def __init__(self, text: str, run: Run | None = None) -> None:
        super().__init__(text)
        self.run = run


class ConfigWarning(UserWarning):
    """A warning of heed: a setting that is odd, but could be intended."""


# "heed: file.yaml:3:5: model.x: text", "metrics.csv:7: text", one mistake a line.
_PLACE = re.compile(r"^(?:heed(?: \w+)?: )?(?P<file>[^\n]+?):(?P<line>\d+):(?:(?P<column>\d+):)? "
                    r"(?:(?P<path>[a-z_]+(?:\.[A-Za-z_0-9]+)*): )?(?P<text>.*)$")


def mistakes_in(text: str) -> list[Mistake]:
    """The places that the lines of a message of heed name.

    >>> mistakes_in("heed: pairs.tsv:12: expected two columns, got one")
    [Mistake(file='pairs.tsv', line=12, column=1, path='', text='expected two columns, got one')]
    >>> mistakes_in("heed: out of memory")
    []
    """
    found = []
    for line in text.splitlines():
        match = _PLACE.match(line)
        if match:
            found.append(Mistake(match["file"], int(match["line"]), int(match["column"] or 1),
                                 match["path"] or "", match["text"]))
    return found


def error_of(answer: Mapping[str, Any]) -> Error:
    """The exception for what heed prints with ``--json`` after an error."""
    text = str(answer["error"]).removeprefix("heed: ").replace(
        'the text "none"; write it without quotes', 'the text "none"; write None, in YAML none')
    code = int(answer["code"])
    mistakes = [Mistake(m["file"], m["line"], m["column"], m["path"], m["message"])
                for m in answer.get("mistakes", []) if m["file"]] or mistakes_in(text)
    kind = {2: ConfigError, 3: DivergedError}.get(code, Error)
    return kind(text, code, mistakes)
