"""What heed says without a run: gradients, the tour, the keys of configs, a config's mistakes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors.numpy import save_file

from ._program import array_of, json_of, options, text_of
from .config import Config, Settings, config_file, set_arguments
from .table import Table


class GradientCheck(dict[str, Any]):
    """What ``heed gradcheck --json`` prints: ``passed``, ``worst`` (the largest relative error),
    ``compared`` (how many elements), ``checks`` (a row for each case). True if all passed."""

    def __bool__(self) -> bool:
        return bool(self["passed"])

    def table(self) -> Table:
        """The cases as a table."""
        return Table(self["checks"])

    def __repr__(self) -> str:
        failed = [f"FAILED {c['layer']}, {c['options']}, {c['input']}: {c['message']}"
                  for c in self["checks"] if not c["passed"]]
        failed += [f"FAILED {f['layer']}, {f['what']}: {f['message']}" for f in self["findings"] if not f["passed"]]
        summary = (f"{self['cases']} cases, {self['compared']} gradient elements compared, "
                   f"largest relative error {self['worst']:.1e}, "
                   f"{'all passed' if self else 'FAILED'}")
        return "\n".join([*failed, summary])


def gradcheck(target: Config, set: Settings | None = None, *, tolerance: float | None = None,
              threads: int | None = None) -> GradientCheck:
    """Compares gradients with central differences, in float64: ``heed gradcheck``.

    ``target``: a layer, ``"multi_head_attention"``, or ``"all"``, or a config (a path or a dict),
    whose ``set`` may change. ``tolerance``: the largest relative error, 1e-6 by default.

    >>> import heedgrad as hg
    >>> check = hg.gradcheck("linear")
    >>> bool(check), check["worst"] < 1e-6
    (True, True)
    """
    with config_file(target) as path:
        return GradientCheck(json_of("gradcheck", path, *set_arguments(set),
                                     *options(tolerance=tolerance, threads=threads),
                                     accept=(0, 1)))


class Tour(dict[str, NDArray[np.float64]]):
    """The numbers of a tour: arrays under their names. Printed, it is the text of the step."""

    text: str

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__


def tour(step: str | int | None = None, *, seed: int | None = None, x: ArrayLike | None = None) -> Tour:
    """Attention step by step: the numbers of ``heed tour``, float64 arrays under their names.

    ``step``: the name or number of one step, or a word in it; all steps without one. ``seed``:
    draws other weights than the book's. ``x``: other embedded words, float (T, d). What a step says
    in words is in ``.text`` alone.

    >>> import heedgrad as hg
    >>> weights = hg.tour("causal")["causal.weights"]
    >>> weights.shape, weights[1].round(4)
    ((6, 6), array([0.5517, 0.4483, 0.    , 0.    , 0.    , 0.    ]))
    """
    with tempfile.TemporaryDirectory(prefix="heedgrad-") as folder:
        inputs = None
        if x is not None:
            inputs = Path(folder) / "x.safetensors"
            save_file({"x": np.ascontiguousarray(array_of(x, "x"), np.float32)}, inputs)
        arguments = [*([] if step is None else [step]), *options(seed=seed, inputs=inputs)]
        answer = json_of("tour", *arguments)
        found = Tour((name, np.array(numbers, np.float64)) for name, numbers in answer.items()
                     if not isinstance(numbers, str))
        found.text = text_of("tour", *arguments).rstrip()
    return found


class Layers(dict[str, dict[str, Any]]):
    """JSON Schemas: ``{kind: {name: schema}}``. Printed, it is the text of ``heed layers``."""

    text: str

    def __repr__(self) -> str:
        return self.text


def layers(name: str | None = None) -> Layers:
    """What a config may say: layers, tasks, tokenizers, optimizers, schedules: ``heed layers``.

    ``name``: one of them, with its fields.

    >>> import heedgrad as hg
    >>> sorted(hg.layers("linear")["layer"]["linear"]["properties"])
    ['bias', 'd_in', 'd_out', 'type']
    """
    arguments = [] if name is None else [name]
    found = Layers(json_of("layers", *arguments))
    found.text = text_of("layers", *arguments).rstrip()
    return found


class Plan(dict[str, Any]):
    """A config that is right: ``parameters``, ``training_tokens``, ``tokens_per_step``,
    ``flops_per_step``, ``memory_bytes``, ``steps``, and ``warnings``, a list of texts."""

    def __repr__(self) -> str:
        lines = [f"{name}: {value:,}" for name, value in self.items() if name != "warnings"]
        return "\n".join([*lines, *(f"warning: {each}" for each in self["warnings"])])


def validate(config: Config, set: Settings | None = None, *, strict: bool = False) -> Plan:
    """Checks a config without training: all that ``heed train`` would say before its first step.

    ``strict``: warnings are mistakes, too. Raises ConfigError with all mistakes.

    >>> import heedgrad as hg
    >>> plan = hg.validate({
    ...     "data": {"type": "copy", "length": 4},
    ...     "model": {"type": "encoder_decoder", "d_model": 8, "num_heads": 2, "num_layers": 1},
    ...     "train": {"steps": 20, "batch_size": 4}})
    >>> plan["steps"], plan["warnings"]
    (20, [])
    """
    with config_file(config) as path:
        arguments = [path, *set_arguments(set), *options(strict=strict)]
        json_of("validate", *arguments)
        plan = Plan(json_of("train", *arguments, "--dry-run"))
    del plan["event"]
    return plan
