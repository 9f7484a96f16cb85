"""Writes tests/golden/gradients: what PyTorch's autograd says for the probes of gradients, and over a run.

    pip install torch safetensors pyyaml        (made with torch 2.13.0)
    python tools/reference/gradients_golden.py

The models are those of tests/golden/layers, in float64, and one with an LSTM that both sides draw from a seed. Each case
has a model, ids (and source_ids), an answer, perhaps a wrong one, and of `heed probe`

  attribute   logit, tokens (gradient times embedding at each position), parts: part, layer, block, head, value
  reach       the norm of d cross-entropy / d embedding by distance
  teach       loss and probability before and after a step of SGD, the norms of all gradients
  patch       estimates by block: of the residual stream, attention and feed-forward by position, of heads

rows.json has gradients.csv of five runs of 30 steps, of a gpt, a tied gpt with RoPE, an LSTM, a gpt_classifier and an
encoder_decoder, in float64: `config`, `steps`, `parameters`, and of each step and parameter the norms of the gradient
before clipping, of the weights before the update, and of what it changed.
"""
import csv
import json
from pathlib import Path

import torch
import yaml
from safetensors import safe_open
from torch.nn import functional as F

import lines_traces
import torch_layers
import train_traces

IGNORED = lines_traces.IGNORED
GOLDEN = Path(__file__).resolve().parents[2] / "tests/golden"
LSTM = {"type": "sequential", "layers": [{"type": "embedding", "vocab_size": 7, "d_model": 6},
                                         {"type": "lstm", "d_in": 6, "d_out": 5}, {"type": "linear", "d_in": 5, "d_out": 7}]}
MODELS = ("gpt", "gpt_nano", "gpt_rope_grouped", "gpt_llama", "gpt_classifier", "encoder_decoder", "lstm")
LR = 0.05


def read(name):
    if name == "lstm":
        torch.manual_seed(123)
        return LSTM, torch_layers.build(LSTM).double().eval()
    with safe_open(GOLDEN / f"layers/{name}.safetensors", "pt") as file:
        fields = yaml.safe_load(file.metadata()["config"])["model"]
        net = torch_layers.build(fields).double().eval()
        for path, parameter in net.named_parameters():
            parameter.data.copy_(file.get_tensor("param." + path))
    return fields, net


class Kept:
    """Outputs of modules and inputs of out_proj, with their gradients, by path; the activations of one forward pass."""

    def __init__(self, net, *ids):
        self.of, handles = {}, []
        for path, module in net.named_modules():
            if path.endswith(".out_proj"):
                handles.append(module.register_forward_pre_hook(lambda _, args, p=path: self.keep(p + ".in", args[0])))
            handles.append(module.register_forward_hook(lambda _, __, out, p=path: self.keep(p, out)))
        self.logits = net(*ids)
        for handle in handles:
            handle.remove()

    def keep(self, path, value):
        if value.requires_grad and not value.is_leaf:
            value.retain_grad()
        self.of[path] = value

    def product(self, path):
        """Gradient times activation, of each row: (T)."""
        return (self.of[path] * self.of[path].grad).sum(-1)[0]


def measured(logits, answer, wrong):
    last = logits.reshape(-1, logits.shape[-1])[-1]
    return last[answer] - (0 if wrong is None else last[wrong])


def loss_of(logits, answer):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1])[-1:], torch.tensor([answer]))


def blocks_of(net):
    """(path, block) of every block, in their order."""
    return [(path, module) for path, module in net.named_modules()
            if isinstance(module, (torch_layers.TransformerBlock, torch_layers.DecoderBlock))]


