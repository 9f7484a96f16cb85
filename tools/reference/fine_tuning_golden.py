"""Writes tests/golden/fine_tuning: LoRA by peft, and 30 steps of the book's chapter 6 and appendix E in PyTorch.

    python tools/reference/fine_tuning_golden.py [--out tests/golden]     needs torch, transformers, peft, safetensors, PyYAML

lora_<name>.safetensors, in float64: a model of torch_layers.py that peft 0.21 has adapted, its A and B drawn from N(0, 0.2):
  every parameter under our name (trf_blocks.0.att.W_query.lora.A), in.ids or in.x, y, dy, and grad.<name> of A and B;
  the metadata has our model and our train.lora as JSON
chapter_6*.json, appendix_e*.json:
  config     our YAML, with the path of messages.tsv beside it
  float64    the loss of each of 30 steps, before the step's update, computed with one thread
  float32    the same in float32
../hugging_face/<architecture>/adapter: a folder that peft has saved for the model there, its A and B drawn, and beside its
two files expected.safetensors: ids and, in float64, the logits y
The loops are those of the book: AdamW, batches of DataLoader(shuffle=True, drop_last=True), cross-entropy of the last
token's logits. Chapter 6 trains the last block, the last norm and the head; appendix E freezes all that was drawn, then
gives every Linear a LoRA. Texts are padded as heed pads them (dropout draws for the padding too); the padding is masked.
"""
import argparse
import json
import math
import pathlib
import random

import torch
import yaml
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

import torch_layers
from hugging_face import in_float64
from train_traces import Streams

STEPS = 30
GPT = {"vocab_size": 11, "context_length": 9, "d_model": 12, "num_heads": 3, "num_layers": 2}


def our_name(name: str) -> str:
    """base_model.model.out_head.lora_A.default.weight -> out_head.lora.A"""
    name = name.removeprefix("base_model.model.").replace(".base_layer.", ".")
    return name.replace(".lora_A.default.weight", ".lora.A").replace(".lora_B.default.weight", ".lora.B")


def peft_cases() -> dict:
    """Name -> (model, train.lora, shape of ids or x)."""
    llama = {"norm": "rms_norm", "activation": "swiglu", "bias": False, "position": "rope"}
    return {
        "lora_gpt": ({"type": "gpt", **GPT}, {"rank": 3, "alpha": 6, "targets": ["*"]}, (2, 7)),
        "lora_llama": ({"type": "gpt", **GPT, "d_model": 12, "num_heads": 2, **llama},
                       {"rank": 2, "alpha": 5, "targets": ["*.W_query", "*.W_value", "*.down_proj"]}, (2, 9)),
        "lora_attention": ({"type": "multi_head_attention", "d_in": 8, "d_out": 6, "context_length": 5, "num_heads": 2},
                           {"rank": 4, "alpha": 1, "targets": ["W_query", "W_value", "out_proj"]}, (3, 5, 8)),
    }


def chosen(net: nn.Module, patterns: list[str]) -> list[str]:
    ends = [p.lstrip("*.") for p in patterns]
    return [name for name, layer in net.named_modules()
            if isinstance(layer, nn.Linear) and any(name.endswith(end) for end in ends)]


def adapted_by_peft(model: dict, lora: dict, shape: tuple) -> dict:
    torch.manual_seed(5)
    net = torch_layers.build(model).double().train()
    targets = chosen(net, lora["targets"])
    net = get_peft_model(net, LoraConfig(r=lora["rank"], lora_alpha=lora["alpha"], target_modules=targets,
                                         lora_dropout=0.0, bias="none"))
    for name, parameter in net.named_parameters():
        if "lora_" in name:
            nn.init.normal_(parameter, std=0.2)
    ids = model["type"] == "gpt"
    given = torch.randint(GPT["vocab_size"], shape) if ids else torch.randn(shape, dtype=torch.float64)
    y = net(given)
    dy = torch.randn_like(y)
    y.backward(dy)
    tensors = {our_name(n): p.detach() for n, p in net.named_parameters()}
    grads = {"grad." + our_name(n): p.grad for n, p in net.named_parameters() if p.grad is not None}
    assert len(grads) == 2 * len(targets)
    return {**tensors, **grads, "in.ids" if ids else "in.x": given, "y": y.detach(), "dy": dy}


# Of each architecture: the layers that are adapted, and options of LoraConfig.
ADAPTERS = {"gpt2": (["c_attn", "c_proj"], {"rank_pattern": {"c_proj": 2}, "alpha_pattern": {"c_proj": 3}}),
            "gpt_neox": (["query_key_value", "dense_h_to_4h"], {}), "llama": (["q_proj", "v_proj", "down_proj"], {"use_rslora": True})}


def save_adapter(folder: pathlib.Path, targets: list[str], options: dict) -> None:
    torch.manual_seed(9)
    net = in_float64(AutoModelForCausalLM.from_pretrained(folder))
    net = get_peft_model(net, LoraConfig(r=3, lora_alpha=4, target_modules=targets, **options)).eval()
    for name, parameter in net.named_parameters():
        if "lora_" in name:  # in float32, as they are saved
            parameter.data = torch.empty(parameter.shape).normal_(std=0.3).double()
    ids = torch.randint(net.config.vocab_size, (2, 5))
    logits = net(ids).logits.detach()
    net.float().save_pretrained(folder / "adapter")
    (folder / "adapter" / "README.md").unlink()
    config = folder / "adapter" / "adapter_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "base_model_name_or_path": None}, indent=2) + "\n")
    save_file({"ids": ids, "y": logits}, folder / "adapter" / "expected.safetensors")


