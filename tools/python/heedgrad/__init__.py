"""heedgrad: trains small transformers on the CPU and shows what their attention does.

>>> import heedgrad as hg
>>> run = hg.train({
...     "data": {"type": "text", "path": "my.txt"},
...     "model": {"type": "gpt", "context_length": 16, "d_model": 16, "num_heads": 2,
...               "num_layers": 2},
...     "train": {"steps": 20, "batch_size": 4},
... }, out="runs/first")
>>> run.attention("the cat").shape          # (layers, heads, T, T)
(2, 2, 7, 7)
>>> text = run.generate("the", tokens=20)

It runs the program ``heed``: what it needs are numpy and safetensors. The text of an exception is
heed's own.
"""

import re as _re
from importlib import metadata as _metadata
from pathlib import Path as _Path

from .attention import Attention, AttentionMap
from .checks import gradcheck, layers, tour, validate
from .errors import ConfigError, ConfigWarning, DivergedError, Error, Interrupted, Mistake
from .gguf_file import to_gguf
from .gradients import Attribution, GradientHistory, Lesson
from .lens import Lens
from .metrics import Metrics
from .page import Page
from .run import Run, Written
from .sweeps import Sweep, sweep
from .table import Table
from .tensorboard_logs import to_tensorboard
from .training import resume, train

try:
    __version__ = _metadata.version("heedgrad")
except _metadata.PackageNotFoundError:  # a checkout on PYTHONPATH
    _cmake = (_Path(__file__).resolve().parents[3] / "CMakeLists.txt").read_text()
    __version__ = _re.findall(r"^project\(heedgrad VERSION ([\d.]+)", _cmake, _re.M)[0]

__all__ = [
    "Attention", "AttentionMap", "Attribution", "ConfigError", "ConfigWarning", "DivergedError",
    "Error", "GradientHistory", "Interrupted", "Lens", "Lesson", "Metrics", "Mistake", "Page",
    "Run", "Sweep", "Table", "Written",
    "gradcheck", "layers", "resume", "sweep", "to_gguf", "to_tensorboard", "tour", "train",
    "validate",
]
