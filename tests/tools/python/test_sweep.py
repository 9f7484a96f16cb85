"""Sweeps: tables, and what interrupts them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import heedgrad as hg
import numpy as np
import pytest
from conftest import ROOT, heed, small, weights_of

VARY: dict[str, list[Any]] = {"model.num_heads": [1, 2], "optimizer.lr": [1e-2, 1e-3]}
BASE = small(train={"steps": 20, "batch_size": 4, "log_every": 10}, eval={"every": 10, "batches": 2}, sample={})


def test_a_table_and_the_bytes_of_heed_train(place: Path) -> None:
    table = hg.sweep(BASE, VARY, [1, 2], jobs=2, out="runs/s", set={"model.dropout": 0.1})
    assert table.columns() == ["model.num_heads", "optimizer.lr", "runs", "val_loss",
                               "val_loss_deviation", "best_val_loss", "best_val_loss_deviation",
                               "loss", "loss_deviation"]
    assert table.column("model.num_heads") == [1, 1, 2, 2] and table.column("runs") == [2] * 4
    for number, each in enumerate(table.each):
        out = f"runs/by-hand-{number}"
        sets = [f"--set={key}={each[key]}" for key in ("model.num_heads", "optimizer.lr", "seed")]
        heed("train", "runs/s/base.yaml", *sets, "--set=model.dropout=0.1", "--out", out)
        by_hand = hg.Run(out)
        run = table.run(**{key: each[key] for key in ("model.num_heads", "optimizer.lr", "seed")})
        assert weights_of(run) == weights_of(by_hand)
        assert run.config == by_hand.config
        assert each["val_loss"] == by_hand.metrics().last("val_loss")
    losses = [each["val_loss"] for each in table.each[:2]]
    assert table[0]["val_loss"] == np.mean(losses)
    assert table[0]["val_loss_deviation"] == np.std(losses, ddof=1)
    with pytest.raises(hg.Error, match="^expected values of one run, got {'seed': 9}, which 0 runs"):
        table.run(seed=9)
    with pytest.raises(hg.Error, match="got {'seed': 1}, which 4 runs have$"):
        table.run(seed=1)
    again = hg.sweep(BASE, VARY, [1, 2], out="runs/s", set={"model.dropout": 0.1}, threads=1)
    assert again == table and again.each == table.each
    more = hg.sweep(BASE, VARY, [1, 2, 3], out="runs/s", set={"model.dropout": 0.1})
    assert more.column("runs") == [3] * 4
    with pytest.raises(hg.Error, match=r"^runs/s/sweep\.json: .* a sweep over another"):
        hg.sweep(BASE, VARY, [1, 2], out="runs/s")


def test_values_that_look_alike_and_long_ones_have_runs_of_their_own(place: Path) -> None:
    paths = ["texts/a.txt", "texts_a.txt", "texts a.txt", "ä.txt", "a\u0308.txt"]
    Path("texts").mkdir()
    for number, path in enumerate(paths):
        Path(path).write_text("abcdefghijklmnopqrst"[:4 * (number + 1)] * 60, encoding="utf-8")
    together = hg.sweep(BASE, {"data.path": paths}, [1], out="runs/s")
    for number, path in enumerate(paths):
        alone = hg.sweep(BASE, {"data.path": [path]}, [1], out=f"runs/{number}")
        assert alone[0]["val_loss"] == together[number]["val_loss"]
        again = hg.sweep(BASE, {"data.path": [path]}, [1], out="runs/s")
        assert again[0]["val_loss"] == alone[0]["val_loss"]
    assert len({row["val_loss"] for row in together}) == len(paths)
    frozen = [[f"trf_blocks.0.att.{name}*" for name in names] * 8
              for names in (("W_query", "W_key"), ("W_query", "W_value"))]
    runs = hg.sweep(BASE, {"train.freeze": frozen}, [1], out="runs/long").each.column("run")
    assert len(set(runs)) == 2


@pytest.mark.parametrize(("how", "text"), [
    ({"vary": {"seed": [5, 6]}, "seeds": [1]}, "sweep: seed would replace seed: "),
    ({"set": {"seed": 5}}, "sweep: seed would replace seed: "),
    ({"seeds": [1, 1]}, "got seed=1 twice"),
    ({"seeds": [1.5]}, "seeds: expected whole numbers, got 1.5"),
    ({"vary": {"optimizer.lr": [0.01, 1e-2]}}, "got optimizer.lr=0.01 twice"),
    ({"vary": {"optimizer.lr": [1, 1.0]}}, "got optimizer.lr=1.0 twice"),
    ({"seeds": [1, 2**32 + 1]}, "got seed=1 twice"),
    ({"seeds": []}, "^seeds: expected a list of one value or more"),
    ({"vary": {"optimizer.lr": 1}}, "^optimizer.lr: expected a list of one value or more, got 1"),
    ({"vary": {"optimizer.lr": [1]}, "set": {"optimizer.lr": 2}}, "optimizer.lr would replace"),
    ({"vary": {"model.num_heads": [1], "model": [{}]}}, "model would replace model.num_heads: "),
])
def test_values_that_are_given_twice(how: dict[str, Any], text: str, place: Path) -> None:
    with pytest.raises(hg.ConfigError, match=text):
        hg.sweep(BASE, out="runs/s", **how)
    assert not Path("runs/s").exists()


def test_one_seed_has_no_deviation(place: Path) -> None:
    hg.train(BASE, "runs/a")
    table = hg.sweep("runs/a.yaml", out="runs/s", set={"eval": {}})
    assert len(table) == 1 and table[0]["runs"] == 1
    assert np.isnan(table[0]["val_loss"]) and np.isnan(table[0]["loss_deviation"])
    assert table[0]["loss"] == hg.train("runs/a.yaml", "runs/b", set={"seed": 123}).metrics().last("loss")


def test_a_wrong_config_is_refused_before_any_run(place: Path) -> None:
    with pytest.raises(hg.ConfigError, match="must divide d_model"):
        hg.sweep(BASE, {"model.num_heads": [1, 3]}, out="runs/s")
    assert not list(Path("runs/s").glob("*/"))


def test_a_run_that_diverges_is_a_row_without_losses(place: Path) -> None:
    table = hg.sweep(small(optimizer={"type": "sgd"}, eval={}), {"optimizer.lr": [0.1, 1e30]}, out="runs/s")
    assert table.column("runs") == [1, 0] and np.isnan(table[1]["loss"])
    assert table.each.column("diverged") == [False, True]


def test_a_run_that_fails_ends_the_sweep(place: Path) -> None:
    Path("runs/s/seed=1").mkdir(parents=True)
    Path("runs/s/seed=1/mine.txt").write_text("", encoding="utf-8")
    with pytest.raises(hg.ConfigError, match="exists and is not empty"):
        hg.sweep(BASE, seeds=[1, 2], out="runs/s")


def test_a_folder_that_is_none_or_has_files_of_others(place: Path) -> None:
    with pytest.raises(hg.ConfigError, match="^out: expected a path, got ''$"):
        hg.sweep(BASE, out="")
    run = hg.train(small(train={"steps": 1, "batch_size": 1}), "runs/a").path
    for folder in (run, run / "checkpoints", run / "new"):
        with pytest.raises(hg.Error, match=rf"^{folder}: expected a folder .* in the run /.*/runs/a$"):
            hg.sweep(BASE, out=folder)
    assert not (run / "sweep.json").exists() and not (run / "new").exists()
    for name, text in {"base.yaml": "mine", "sweep.json": "{"}.items():
        Path(name).mkdir()
        Path(name, name).write_text(text, encoding="utf-8")
        with pytest.raises(hg.Error, match=name):
            hg.sweep(BASE, out=name)
        assert Path(name, name).read_text(encoding="utf-8") == text
    with pytest.raises(hg.Error, match="expected a folder for a sweep"):
        hg.sweep(BASE, out="base.yaml/base.yaml")


def test_a_run_that_was_killed_before_it_wrote_anything_begins_again(place: Path) -> None:
    Path("runs/s/seed=1").mkdir(parents=True)
    Path("runs/s/seed=1/.lock").write_text("", encoding="utf-8")
    assert hg.sweep(BASE, seeds=[1], out="runs/s").column("runs") == [1]


# A sweep of long runs, which is not done when it is interrupted.
_SCRIPT = """
import sys
sys.path[:0] = [{package!r}, {tests!r}]
import heedgrad as hg
from test_sweep import long_sweep
try:
    print(long_sweep())
