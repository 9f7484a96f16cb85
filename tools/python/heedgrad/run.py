"""A run: what a trained model is asked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ._program import Argument, array_of, file_text, json_of, options, text_of
from .attention import Attention, AttentionMap, maps_of, stacked
from .errors import ConfigError, Error
from .gradients import (Attribution, GradientHistory, Lesson, attribution_of, lesson_of,
                        read_gradients)
from .lens import Lens
from .metrics import Metrics, read_metrics
from .page import Page, Place
from .table import Table

Array = NDArray[Any]


class Written(str):
    """A text that a model wrote, with its prompt. ``seed`` is that of the choices.

    ``tokens``: for each token that was added a dict with ``id``, ``token``, its ``probability``,
    with what probability it was ``drawn_with`` after temperature, top_k and so on, and the five
    ``likeliest``.
    """

    seed: int
    tokens: list[dict[str, Any]]


class Run(Place):
    """A folder that ``heed train`` has written, or is writing.

    ``path``: the folder, or one of its ``checkpoints/step-*``. All methods read the newest good
    checkpoint, as the commands of the same names do. Raises Error if there is no run.

    >>> import heedgrad as hg
    >>> run = hg.Run("runs/mine")
    >>> run.step
    40
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        if not (self.path / "config.yaml").exists():
            raise Error(f"{self.path}: expected a run folder: it has no config.yaml")

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Run({os.fspath(self.path)!r})"

    # ---- What training left

    @property
    def config(self) -> str:
        """config.yaml: every value, those that were not given included."""
        return file_text(self.path / "config.yaml")

    @property
    def checkpoint(self) -> Path:
        """The folder of the newest good checkpoint, or ``path`` if that is one, which is taken as it
        is. Raises Error if there is none yet."""
        if (self.path / "model.safetensors").exists():
            return self.path
        return self.path / "checkpoints" / f"step-{self.step:06}"

    @property
    def step(self) -> int:
        """How many steps ``checkpoint`` has made."""
        return int(json_of("eval", self, "--fingerprint")["step"])

    def metrics(self) -> Metrics:
        """metrics.csv, which has a row for each step that was logged: a dict of arrays (rows).

        >>> import heedgrad as hg
        >>> metrics = hg.Run("runs/mine").metrics()
        >>> metrics["step"]
        array([ 1, 10, 20, 30, 40])
        >>> bool(metrics["loss"][-1] < metrics["loss"][0])
        True
        """
        return read_metrics(self.path / "metrics.csv")

    def samples(self) -> str:
        """samples.txt: what the model wrote during training; "" without samples."""
        path = self.path / "samples.txt"
        is_imported = path.with_name("metrics.csv").exists() and not path.exists()
        return "" if is_imported else file_text(path)

    def weights(self) -> dict[str, Array]:
        """The parameters of ``checkpoint``, under their paths; with train.ema, the last
        ones, not their mean.

        >>> import heedgrad as hg
        >>> hg.Run("runs/mine").weights()["tok_emb.weight"].shape
        (15, 16)
        """
        path = self.checkpoint / "model.safetensors"
        try:
            return load_file(path)
        except (OSError, SafetensorError) as error:
            raise Error(f"{path}: {error}") from None

    def resume(self, on_row: Callable[[dict[str, Any]], object] | None = None,
               set: Mapping[str, Any] | None = None, **how: Any) -> Run:
        """Goes on training: see ``heedgrad.resume``."""
        from .training import resume

        return resume(self, on_row, set, **how)

    # ---- What the model does

    def eval(self) -> dict[str, Any]:
        """Loss (nats) and accuracy over the whole validation set: ``heed eval --json``."""
        return cast(dict[str, Any], json_of("eval", self))

    @overload
    def generate(self, prompt: str | None = ..., tokens: int = ..., *,
                 ids: Sequence[int] | None = ..., temperature: float | None = ...,
                 top_k: int | None = ..., top_p: float | None = ..., min_p: float | None = ...,
                 repetition_penalty: float | None = ..., stop: Sequence[str] = ...,
                 seed: int | None = ..., threads: int | None = ...) -> Written: ...
    @overload
    def generate(self, prompt: str | None = ..., tokens: int = ..., *, samples: int,
                 ids: Sequence[int] | None = ..., temperature: float | None = ...,
                 top_k: int | None = ..., top_p: float | None = ..., min_p: float | None = ...,
                 repetition_penalty: float | None = ..., stop: Sequence[str] = ...,
                 seed: int | None = ..., threads: int | None = ...) -> list[Written]: ...

    def generate(self, prompt: str | None = None, tokens: int = 200, *, samples: int | None = None,
                 ids: Sequence[int] | None = None, temperature: float | None = None,
                 top_k: int | None = None, top_p: float | None = None, min_p: float | None = None,
                 repetition_penalty: float | None = None, stop: Sequence[str] = (),
                 seed: int | None = None, threads: int | None = None) -> Written | list[Written]:
        """What the model writes: the prompt and so many tokens, or its answer.

        Without a prompt it is the config's. ``ids`` are a prompt for a model without a tokenizer;
        the text is then ids with commas. ``samples``: as many texts, as a list. The rest is as in
        ``heed generate --help``: temperature 0.8, seed 123, all tokens.

        >>> import heedgrad as hg
        >>> text = hg.Run("runs/mine").generate("the", tokens=5, temperature=0)
        >>> len(text), len(text.tokens)
        (8, 5)
        """
        stops = sum((options(stop=one) for one in ([stop] if isinstance(stop, str) else stop)), [])
        answer = json_of("generate", self, *stops, *options(
            prompt=prompt, ids=ids, tokens=tokens, samples=samples, temperature=temperature,
            top_k=top_k, top_p=top_p, min_p=min_p, repetition_penalty=repetition_penalty,
            seed=seed, threads=threads))
        texts = []
        for sample in answer["samples"]:
            text = Written(sample["text"])
            text.seed, text.tokens = sample["seed"], sample["tokens"]
            texts.append(text)
        return texts[0] if samples is None else texts

    def forward(self, *, ids: ArrayLike | None = None, x: ArrayLike | None = None,
                backward: bool = False, **tensors: ArrayLike) -> Any:
        """The model's output on arrays: ``heed forward``, without dropout.

        ``ids``: int (T) or (B, T), for models of tokens; returns logits (T, vocabulary) or
        (B, T, vocabulary). ``x``: float (T, d) or (B, T, d). ``tensors``: what else the model
        takes: ``source_ids``, ``context``, ``mask`` (True, or 1: may be looked at), ``dy``.
        With ``backward`` the result is a dict: the output ``y``, and ``grad.NAME`` of each
        parameter for the cotangent ``dy`` (ones by default).

        >>> import heedgrad as hg
        >>> hg.Run("runs/mine").forward(ids=[3, 1, 4]).shape
        (3, 15)
        """
        given = {name: array_of(value, f"forward: {name}") for name, value in
                 {"ids": ids, "x": x, **tensors}.items() if value is not None}
        if not given:
            raise Error("forward: expected ids= or x=")
        whole = {"ids", "source_ids"}
        one = all(array.ndim == 1 for name, array in given.items() if name in whole) and any(
            name in whole for name in given)
        with tempfile.TemporaryDirectory(prefix="heedgrad-") as folder:
            file, result = Path(folder) / "in.safetensors", Path(folder) / "out.safetensors"
            save_file({name: _tensor(name, array, one) for name, array in given.items()}, file)
            text_of("forward", self, f"--in={file}", f"--out={result}", *options(backward=backward))
            made = load_file(result)
        made["y"] = made["y"][0] if one else made["y"]
        return made if backward else made["y"]

    # ---- What its attention does

    def attention(self, prompt: str | None = None, *, ids: Sequence[int] | None = None) -> Attention:
        """What each head attends to: float32 (layers, heads, T, T), rows sum to 1.

        The prompt has T tokens. Without one it is the config's, or an example of the data. The
        array draws itself in a notebook. Raises Error if the layers do not fit one array.

        >>> import heedgrad as hg
        >>> attention = hg.Run("runs/mine").attention("the cat")
        >>> attention.shape, attention.tokens[:4]
        ((2, 2, 7, 7), ['t', 'h', 'e', '␣'])
        >>> bool(abs(attention[1, 0].sum(axis=1) - 1).max() < 1e-6)
        True
        """
        arguments = self._attention_arguments(prompt, ids)
        return stacked(maps_of(json_of(*arguments)), arguments)

    def attention_maps(self, prompt: str | None = None, *, ids: Sequence[int] | None = None) -> list[AttentionMap]:
        """The attention of each layer by itself: also for models whose layers differ in shape."""
        return maps_of(json_of(*self._attention_arguments(prompt, ids)))

    def _attention_arguments(self, prompt: str | None, ids: Sequence[int] | None) -> list[Argument]:
        return ["inspect", self, "--attention", "--all", *options(prompt=prompt, ids=ids)]

    def heads(self, *, sequences: int | None = None, repeat: int | None = None,
              seed: int | None = None, examples: int | None = None) -> Table:
        """What each head attends to on random tokens that come twice: a row for each head.

        Columns are means of its attention weights: to the previous token, to the same token before
        (``duplicate_token``), to what followed it there (``induction``), to the first token; and
        its entropy in nats.

        >>> import heedgrad as hg
        >>> hg.Run("runs/mine").heads().columns()[1:5]
        ['block', 'head', 'previous_token', 'duplicate_token']
        """
        answer = self.probe("heads", sequences=sequences, repeat=repeat, seed=seed, examples=examples)
        return Table(answer["heads"])

    def lens(self, prompt: str | None = None, *, ids: Sequence[int] | None = None) -> Lens:
        """What the model would answer after each block (logit lens).

        >>> import heedgrad as hg
        >>> lens = hg.Run("runs/mine").lens("the cat")
        >>> lens.probability.shape       # (blocks + 1, T): before the first block, after each
        (3, 7)
        """
        return Lens.of(self.probe("lens", prompt=prompt, ids=ids))

    def probe(self, what: str, /, **values: Any) -> dict[str, Any]:
        """``heed probe RUN heads|lens|ablate|patch|write|attribute|teach|reach`` with its options,
        as it prints with ``--json``.

        >>> import heedgrad as hg
        >>> sorted(hg.Run("runs/mine").probe("ablate", batches=1))
        ['accuracy', 'loss', 'parts']
        """
        return cast(dict[str, Any], json_of("probe", self, what, *options(**values)))

    # ---- What gradients say

    @overload
    def gradients(self) -> GradientHistory: ...
    @overload
    def gradients(self, prompt: str | None = ..., next: str | int | None = ..., *,
                  ids: Sequence[int] | None = ...) -> dict[str, Array]: ...

    def gradients(self, prompt: str | None = None, next: str | int | None = None, *,
                  ids: Sequence[int] | None = None) -> GradientHistory | dict[str, Array]:
        """The gradient of the loss, by parameter.

        The loss is the cross-entropy of ``next`` after the prompt: a token or a class, as the
        answer of ``attribute``. Without both: the norms over the run, from gradients.csv.

        >>> import heedgrad as hg
        >>> gradients = hg.Run("runs/mine").gradients("the ca", "t")
        >>> gradients["tok_emb.weight"].shape
        (15, 16)
        """
        if prompt is None and ids is None and next is None:
            return read_gradients(self.path / "gradients.csv")
        with tempfile.TemporaryDirectory(prefix="heedgrad-") as folder:
            path = Path(folder) / "gradients.safetensors"
            self.probe("teach", prompt=prompt, ids=ids, answer=next, gradients=path)
            return load_file(path)

    def attribute(self, prompt: str | None = None, answer: str | int | None = None,
                  wrong: str | int | None = None, *, ids: Sequence[int] | None = None
                  ) -> Attribution:
        """Gradient times activation: what each token and part does to the logit of an answer.

        With ``wrong``, to its difference to the logit of that one. Each is the text of a token or
        the name of a class, 5 the same as "5"; an id only for a model without a tokenizer.

        >>> import heedgrad as hg
        >>> found = hg.Run("runs/mine").attribute("the ca", "t")
        >>> found.values.shape, found.parts.columns()
        ((6,), ['part', 'layer', 'block', 'head', 'value'])
        """
        return attribution_of(self.probe("attribute", prompt=prompt, ids=ids, answer=answer, wrong=wrong))

    def teach(self, prompt: str | None = None, answer: str | int | None = None, *,
              ids: Sequence[int] | None = None, lr: float | None = None,
              check: str | os.PathLike[str] | None = None) -> Lesson:
        """What one step of SGD on this example would change; the run stays as it is.

        ``lr``: 0.01 by default. ``check``: a file of other texts, one a line; by default the others
        are ten validation examples.

        >>> import heedgrad as hg
        >>> lesson = hg.Run("runs/mine").teach("the ca", "t")
        >>> lesson.loss_after < lesson.loss_before
        True
        """
        return lesson_of(self.probe("teach", prompt=prompt, ids=ids, answer=answer, lr=lr, check=check))

    def reach(self, prompt: str | None = None, answer: str | int | None = None, *,
              ids: Sequence[int] | None = None, examples: int | None = None) -> Array:
        """How far back gradients reach: float64, by the distance from the last token, 0 first.

        Each number is the norm of d loss / d embedding of the token there. Without a prompt, the
        mean over validation examples.

        >>> import heedgrad as hg
        >>> hg.Run("runs/mine").reach().shape
        (16,)
        """
        found = self.probe("reach", prompt=prompt, ids=ids, answer=answer, examples=examples)
        return np.array(found["gradient_norm"], np.float64)

    # ---- Pages, and models for other programs

    def explain(self, prompt: str | None = None, *, ids: Sequence[int] | None = None,
                learn: str | int | None = None,
                out: str | os.PathLike[str] | None = None) -> Page:
        """One prediction as a page, every number with what it was computed from.

        ``learn``: the token or class that should come next; the page is that of one training
        example, forwards and backwards. ``out``: the page, by default ``explain.html`` in a
        temporary folder.
        """
        path = Path(tempfile.mkdtemp(prefix="heedgrad-"), "explain.html") if out is None else out
        text_of("explain", self, *options(prompt=prompt, ids=ids, learn=learn, out=path))
        return Page(path, height=760)

    def report(self, out: str | os.PathLike[str] | None = None) -> Page:
        """Curves, samples, and how attention formed, as a page: ``report.html`` in the run."""
        text_of("report", self, *options(out=out))
        return Page(self.path / "report.html" if out is None else out, height=760)

    def export(self, folder: str | os.PathLike[str], *, dtype: str | None = None,
               merge: bool = False, adapter: bool = False) -> Path:
        """Writes the model for Hugging Face's transformers into a new folder: ``heed export``.

        Raises ConfigError for a model that transformers does not have, by the field's name.
        """
        json_of("export", self, folder, *options(dtype=dtype, merge=merge, adapter=adapter))
        return Path(folder)


def _tensor(name: str, array: Array, one: bool) -> Array:
    """As heed forward reads it: ids int64 with a batch axis, masks bool, the rest float32."""
    if name in ("ids", "source_ids"):
        if not np.issubdtype(array.dtype, np.integer):
            raise Error(f"forward: expected {name} of whole numbers, got {array.dtype}")
        return np.ascontiguousarray((array[None] if one else array).astype(np.int64))
    if name.endswith("mask"):
        others = array[(array != 0) & (array != 1)]
        if others.size:
            raise ConfigError(f"forward: {name}: expected bools, or 1 and 0, where True or 1 means "
                              f"'may be looked at', got {others[0]}")
        return np.ascontiguousarray(array.astype(np.bool_))
    kept = array.dtype if array.dtype == np.float64 else np.dtype(np.float32)
    return np.ascontiguousarray((array[None] if one and name == "dy" else array).astype(kept))
