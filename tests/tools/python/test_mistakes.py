"""Mistakes are exceptions with heed's own text, which name the file and the line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import heedgrad as hg
import pytest
from conftest import small
from heedgrad import _program

GOOD = """data:
  type: text
  path: my.txt
model:
  type: gpt
  context_length: 16
  d_model: 16
  num_heads: 2
  num_layers: 1
train:
  steps: 2
  batch_size: 4
"""

# What is replaced in the config above by what; the line that is named, and a part of the text.
MISTAKES = [
    ("d_model: 16", "d_modle: 16", 7, "unknown key, did you mean d_model?"),
    ("type: gpt", "type: gtp", 5, "unknown layer gtp, did you mean gpt?"),
    ("num_heads: 2", "num_heads: 3", 8, "must divide d_model"),
    ("num_heads: 2", "num_heads: two", 8, "expected a whole number"),
    ("num_heads: 2", 'num_heads: "2"', 8, "expected a whole number"),
    ("num_layers: 1", "num_layers: -1", 9, "got -1"),
    ("  num_layers: 1\n", "", 5, "missing"),
    ("batch_size: 4", "batch_size: 4\n  batch_size: 5", 13, "twice"),
    ("batch_size: 4", "batch_size: 0x4", 12, "expected"),
    ("steps: 2", "step: 2", 11, "did you mean steps?"),
    ("path: my.txt", "path: your.txt", 3, "your.txt"),
    ("path: my.txt", "path: empty.txt", 3, "empty: expected at least"),
    ("type: text", "type: txet", 2, "did you mean text?"),
    ("type: text", "type: text\n  tokenizer: chars", 3, "did you mean char?"),
    ("type: text", "type: text\n  train_fraction: 1.5", 3, "got 1.5"),
    ("train:", "optimzer: {type: adamw}\ntrain:", 10, "did you mean optimizer?"),
    ("train:", "optimizer: {type: adamw, lr: fast}\ntrain:", 10, "got fast"),
    ("train:", "eval: {every: 0}\ntrain:", 10, "got 0"),
    ("train:", "seed: &a 1\ntrain:", 10, "anchor"),
    ("train:", "train: [", 12, "expected a comma, or the ] for the bracket on line 10"),
    ("model:", "model: {", 6, "expected a comma, or the } for the bracket on line 4"),
]


@pytest.mark.parametrize(("old", "new", "line", "text"), MISTAKES)
def test_a_config_with_a_mistake(old: str, new: str, line: int, text: str, write: Callable[[str, str], Path]) -> None:
    assert old in GOOD
    write("empty.txt", "")
    path = write("c.yaml", GOOD.replace(old, new, 1))
    with pytest.raises(hg.Error) as caught:
        hg.train(path, "runs/a")
    error = caught.value
    assert ("c.yaml", line) in [(Path(m.file).name, m.line) for m in error.mistakes], str(error)
    assert text in str(error) and all(m.column >= 1 for m in error.mistakes)
    said = subprocess.run([_program.program(), "train", path, "--out", "runs/b"],
                          capture_output=True, text=True).stderr.strip()
    assert str(error) == said.removeprefix("heed: ")
    assert not Path("runs/a").exists()


def test_all_mistakes_come_at_once(write: Callable[[str, str], Path]) -> None:
    path = write("c.yaml", GOOD.replace("16", "sixteen").replace("steps", "step"))
    with pytest.raises(hg.ConfigError) as caught:
        hg.validate(path)
    found = [(m.line, m.path) for m in caught.value.mistakes]
    assert found == [(6, "model.context_length"), (7, "model.d_model"), (11, "train.steps"), (11, "train.step")]
    assert [str(m) for m in caught.value.mistakes] == str(caught.value).splitlines()


def test_a_mistake_in_a_dict_names_a_file_that_can_be_opened(place: Path) -> None:
    config = {"data": {"type": "text", "path": "my.txt"}, "model": {"type": "gpt", "d_modle": 8},
              "train": {"steps": 1, "batch_size": 1}}
    for check in (lambda: hg.validate(config), lambda: hg.train(config, "runs/a")):
        with pytest.raises(hg.ConfigError) as caught:
            check()
        [mistake] = [m for m in caught.value.mistakes if m.path == "model.d_modle"]
        lines = Path(mistake.file).read_text(encoding="utf-8").splitlines()
        assert lines[mistake.line - 1][mistake.column - 1:] == "d_modle: 8"


def test_a_mistake_in_a_dict_names_its_key(place: Path) -> None:
    config = {"data": {"type": "text", "path": "none.txt"},
              "model": {"type": "gpt", "context_length": 8, "d_model": 8, "num_layers": 2,
                        "num_heads": 2, "attention": [{}, {"windw": 3}]},
              "train": {"steps": 1, "batch_size": 1, "clip_grad_norm": "none"}}
    for check in (lambda: hg.validate(config), lambda: hg.train(config, "runs/a"),
                  lambda: hg.sweep(config, out="runs/s")):
        with pytest.raises(hg.ConfigError) as caught:
            check()
        lines = str(caught.value).splitlines()
        assert lines[0].startswith('config["data"]["path"]: ')
        assert lines[1].startswith('config["model"]["attention"][1]["windw"]: unknown key')
        assert lines[2].startswith('config["train"]["clip_grad_norm"]: expected ')
        assert lines[2].endswith('got the text "none"; write None, in YAML none')
        assert [m.path for m in caught.value.mistakes][0] == "data.path"


def test_a_key_with_a_dot_is_named_as_it_is(place: Path) -> None:
    with pytest.raises(hg.ConfigError) as caught:
        hg.validate(small(train={"steps": 2, "batch_size": 4, "lora.rank": 2}, **{"train.steps": 3}))
    said = "unknown key with a dot; keys are nested: expected config"
    assert sorted(str(caught.value).splitlines()) == [
        f'config["train"]["lora.rank"]: {said}["train"]["lora"]["rank"]',
        f'config["train.steps"]: {said}["train"]["steps"]']


def test_a_mistake_in_set(write: Callable[[str, str], Path]) -> None:
    path = write("c.yaml", GOOD)
    with pytest.raises(hg.ConfigError) as caught:
        hg.train(path, "runs/a", set={"model.x": 1})
    [mistake] = caught.value.mistakes
    assert (mistake.file, mistake.line, mistake.column) == ("--set model.x=1", 1, 7)


def test_a_mistake_in_a_data_file(write: Callable[[str, str], Path]) -> None:
    write("pairs.tsv", "a\tb\n" * 3 + "no tab here\n" + "c\td\n" * 30)
    path = write("c.yaml", """data: {type: pairs, path: pairs.tsv}