except hg.Interrupted as stopped:
    print(stopped)
"""


def long_sweep(out: Path = Path("runs/s")) -> hg.Sweep:
    """Four runs of 200 steps each, two at a time."""
    base = small(train={"steps": 200, "batch_size": 4, "log_every": 100}, eval={"every": 100,
                                                                              "batches": 1},
                 sample={}, checkpoint={"every": 20})
    return hg.sweep(base, {"model.num_heads": [1, 2]}, [1, 2], jobs=2, out=out, threads=1)


def stopped_by(how: signal.Signals) -> str:
    """What a process prints that sweeps until a checkpoint is there and it gets the signal."""
    text = _SCRIPT.format(package=str(ROOT / "tools/python"), tests=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as process:
        while not list(Path("runs/s").glob("*/checkpoints/step-*/manifest.json")):
            time.sleep(0.02)
        process.send_signal(how)
        return process.communicate()[0]


def test_a_sweep_that_was_stopped_gives_the_same_table(place: Path) -> None:
    said = stopped_by(signal.SIGINT)
    assert said == "interrupted, all runs have saved; the same call goes on with them\n"
    steps = [hg.Run(path.parent).step for path in Path("runs/s").glob("*/checkpoints")]
    assert len(steps) < 4 or min(steps) < 200
    after_interrupt = long_sweep()
    Path("runs/s").rename("runs/interrupted")
    assert stopped_by(signal.SIGKILL) == ""
    while any(is_locked(path.parent) for path in Path("runs/s").glob("*/config.yaml")):
        time.sleep(0.05)  # what is left of it ends, and saves
    after_kill = long_sweep()
    Path("runs/s").rename("runs/killed")
    whole = long_sweep()
    assert list(after_interrupt) == list(after_kill) == list(whole)


def test_ctrl_c_in_this_process(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr("heedgrad.sweeps.wait", interrupted)
    with pytest.raises(hg.Interrupted, match="^interrupted, all runs have saved; the same call"):
        long_sweep(place / "runs/s")
    for begun in (place / "runs/s").glob("*/checkpoints"):
        assert hg.Run(begun.parent).step < 200


def is_locked(run: Path) -> bool:
    """Whether a process holds the run."""
    import fcntl

    with open(run / ".lock", "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def test_a_run_that_is_stopped_before_it_begins() -> None:
    from heedgrad.sweeps import _Work

    work = _Work({"seed": 1}, Path("nowhere"), [], 1)
    work.stop()
    thread = threading.Thread(target=work.train)
    thread.start()
    thread.join()
    assert not Path("nowhere").exists()


def test_a_bar(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    hg.sweep(BASE, seeds=[1, 2], out="runs/s", progress=True)
    assert "2/2" in capsys.readouterr().err