def attributed(net, fields, ids, answer, wrong):
    net.zero_grad()
    kept = Kept(net, *ids)
    m = measured(kept.logits, answer, wrong)
    m.backward()
    parameters = dict(net.named_parameters())
    parts, tokens = [], []

    def add(part, layer, value, block=None, head=None):
        parts.append({"part": part, "layer": layer, "block": block, "head": head, "value": value.item()})

    def add_embedding(path, position):
        products = kept.product(path)
        add("embedding", path, products.sum())
        tokens.extend(products.tolist())
        if position in kept.of and kept.of[position] is not kept.of[path]:
            added = kept.of[position] - kept.of[path]
            add("position", path, (added * kept.of[position].grad).sum())

    def add_block(path, block):
        number = int(path.split(".")[-1])
        for name in ("att", "cross_att"):
            if not hasattr(block, name):
                continue
            cross, layer = ("cross_" if name == "cross_att" else ""), f"{path}.{name}"
            z = kept.of[f"{layer}.out_proj.in"]
            by_head = (z * z.grad)[0].reshape(z.shape[1], fields["num_heads"], -1).sum((0, 2))
            for head, value in enumerate(by_head):
                add(cross + "head", layer, value, number, head)
            bias = parameters.get(f"{layer}.out_proj.bias")
            if bias is not None:
                add(cross + "out_bias", layer, (bias * bias.grad).sum(), number)
        add("feed_forward", f"{path}.ff", kept.product(f"{path}.ff").sum(), number)

    if fields["type"] == "encoder_decoder":
        add_embedding("source_emb", "source_pos")
        for path, block in blocks_of(net):
            if path.startswith("encoder_blocks"):
                add_block(path, block)
    add_embedding("0" if fields["type"] == "sequential" else "tok_emb", "pos_emb")
    for path, block in blocks_of(net):
        if not path.startswith("encoder_blocks"):
            add_block(path, block)
    shift = parameters.get("final_norm.shift")
    if shift is not None:
        add("final_shift", "final_norm", (shift * shift.grad).sum())
    return {"logit": m.item(), "parts": parts, "tokens": tokens}


def embedding_path(fields):
    return "0" if fields["type"] == "sequential" else "tok_emb"


def reached(net, fields, ids, answer):
    net.zero_grad()
    kept = Kept(net, *ids)
    loss_of(kept.logits, answer).backward()
    found = {"gradient_norm": kept.of[embedding_path(fields)].grad[0].norm(dim=-1).flip(0).tolist()}
    if len(ids) > 1:
        found["source_gradient_norm"] = kept.of["source_emb"].grad[0].norm(dim=-1).flip(0).tolist()
    return found


def taught(net, ids, answer):
    net.zero_grad()
    before = loss_of(net(*ids), answer)
    before.backward()
    norms = [{"name": path, "grad_norm": 0.0 if p.grad is None else p.grad.norm().item()} for path, p in net.named_parameters()]
    weights = {path: p.detach().clone() for path, p in net.named_parameters()}
    torch.optim.SGD(net.parameters(), lr=LR).step()
    with torch.no_grad():
        after = loss_of(net(*ids), answer)
        for path, p in net.named_parameters():
            p.copy_(weights[path])
    return {"lr": LR, "loss_before": before.item(), "loss_after": after.item(), "before": (-before).exp().item(),
            "after": (-after).exp().item(), "parameters": norms}


def estimated(net, fields, clean, corrupt, answer, wrong):
    net.zero_grad()
    of_clean, of_corrupt = Kept(net, clean), Kept(net, corrupt)
    m_clean, m_corrupt = (measured(of.logits, answer, wrong) for of in (of_clean, of_corrupt))
    m_corrupt.backward()

    def change(path):
        return ((of_clean.of[path] - of_corrupt.of[path]) * of_corrupt.of[path].grad)[0] / (m_clean - m_corrupt)

    found = {"clean_ids": clean[0].tolist(), "corrupt_ids": corrupt[0].tolist(), "clean": m_clean.item(),
             "corrupt": m_corrupt.item(), "residual": [], "attention": [], "feed_forward": [], "heads": []}
    for path, _ in blocks_of(net):
        for name, layer in (("residual", path), ("attention", f"{path}.att"), ("feed_forward", f"{path}.ff")):
            found[name].append(change(layer).sum(-1).tolist())
        z = change(f"{path}.att.out_proj.in")
        found["heads"].append(z.reshape(len(z), fields["num_heads"], -1).sum((0, 2)).tolist())
    return found


