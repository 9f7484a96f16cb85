"""Training, resuming, and Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import heedgrad as hg
import pytest
from conftest import ROOT, heed, small, weights_of


def test_a_dict_and_its_file_train_the_same_bits(place: Path) -> None:
    run = hg.train(small(), out="runs/a", set={"seed": 3})
    heed("train", "runs/a.yaml", "--set", "seed=3", "--out", "runs/b")
    assert weights_of(run) == weights_of(hg.Run("runs/b"))
    again = hg.train(Path("runs/a.yaml"), out=Path("runs/c"), set={"seed": 3})
    assert weights_of(run) == weights_of(again)
    assert weights_of(run) != weights_of(hg.train("runs/a.yaml", "runs/d"))


def test_rows_are_those_of_the_metrics(place: Path) -> None:
    rows: list[dict[str, Any]] = []
    metrics = hg.train(small(), "runs/a", rows.append).metrics()
    assert [row["step"] for row in rows] == metrics["step"].tolist() == [1, 10, 20, 30, 40]
    for number, row in enumerate(rows):
        assert list(row) == list(metrics)
        for name, value in row.items():
            in_file = metrics[name][number]
            assert in_file != in_file if value is None else in_file == pytest.approx(value, 1e-8)


def test_the_folder_of_a_dict_without_out_is_new(place: Path) -> None:
    config = small(train={"steps": 1, "batch_size": 1}, eval={})
    assert [hg.train(config).path for _ in range(2)] == [Path("runs/run"), Path("runs/run-2")]
    assert Path("runs/run-2.yaml").read_text(encoding="utf-8").startswith(
        "# heed train runs/run-2.yaml\n")


def test_options(place: Path) -> None:
    first = hg.train(small(), "runs/a")
    further = hg.train(small(), "runs/b", weights=first, threads=1, set={"train.steps": 1})
    assert further.metrics()["loss"][0] < first.metrics()["loss"][0]
    learned = hg.train(small(), "runs/c", overfit_batch=True)
    assert "overfit_batch: true" in learned.config
    short = hg.train(small(), "runs/d", max_seconds=0.05, set={"train.steps": 10**6})
    assert 0 < short.step < 10**6


def test_warnings_are_warnings(place: Path) -> None:
    odd = small(train={"steps": 2, "batch_size": 4}, schedule={"type": "constant", "warmup_steps": 50})
    with pytest.warns(hg.ConfigWarning, match="warmup_steps"):
        hg.train(odd, "runs/a")
    with pytest.raises(hg.ConfigError, match="warmup_steps"):
        hg.train(odd, "runs/b", strict=True)


def test_resume(mine: hg.Run) -> None:
    rows: list[dict[str, Any]] = []
    longer = mine.resume(rows.append, {"train.steps": 50}, threads=1)
    assert longer.step == 50 and [row["step"] for row in rows] == [50]
    whole = hg.train(small(), "runs/whole", set={"train.steps": 50})
    assert weights_of(longer) == weights_of(whole)
    with pytest.raises(hg.ConfigError, match="only train.steps"):
        hg.resume(mine, set={"optimizer.lr": 1})


def test_a_callback_that_raises_stops_the_run_which_saves(place: Path) -> None:
    def stop(row: dict[str, Any]) -> None:
        if row["step"] >= 20:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        hg.train(small(), "runs/a", stop, {"train.steps": 10**6})
    stopped = hg.Run("runs/a")
    assert 20 <= stopped.step < 10**6
    steps = stopped.step + 10
    resumed = stopped.resume(set={"train.steps": steps})
    assert weights_of(resumed) == weights_of(hg.train(small(), "runs/b", set={"train.steps": steps}))


def test_a_run_that_diverges(place: Path) -> None:
    with pytest.raises(hg.DivergedError, match="step .* not finite|step .*: ") as caught:
        hg.train(small(optimizer={"type": "sgd", "lr": 1e30}), "runs/a")
    assert caught.value.code == 3


def test_a_bar(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    hg.train(small(), "runs/a", progress=True)
    shown = capsys.readouterr().err
    assert "40/40" in shown and "loss=" in shown and "val_loss=" in shown
    hg.train(small(), "runs/b", progress=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    hg.train(small(), "runs/c", progress=True)
    assert capsys.readouterr().err == ""


def test_a_bar_where_somebody_may_be_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    from heedgrad import progress

    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert type(progress.progress_bar(None)) is progress.Bar

    class Shell:
        kernel = None

    class IPython:
        @staticmethod
        def get_ipython() -> Shell:
            return Shell()

    class Display:
        lines: list[str] = []

        @staticmethod
        def display(line: dict[str, str], raw: bool, display_id: bool) -> type[Display]:
            Display.lines = [line["text/plain"]]
            return Display

        @staticmethod
        def update(line: dict[str, str], raw: bool) -> None:
            Display.lines[-1] = line["text/plain"]

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    monkeypatch.setitem(sys.modules, "IPython.display", Display)
    bar = progress.progress_bar(None)
    bar.begin(0, 40)
    bar.show({"step": 20, "loss": 1.25, "val_loss": None})
    bar.show({"step": 40, "loss": 1, "val_loss": 2.5})
    assert Display.lines == ["step 40 of 40, loss 1.0000, val_loss 2.5000"]


# A script that trains until it is interrupted; it says when a row has come.
_SCRIPT = """
import sys
sys.path[:0] = [{package!r}, {tests!r}]
import heedgrad as hg
from conftest import small
def row(r):
    print("row", r["step"], flush=True)