class LinearWithLora(nn.Module):
    """Appendix E, with A and B as peft shapes and draws them."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float, dropout: float):
        super().__init__()
        self.linear, self.scale, self.dropout = linear, alpha / rank, nn.Dropout(dropout)
        self.A = nn.Parameter(torch.empty(rank, linear.in_features))
        self.B = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))

    def forward(self, x):
        return self.linear(x) + F.linear(F.linear(self.dropout(x), self.A) * self.scale, self.B)


def add_lora(net: nn.Module, rank: int, alpha: float, dropout: float = 0.0) -> None:
    for parameter in net.parameters():
        parameter.requires_grad = False
    for path in [name for name, layer in net.named_modules() if isinstance(layer, nn.Linear)]:
        parent, _, name = path.rpartition(".")
        setattr(net.get_submodule(parent), name, LinearWithLora(net.get_submodule(path), rank, alpha, dropout))


def messages() -> list[tuple[str, str]]:
    choose = random.Random(3).choice
    rows = {}
    while len(rows) < 60:
        name = choose(["Ann", "Bob", "Carla", "Di"])
        spam = choose([True, False])
        text = (f"{choose(['Win', 'Claim'])} {choose(['cash', 'a car'])}, {name}!" if spam else
                f"{name}, {choose(['tea', 'lunch', 'a walk'])} at {choose('12345')}?")
        rows[text] = "spam" if spam else "ham"
    return list(rows.items())


def padded_to(length: int, longest: int) -> int:
    """One of four lengths, as room_for() of tools/extras/own_data/train has it."""
    step = 8 * (longest // 32 + 1)
    return min(longest, (length // step + 1) * step - 1)


def losses(config: dict, rows: list[tuple[str, str]], dtype: torch.dtype) -> list[float]:
    torch.set_num_threads(1)
    letters = sorted(set("".join(text for text, _ in rows)))
    ids = [torch.tensor([letters.index(c) for c in text]) for text, _ in rows]
    labels = torch.tensor([["ham", "spam"].index(label) for _, label in rows])
    sizes = {"vocab_size": len(letters), "context_length": config["data"]["max_length"], "num_classes": 2}
    train = config["train"]
    streams = Streams(config["seed"], separate=True)
    with streams.of("initialisation"):
        net = torch_layers.build({**config["model"], **sizes})
        if "lora" in train:
            add_lora(net, **{k: v for k, v in train["lora"].items() if k != "targets"})
    net = net.to(dtype).train()
    if "freeze" in train:
        for name, parameter in net.named_parameters():
            parameter.requires_grad = name.startswith(("trf_blocks.1.", "final_norm.", "out_head."))
    fields = {k: v for k, v in config["optimizer"].items() if k not in ("type", "decay")}
    optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], **fields)
    loader, found, batches = DataLoader(range(len(rows)), batch_size=train["batch_size"], shuffle=True, drop_last=True), [], iter(())
    while len(found) < STEPS:
        with streams.of("data"):
            batch = next(batches, None)
            if batch is None:
                batches = iter(loader)
                batch = next(batches)
        texts = [ids[i] for i in batch]
        padded = nn.utils.rnn.pad_sequence(texts, batch_first=True)
        padded = F.pad(padded, (0, padded_to(padded.shape[1], max(len(t) for t in ids)) - padded.shape[1]))
        mask = torch.arange(padded.shape[1])[None] < torch.tensor([len(t) for t in texts])[:, None]
        with streams.of("dropout"):
            loss = F.cross_entropy(net(padded, mask), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def loops() -> dict[str, dict]:
    model = {"type": "gpt_classifier", "d_model": 16, "num_heads": 2, "num_layers": 2}

    def config(dropout: float, train: dict, lr: float) -> dict:
        return {"seed": 123, "random": {"dropout_stream": "mt19937"},
                "data": {"type": "labelled", "path": "messages.tsv", "tokenizer": "char", "class_token": False,
                         "max_length": 24, "train_fraction": 1},
                "model": {**model, "dropout": dropout},
                "optimizer": {"type": "adamw", "lr": lr, "weight_decay": 0.1, "decay": "all"},
                "train": {"steps": STEPS, "batch_size": 8, **train}}

    freeze = {"freeze": ["tok_emb.*", "pos_emb.*", "trf_blocks.0.*"]}
    lora = {"rank": 4, "alpha": 8, "targets": ["*"]}
    return {"chapter_6": config(0.0, freeze, 5e-3), "chapter_6_dropout": config(0.1, freeze, 5e-3),
            "appendix_e": config(0.0, {"lora": lora}, 1e-2),
            "appendix_e_dropout": config(0.1, {"lora": {**lora, "dropout": 0.2}}, 1e-2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default="tests/golden")
    golden = parser.parse_args().out
    for name, (targets, options) in ADAPTERS.items():
        save_adapter(golden / "hugging_face" / name, targets, options)
    out = golden / "fine_tuning"
    out.mkdir(parents=True, exist_ok=True)
    for name, (model, lora, shape) in peft_cases().items():
        tensors = {k: v.contiguous() for k, v in adapted_by_peft(model, lora, shape).items()}
        save_file(tensors, out / f"{name}.safetensors", {"model": json.dumps(model), "lora": json.dumps(lora)})
    rows = messages()
    (out / "messages.tsv").write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows))
    for name, config in loops().items():
        golden = {"made_by": f"tools/reference/fine_tuning_golden.py with PyTorch {torch.__version__}",
                  "config": yaml.safe_dump(config, sort_keys=False),
                  "float64": losses(config, rows, torch.float64), "float32": losses(config, rows, torch.float32)}
        print(name, *(f"{golden['float64'][i]:.4f}" for i in (0, 9, 29)))
        (out / f"{name}.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
