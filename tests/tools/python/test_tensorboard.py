"""TensorBoard's own reader on what is written for it."""

from __future__ import annotations

from pathlib import Path

import heedgrad as hg
import numpy as np
import pytest

pytest.importorskip("tensorboardX")


def test_every_scalar(mine: hg.Run) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    hg.to_tensorboard(mine, "logs")
    events = reader.EventAccumulator("logs", size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    metrics = mine.metrics()
    assert set(events.Tags()["scalars"]) == set(metrics) - {"step"}
    for name in set(metrics) - {"step"}:
        steps, values = metrics.measured(name)
        read = events.Scalars(name)
        assert [event.step for event in read] == steps.tolist()
        assert np.array_equal([event.value for event in read], values.astype(np.float32))
    times = [event.wall_time for event in events.Scalars("loss")]
    assert times == sorted(times)
    texts = events.Tags()["tensors"]
    assert {tag.split("/")[0] for tag in texts} == {"config", "sample"}


def test_events_are_not_mixed(mine: hg.Run) -> None:
    hg.to_tensorboard("runs/mine", "logs")
    with pytest.raises(hg.Error, match="^logs: has events already"):
        hg.to_tensorboard(mine, Path("logs"))


def test_a_run_without_rows(place: Path, mine: hg.Run) -> None:
    header = Path("runs/mine/metrics.csv").read_text(encoding="utf-8").splitlines()[0]
    Path("runs/mine/metrics.csv").write_text(header + "\n", encoding="utf-8")
    assert list(hg.to_tensorboard(mine, "logs").glob("events.*"))