try:
    hg.train(small({slow}), out="runs/a", on_row=row, set={{"train.steps": 10**6}})
except hg.Interrupted as stopped:
    print(stopped.run.path, str(stopped), flush=True)
"""


def script(slow: str = "") -> str:
    """The script, with sections of the config that make it slow."""
    return _SCRIPT.format(package=str(ROOT / "tools/python"), tests=str(Path(__file__).parent), slow=slow)


def interrupted(text: str, times: int) -> list[str]:
    """The lines that the script prints; after the third, Ctrl-C comes so many times, as from a
    terminal."""
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.2)
        lines += process.stdout.readlines()
    return [line.strip() for line in lines]


def test_ctrl_c_saves_and_the_run_goes_on_with_the_same_bits(place: Path) -> None:
    lines = interrupted(script(), times=1)
    assert lines[0] == "row 1" and lines[-1] == ("runs/a interrupted, saved; go on with heedgrad.resume('runs/a')")
    steps = hg.Run("runs/a").step + 7
    resumed = hg.resume("runs/a", set={"train.steps": steps})
    assert resumed.step == steps
    assert weights_of(resumed) == weights_of(hg.train(small(), "runs/b", set={"train.steps": steps}))


def test_ctrl_c_twice_ends_at_once(place: Path) -> None:
    # An evaluation of minutes, during which the first Ctrl-C waits for the end of a step.
    slow = "train={'steps': 1, 'batch_size': 4, 'accumulate': 20000, 'log_every': 1}"
    begin = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", script(slow)], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        while not Path("runs/a/log.txt").exists():
            time.sleep(0.05)
        time.sleep(0.3)
        for _ in range(2):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.3)
        assert process.stdout is not None
        text = process.stdout.read()
    assert "interrupted, at once, without saving" in text
    assert time.monotonic() - begin < 25


def test_python_that_is_killed_ends_its_run_which_saves(place: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", script()], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "row 10\n":
            pass
        process.kill()
    end = time.monotonic() + 20
    saved = Path("runs/a/checkpoints")
    while time.monotonic() < end and not list(saved.glob("step-*/manifest.json")):
        time.sleep(0.05)
    assert hg.Run("runs/a").step >= 10


def test_interrupted_before_it_has_begun(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heedgrad.training import Training

    def follow(self: Training, on_event: Callable[[Any], object]) -> None:
        self._process.kill()
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Training, "follow", follow)
    here = Path.cwd()
    with pytest.raises(hg.Interrupted, match="^interrupted before training had begun$") as caught:
        hg.train(small(), place / "runs/a")
    assert caught.value.run is None
    os.chdir(here)
    shutil.rmtree(place / "runs", ignore_errors=True)