model: {type: encoder_decoder, d_model: 8, num_heads: 2, num_layers: 1}
train: {steps: 1, batch_size: 1}
""")
    with pytest.raises(hg.Error) as caught:
        hg.train(path, "runs/a")
    assert ("pairs.tsv", 4) in [(Path(m.file).name, m.line) for m in caught.value.mistakes], str(caught.value)


def test_a_row_of_metrics_that_is_none(mine: hg.Run) -> None:
    path = mine.path / "metrics.csv"
    text = path.read_text(encoding="utf-8")
    for line, wrong in (("41,1,,,,,x,", r":7: expected numbers between commas, got '41,1,,,,,x,'"),
                        ("41,1", r":7: expected 8 numbers, got 2")):
        path.write_text(f"{text}{line}\n", encoding="utf-8")
        with pytest.raises(hg.Error, match=rf"^runs/mine/metrics\.csv{wrong}$"):
            mine.metrics()
    path.write_text("no columns\n", encoding="utf-8")
    with pytest.raises(hg.Error, match=r"^runs/mine/metrics\.csv:1: expected the names"):
        mine.metrics()
    path.unlink()
    with pytest.raises(hg.Error, match=r"^runs/mine/metrics\.csv: No such file"):
        mine.metrics()


@pytest.mark.parametrize(("ask", "text"), [
    (lambda run: hg.train("nowhere.yaml", "runs/a"), "nowhere.yaml"),
    (lambda run: hg.train("runs/mine.yaml", "runs/mine"), "runs/mine: exists and is not empty"),
    (lambda run: hg.Run("nowhere"), "nowhere: expected a run folder"),
    (lambda run: hg.resume("nowhere"), "nowhere"),
    (lambda run: run.generate("ZEBRA"), "the characters Z E B R A"),
    (lambda run: run.generate("the", top_p=2.0), "--top-p"),
    (lambda run: run.generate(ids=[99]), "expected ids from 0 to 14"),
    (lambda run: run.generate(stop=[True]), "stop: expected a text or a number, got True"),
    (lambda run: run.attribute("the", True), "answer: expected a text or a number, got True"),
    (lambda run: run.gradients(next="e"), "teach needs --prompt"),
    (lambda run: run.attention("the " * 9), "expected at most 16 tokens"),
    (lambda run: run.lens("É"), "not in the vocabulary"),
    (lambda run: run.probe("hearts"), "expected heads, lens"),
    (lambda run: run.probe("heads", zork=1), "unknown option --zork"),
    (lambda run: run.explain("É"), "not in the vocabulary"),
    (lambda run: run.forward(ids=[[1, 99]]), "99"),
    (lambda run: run.forward(x=[[1.0]]), "ids"),
    (lambda run: run.export("runs"), "runs"),
    (lambda run: run.report(out="runs/mine/config.yaml"), "config.yaml"),
    (lambda run: hg.gradcheck("liner"), "did you mean linear?"),
    (lambda run: hg.layers("gtp"), "gpt"),
    (lambda run: hg.tour("nowhere"), "nowhere"),
    (lambda run: hg.validate("nowhere.yaml"), "nowhere.yaml"),
    (lambda run: hg.train(small(), out=""), "out: expected a path, got ''"),
    (lambda run: hg.train(small(), out="."), "out: expected a folder with a name of its own"),
    (lambda run: hg.train(small(), "runs/\ud800"), "out: expected a path, got 'runs/\\ud800'"),
    (lambda run: hg.train(small(), "runs/a", weights=""), "--weights: expected the name"),
    (lambda run: hg.validate(small(sample={"prompt": "\ud800"})), "sample.prompt: expected "),
    (lambda run: run.resume(set=["seed=1"]), "set: expected a dict of keys and values, got ["),
    (lambda run: hg.sweep(small(), set=["a"]), "set: expected a dict of keys"),  # type: ignore[arg-type]
    (lambda run: run.explain("the", out=""), "--out: expected the name"),
    (lambda run: hg.tour("causal", x=[[1], [2, 3]]), "x: expected lists of the same length"),
])
def test_what_is_refused(ask: Callable[[hg.Run], object], text: str, mine: hg.Run) -> None:
    Path("runs/mine.yaml").write_text(GOOD.replace("my.txt", "../my.txt"), encoding="utf-8")
    with pytest.raises(hg.Error) as caught:
        ask(mine)
    assert text in str(caught.value)
