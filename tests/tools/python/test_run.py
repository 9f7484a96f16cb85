"""Every method of a run against the command's own output."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import heedgrad as hg
import numpy as np
import pytest
from conftest import heed, small
from safetensors.numpy import load_file, save_file


def test_metrics_are_those_of_the_file(mine: hg.Run) -> None:
    metrics = mine.metrics()
    lines = Path("runs/mine/metrics.csv").read_text(encoding="utf-8").splitlines()
    assert list(metrics) == lines[0].split(",")
    for number, line in enumerate(lines[1:]):
        for name, word in zip(metrics, line.split(",")):
            value = metrics[name][number]
            assert np.isnan(value) if word == "" else value == float(word), name
    assert metrics["step"].dtype == metrics["tokens"].dtype == np.int64
    steps, losses = metrics.measured("val_loss")
    assert steps.tolist() == [20, 40] and metrics.last("val_loss") == losses[-1]
    assert np.isnan(hg.Metrics(step=np.array([1]), loss=np.array([np.nan])).last("loss"))
    assert repr(metrics).startswith("Metrics(5 rows of step, loss, ")


def test_curves_of_the_metrics(mine: hg.Run) -> None:
    metrics = mine.metrics()
    picture = metrics._repr_svg_()
    assert picture == metrics.svg("loss", "val_loss") and picture.count("<polyline") == 2
    [points] = re.findall(r'points="([^"]*)" .*?>val_loss<', metrics.svg("val_loss"))
    xs, ys = zip(*(map(float, point.split(",")) for point in points.split()))
    assert len(xs) == 2 and xs[0] < xs[1] and ys[0] < ys[1]  # a loss that falls goes down
    nothing = hg.Metrics(step=np.array([1]), loss=np.array([np.nan]))
    assert nothing.svg("loss") == "<p>no numbers yet</p>"
    with pytest.raises(KeyError):
        metrics.svg("lost")


def test_metrics_as_pandas(mine: hg.Run) -> None:
    pytest.importorskip("pandas")
    frame = mine.metrics().to_pandas()
    assert frame.shape == (5, 8) and frame["step"].tolist() == [1, 10, 20, 30, 40]


def test_a_last_line_that_is_being_written_is_left_out(mine: hg.Run) -> None:
    with open("runs/mine/metrics.csv", "a", encoding="utf-8") as file:
        file.write("41,2.1")
    assert mine.metrics()["step"].tolist() == [1, 10, 20, 30, 40]


def test_what_training_left(mine: hg.Run) -> None:
    assert os.fspath(mine) == "runs/mine" and mine.step == 40
    assert mine.config.startswith("seed: 1\n")
    assert mine.samples() == Path("runs/mine/samples.txt").read_text(encoding="utf-8")
    weights = mine.weights()
    stored = load_file(mine.checkpoint / "model.safetensors")
    assert set(weights) == set(stored)
    assert all(np.array_equal(weights[name], stored[name]) for name in stored)
    checkpoint = hg.Run(mine.checkpoint)
    assert checkpoint.checkpoint == mine.checkpoint and checkpoint.step == 40
    mine.path.rename("gone")
    for ask in (hg.Run("gone/checkpoints/step-000040").samples, mine.samples, lambda: mine.config):
        with pytest.raises(hg.Error, match="(samples.txt|config.yaml): No such file or directory$"):
            ask()


def test_eval(mine: hg.Run) -> None:
    assert mine.eval() == json.loads(heed("eval", "runs/mine", "--json"))


def test_generate(mine: hg.Run) -> None:
    text = mine.generate("the", tokens=20, seed=4, top_k=3)
    assert text + "\n" == heed("generate", "runs/mine", "--prompt", "the", "--tokens", 20, "--seed", 4, "--top-k", 3)
    assert text.seed == 4 and len(text.tokens) == 20
    assert "".join(token["token"] for token in text.tokens).replace("␣", " ").replace("\\n", "\n") == text[3:]
    three = mine.generate("the", tokens=5, samples=3, temperature=1.5, top_p=0.9, min_p=0.01, repetition_penalty=1.2)
    assert [each.seed for each in three] == [123, 124, 125]
    assert mine.generate("the", tokens=5, samples=1) == [mine.generate("the", tokens=5)]
    assert mine.generate(tokens=3, temperature=0).startswith("the")  # the config's prompt
    whole = mine.generate("the", tokens=40, temperature=0)
    assert whole.count(" ") > 1
    assert mine.generate("the", tokens=40, temperature=0, stop=" ") == whole[:whole.index(" ")]
    assert mine.generate(ids=[3, 5], tokens=2, temperature=0).startswith("3,5,")


def test_texts_that_look_like_options_and_empty_ones(mine: hg.Run, place: Path) -> None:
    ran = {"data": {"type": "text", "path": "my.txt", "tokenizer": "byte"}, "eval": {}}
    run = hg.train({**small(), **ran}, out="runs/bytes")
    for prompt in ("--json", "-", "--tokens=3", "--prompt=", "--", "a=", "[a,b]"):
        assert run.generate(prompt, tokens=5).startswith(prompt)
    with pytest.raises(hg.ConfigError, match="--prompt: expected at least one token, got none"):
        run.generate("", tokens=5)
    with pytest.raises(hg.ConfigError, match="expected"):
        run.attention("")


def test_a_run_is_found_from_another_folder(mine: hg.Run, monkeypatch: pytest.MonkeyPatch,
                                            tmp_path_factory: pytest.TempPathFactory) -> None:
    attention, page, text = mine.attention("the"), mine.explain("the", out="p.html"), mine.generate()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert mine.step == 40 and mine.generate() == text and mine.weights()
    assert attention.svg() and page.html and hg.resume(mine).step == 40


def test_the_step_of_a_copied_checkpoint(mine: hg.Run) -> None:
    copy = shutil.copytree(mine.checkpoint, "best")
    assert hg.Run(copy).step == 40
    Path("best/manifest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(hg.Error, match="best/manifest.json: damaged"):
        print(hg.Run(copy).step)


def test_ids_are_not_cut(mine: hg.Run) -> None:
    for ids in ([1.5], [2.0], ["3"], [True]):
        with pytest.raises(hg.ConfigError, match="^ids: expected whole numbers, got "):
            mine.generate(ids=ids)  # type: ignore[arg-type]
    assert mine.generate(ids=np.array([3, 5]), tokens=1)  # type: ignore[call-overload]
    for prompt in (b"the", ["the"], True, False):  # their repr is no prompt
        with pytest.raises(hg.ConfigError, match="^prompt: expected a text or a number, got "):
            mine.generate(prompt)  # type: ignore[call-overload]


def test_forward(mine: hg.Run) -> None:
    ids = np.array([[1, 2, 3, 4], [4, 3, 2, 1]])
    save_file({"ids": ids.astype(np.int64)}, "in.safetensors")
    heed("forward", "runs/mine", "--in", "in.safetensors", "--out", "out.safetensors", "--backward")
    made = load_file("out.safetensors")
    assert np.array_equal(mine.forward(ids=ids), made["y"]) and made["y"].shape == (2, 4, 15)
    assert np.allclose(mine.forward(ids=[1, 2, 3, 4]), made["y"][0], atol=1e-6)
    gradients = mine.forward(ids=ids, backward=True)
    assert set(gradients) == set(made)
    assert all(np.array_equal(gradients[name], made[name]) for name in made)
    ones = mine.forward(ids=ids[0], backward=True, dy=np.ones((4, 15)))
    assert ones["y"].shape == (4, 15)
    assert np.array_equal(ones["grad.out_head.weight"], mine.forward(ids=ids[0], backward=True)["grad.out_head.weight"])


def test_forward_of_a_lora_run_is_that_of_the_merged_model(mine: hg.Run) -> None:
    lora = hg.train("runs/mine.yaml", "runs/lora", weights=mine, set={"train.lora": {"rank": 2}, "train.steps": 5})
    heed("import", lora.export("merged", merge=True), "--out", "runs/merged")
    ids, merged = [1, 2, 3, 4], hg.Run("runs/merged")
    assert np.array_equal(lora.forward(ids=ids), merged.forward(ids=ids)) and merged.samples() == ""
    assert not np.array_equal(lora.forward(ids=ids), mine.forward(ids=ids))


def test_forward_of_a_model_of_two_sequences(place: Path) -> None:
    run = hg.train({"data": {"type": "copy", "length": 4},
                    "model": {"type": "encoder_decoder", "d_model": 8, "num_heads": 2,
                              "num_layers": 1},
                    "train": {"steps": 2, "batch_size": 4}}, out="runs/copy")
    one = run.forward(ids=[1, 2], source_ids=[1, 2, 3])
    both = run.forward(ids=[[1, 2]], source_ids=[[1, 2, 3]], source_mask=np.ones((1, 3), dtype=int))
    assert one.shape == both.shape[1:] and np.array_equal(one, both[0])
    with pytest.raises(hg.Error, match=r"do not fit one array .* run.attention_maps\(\)"):
        run.attention()
    assert any(each.cross for each in run.attention_maps())


def test_forward_of_vectors(place: Path) -> None:
    x = np.random.default_rng(0).normal(size=(8, 3, 4)).astype(np.float32)
    save_file({"x": x, "y": x[..., :2].copy()}, "xy.safetensors")
    run = hg.train({"data": {"type": "vectors", "path": "xy.safetensors"},
                    "model": {"type": "linear", "d_in": 4, "d_out": 2},
                    "train": {"steps": 2, "batch_size": 4}}, out="runs/vectors")
    weights = run.weights()
    assert np.allclose(run.forward(x=x[0]), x[0] @ weights["weight"].T + weights["bias"], atol=1e-6)
    assert run.forward(x=x.astype(np.float64)).shape == (8, 3, 2)


def test_attention(mine: hg.Run) -> None:
    attention = mine.attention("the cat")
    answer = json.loads(heed("inspect", "runs/mine", "--attention", "--json", "--prompt", "the cat"))
    assert attention.shape == (2, 2, 7, 7) and attention.dtype == np.float32
    for i, layer in enumerate(answer["layers"]):
        assert np.array_equal(attention[i], np.array(layer["weights"], np.float32))
        assert attention.layers[i] == layer["layer"] and attention.tokens == layer["queries"]
    assert np.array_equal(attention, mine.attention(ids=[13, 8, 5, 1, 3, 2, 13]))
    heed("inspect", "runs/mine", "--attention", "--all", "--prompt", "the cat", "--out", "map.svg")
    assert attention.svg() == Path("map.svg").read_text(encoding="utf-8")
    shown = attention._repr_svg_()
    assert shown is not None and re.findall("head [01]|layer [01]", shown) == [
        "layer 0", "head 0", "head 1", "layer 1", "head 0", "head 1"]
    for made in (attention[0], attention[::-1], attention[:, [1, 0]], attention * 1, attention > 0.1,
                 attention.transpose(0, 1, 3, 2), attention.copy(), np.zeros_like(attention)):
        assert isinstance(made, hg.Attention) and made._repr_svg_() is None
        with pytest.raises(hg.Error, match="of the whole array"):
            made.svg()
        assert not hasattr(made, "tokens")
    [first, second] = mine.attention_maps("the cat")
    assert np.array_equal(second.weights, attention[1])
    assert first.keys == first.queries and not first.cross
    other = mine.attention("the cat")
    other[0] = 0
    assert mine.resume(set={"train.steps": 50}).attention("the cat").svg() != shown
    for changed in (other, attention):
        with pytest.raises(hg.Error, match="^the run or the array has changed since"):
            changed.svg()


def test_probes(mine: hg.Run) -> None:
    heads = mine.heads(sequences=2)
    answer = json.loads(heed("probe", "runs/mine", "heads", "--sequences", 2, "--json"))
    assert heads == answer["heads"]
    lens = mine.lens("the cat")
    answer = json.loads(heed("probe", "runs/mine", "lens", "--prompt", "the cat", "--json"))
    assert lens.tokens == answer["tokens"] and lens.ids.shape == (3, 7)
    for row, cells in enumerate(answer["blocks"]):
        for column, cell in enumerate(cells):
            assert lens.ids[row, column] == cell["id"]
            assert lens.answers[row][column] == cell["token"]
            assert lens.probability[row, column] == cell["probability"]
            assert lens.rank[row, column] == cell.get("rank", 0)
    assert repr(lens).splitlines()[1].startswith("embedding  ")
    assert lens._repr_html_().count("<td") == 21
    for what, options in (("ablate", {"batches": 1, "what": "mean"}), ("write", {"prompt": "the", "answer": " "})):
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        assert mine.probe(what, **options) == json.loads(heed("probe", "runs/mine", what, "--json", *words))


def test_gradients(mine: hg.Run) -> None:
    found = mine.attribute("the ca", "t", wrong="e")
    answer = json.loads(heed("probe", "runs/mine", "attribute", "--prompt", "the ca", "--answer",
                             "t", "--wrong", "e", "--json"))
    assert found.logit == answer["logit"] and found.parts == answer["parts"]
    assert list(found.values) == [one["value"] for one in answer["tokens"]]
    assert found.tokens[:2] == ["t", "h"] and len(found.source) == 0
    lesson = mine.teach("the ca", "t", lr=0.01)
    assert lesson.before < lesson.after and lesson.loss_after < lesson.loss_before
    assert len(lesson.others) == 10
    gradients = mine.gradients("the ca", "t")
    assert list(gradients) == list(mine.weights()) or set(gradients) == set(mine.weights())
    for row in lesson.parameters:
        norm = float(np.linalg.norm(gradients[row["name"]].astype(np.float64)))
        assert abs(norm - row["grad_norm"]) <= 1e-6 * row["grad_norm"]
        assert abs(0.01 * row["grad_norm"] - row["update_norm"]) < 1e-12
    Path("check.txt").write_text("the dog\nthe ca\tt\n", encoding="utf-8")
    others = mine.teach("the ca", "t", check="check.txt").others
    assert others.column("text") == ["the dog", "the ca\tt"]
    reach = mine.reach("the ca", "t")
    assert reach.shape == (6,) and reach[0] > 0
    assert mine.reach(examples=2).shape == (16,)
    with pytest.raises(hg.Error, match="gradients: true"):
        mine.gradients()


def test_gradients_over_a_run(place: Path) -> None:
    rows: list[object] = []
    run = hg.train(small(eval={"every": 20, "batches": 2, "gradients": True}), out="runs/norms", on_row=rows.append)
    found = run.gradients()
    assert found.steps.tolist() == [20, 40] and set(found.parameters) == set(run.weights())
    assert found.grad_norm.shape == (2, len(found.parameters)) and (found.update_norm > 0).all()
    metrics = run.metrics()
    norms = metrics["grad_norm"][np.isin(metrics["step"], found.steps)]
    assert np.allclose(np.sqrt((found.grad_norm ** 2).sum(axis=1)), norms, rtol=1e-5)
    assert len(rows) == len(metrics["step"])  # events of gradients are no rows
    with open(run.path / "gradients.csv", "a", encoding="utf-8") as file:
        file.write("41,x\n")
    with pytest.raises(hg.Error, match="expected a row of numbers|expected the same parameters"):
        run.gradients()
    Path(run, "gradients.csv").write_bytes(b"step\n\xff\xfe\n")
    with pytest.raises(hg.Error, match="gradients.csv:2: expected a row of numbers"):
        run.gradients()


def test_pages(mine: hg.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    page = mine.explain("the", out="page.html")
    heed("explain", "runs/mine", "--prompt", "the", "--out", "other.html")
    assert page.html == Path("other.html").read_text(encoding="utf-8")
    assert mine.explain("the").html == page.html
    assert '"learn":{"row":2,' in mine.explain("the", learn=" ", out="learn.html").html
    assert page._repr_html_().startswith("<iframe ") and repr(page) == "Page('page.html')"
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    page.open()
    assert opened == [Path("page.html").resolve().as_uri()]
    assert mine.report().path == Path("runs/mine/report.html")
    assert mine.report(out="report.html").html.startswith("<!")


def test_export(mine: hg.Run) -> None:
    folder = mine.export("model", dtype="bfloat16")
    heed("export", "runs/mine", "other", "--dtype", "bfloat16")
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        assert (folder / name).read_bytes() == (Path("other") / name).read_bytes()


def test_tables(mine: hg.Run) -> None:
    heads = mine.heads()
    assert heads.column("head") == [0, 1, 0, 1]
    assert heads._repr_html_().count("<tr>") == 5
    assert repr(hg.Table()) == "" and repr(hg.Table([{"a": None}])) == "a\n "
    pytest.importorskip("pandas")
    assert heads.to_pandas().shape == (4, 8)


def test_what_a_run_cannot(place: Path, mine: hg.Run) -> None:
    with pytest.raises(hg.Error, match="^forward: expected ids= or x=$"):
        mine.forward()
    with pytest.raises(hg.Error, match="^forward: expected ids of whole numbers, got float64$"):
        mine.forward(ids=[1.5])
    for mask, got in (([[0, 0, -np.inf]], "-inf"), ([[1, 1, np.nan]], "nan"), ([[1, 1, 2]], "2")):
        with pytest.raises(hg.Error, match=f"^forward: mask: expected bools, .*at', got {got}$"):
            mine.forward(ids=[3, 1, 4], mask=mask)
    masked = mine.forward(ids=[3, 1, 4], mask=[[1.0, 0.0, 1.0]])
    assert np.array_equal(masked, mine.forward(ids=[3, 1, 4], mask=[[True, False, True]]))
    for ids in ([[1], [2, 3]], ["1"]):
        with pytest.raises(hg.Error, match="^forward: ids: expected (lists|real numbers).*, got "):
            mine.forward(ids=ids)
    Path("runs/none").mkdir()
    Path("runs/none/config.yaml").write_text(mine.config, encoding="utf-8")
    with pytest.raises(hg.Error, match="^runs/none: no checkpoint yet: "):
        print(hg.Run("runs/none").step)
    checkpoint = hg.Run(mine.checkpoint)
    (mine.checkpoint / "model.safetensors").write_bytes(b"broken")
    for ask in (mine.weights, checkpoint.weights):
        with pytest.raises(hg.Error, match=r"model\.safetensors: "):
            ask()


def test_a_damaged_checkpoint_is_passed_over(place: Path) -> None:
    run, other = (hg.train(small(checkpoint={"every": 20}), f"runs/{seed}", set={"seed": seed}) for seed in (1, 2))
    older = load_file("runs/1/checkpoints/step-000020/model.safetensors")
    shutil.copytree(run.checkpoint, "runs/1/checkpoints/step-abc")
    assert run.step == 40
    shutil.copy(other.checkpoint / "model.safetensors", run.checkpoint)
    assert run.step == run.eval()["step"] == 20
    assert np.array_equal(run.weights()["out_head.weight"], older["out_head.weight"])