def most_different(net, clean, answer, wrong):
    """Of some prompts the one that changes most: a share of a small difference is mostly rounding."""
    drawn = [torch.randint(7, clean.shape) for _ in range(50)]
    with torch.no_grad():
        m = measured(net(clean), answer, wrong)
        return max(drawn, key=lambda ids: (measured(net(ids), answer, wrong) - m).abs().item())


def configs_of_runs():
    base = {"seed": 123, "random": {"generators": "separate"},
            "data": {"type": "text", "path": "../../../configs/data/tinyshakespeare.txt", "tokenizer": "char"},
            "optimizer": {"type": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.01, "decay": "matrices"},
            "train": {"steps": 30, "batch_size": 4, "clip_grad_norm": 1.0}, "eval": {"every": 10, "batches": 1, "gradients": True}}
    gpt = {"type": "gpt", "context_length": 16, "d_model": 16, "num_heads": 2, "num_layers": 2}
    yield {**base, "model": gpt}
    yield {**base, "model": {**gpt, "tie_embeddings": True, "position": "rope", "norm": "rms_norm", "bias": False}}
    lstm = [{"type": "embedding", "vocab_size": 65, "d_model": 12}, {"type": "lstm", "d_in": 12, "d_out": 12},
            {"type": "linear", "d_in": 12, "d_out": 65}]
    yield {**base, "data": {**base["data"], "context_length": 16}, "model": {"type": "sequential", "layers": lstm}}
    small = {"d_model": 16, "num_heads": 2, "num_layers": 1}
    for model, file, data in (("gpt_classifier", "questions.csv", {"type": "labelled", "text": "question", "label": "topic"}),
                              ("encoder_decoder", "dates.tsv", {"type": "pairs", "source": "written", "target": "iso"})):
        path = f"../../../tools/extras/own_data/configs/{file}"
        yield {**base, "data": {"path": path, "validation": path, "tokenizer": "char", **data}, "model": {"type": model, **small}}


def windows_of_text(config):
    """Sizes of the model, and a function that gives batches: what the model is given, and targets."""
    text = (GOLDEN / "gradients" / config["data"]["path"]).read_bytes().decode("utf-8")
    characters = sorted(set(text))
    ids = torch.tensor([characters.index(c) for c in text])
    sizes = {} if config["model"]["type"] == "sequential" else {"vocab_size": len(characters)}
    batches = train_traces.random_batches(ids[: int(0.9 * len(ids))], 16, config["train"]["batch_size"])
    return sizes, (((x,), y) for x, y in batches)


def columns_of(config):
    """Of both columns of a table, a list of ids for each row, and what the ids stand for: characters or classes."""
    data = config["data"]
    with (GOLDEN / "gradients" / data["path"]).open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t" if data["path"].endswith("tsv") else ","))
    for role in ("text", "label") if "label" in data else ("source", "target"):
        column = [[row[data[role]]] if role == "label" else list(row[data[role]]) for row in rows]
        names = sorted({name for cell in column for name in cell})
        yield from ([[names.index(name) for name in cell] for cell in column], names)


def padded(lists, padding):
    longest = max(map(len, lists))
    return torch.tensor([one + [padding] * (longest - len(one)) for one in lists])


def labelled_texts(config):
    """<class> and a text, hidden where it has ended; its class."""
    texts, characters, classes, names = columns_of(config)
    examples = [([len(characters)] + text, of[0]) for text, of in zip(texts, classes)]
    sizes = {"vocab_size": len(characters) + 1, "num_classes": len(names), "context_length": max(map(len, texts)) + 1}
    chosen = lines_traces.batches(examples, config["train"]["batch_size"])
    return sizes, (((padded([ids for ids, _ in batch], 0), padded([[1] * len(ids) for ids, _ in batch], 0)),
                    torch.tensor([of for _, of in batch])) for batch in chosen)


def pairs_of_texts(config):
    """A source and <end>, hidden where it has ended, <start> and the target; the target and <end>."""
    sources, read, targets, written = columns_of(config)
    start, end = len(written), len(written) + 1
    examples = [(source + [len(read)], [start] + target, target + [end]) for source, target in zip(sources, targets)]
    sizes = {"source_vocab_size": len(read) + 1, "vocab_size": end + 1, "source_length": max(map(len, sources)) + 1,
             "context_length": max(map(len, targets)) + 1}
    chosen = lines_traces.batches(examples, config["train"]["batch_size"])
    return sizes, (((padded([source for source, _, _ in batch], 0), padded([ids for _, ids, _ in batch], 0),
                     padded([[1] * len(source) for source, _, _ in batch], 0)),
                    padded([of for _, _, of in batch], IGNORED)) for batch in chosen)


DATA = {"text": windows_of_text, "labelled": labelled_texts, "pairs": pairs_of_texts}


def rows_of_run(config):
    streams = train_traces.Streams(config["seed"], True)
    sizes, batches = DATA[config["data"]["type"]](config)
    with streams.of("initialisation"):
        net = torch_layers.build({**sizes, **config["model"]}).double()
    optimizer = train_traces.make_optimizer(net, config["optimizer"])
    found = {"config": yaml.safe_dump(config, sort_keys=False, default_flow_style=None), "steps": [], "rows": [],
             "parameters": [path for path, _ in net.named_parameters()]}
    for step in range(1, config["train"]["steps"] + 1):
        optimizer.zero_grad()
        with streams.of("data"):
            given, targets = next(batches)
        F.cross_entropy(net(*given).flatten(0, -2), targets.flatten(), ignore_index=IGNORED).backward()
        grads, before = ([t.detach().clone() for t in ts] for ts in zip(*((p.grad, p) for p in net.parameters())))
        torch.nn.utils.clip_grad_norm_(net.parameters(), config["train"]["clip_grad_norm"])
        optimizer.step()
        if step % config["eval"]["every"] == 0:
            found["steps"].append(step)
            found["rows"] += [[g.norm().item(), b.norm().item(), (p.detach() - b).norm().item()]
                              for g, b, p in zip(grads, before, net.parameters())]
    return found


def main():
    torch.manual_seed(1)
    cases = []
    for name in MODELS:
        fields, net = read(name)
        longest = fields.get("context_length", 6)
        ids = [torch.randint(7, (1, longest))]
        if name == "encoder_decoder":
            ids.insert(0, torch.randint(9, (1, 4)))
        for wrong in (None, 1):
            case = {"model": name, "ids": ids[-1][0].tolist(), "source_ids": ids[0][0].tolist() if len(ids) > 1 else None,
                    "answer": 2, "wrong": wrong, "attribute": attributed(net, fields, ids, 2, wrong)}
            if wrong is None:
                case |= {"reach": reached(net, fields, ids, 2), "teach": taught(net, ids, 2)}
            if name not in ("encoder_decoder", "lstm"):
                case["patch"] = estimated(net, fields, ids[0], most_different(net, ids[0], 2, wrong), 2, wrong)
            cases.append(case)
    made_by = f"tools/reference/gradients_golden.py with torch {torch.__version__}"
    lines = ",\n".join(json.dumps(case) for case in cases)
    (GOLDEN / "gradients").mkdir(exist_ok=True)
    (GOLDEN / "gradients/probes.json").write_text(f'{{"made_by": "{made_by}",\n"lstm": {json.dumps(json.dumps(LSTM))},\n"cases": [\n{lines}]}}\n')
    runs = ",\n".join(json.dumps(rows_of_run(config)) for config in configs_of_runs())
    (GOLDEN / "gradients/rows.json").write_text(f'{{"made_by": "{made_by}",\n"runs": [\n{runs}]}}\n')


if __name__ == "__main__":
    main()
