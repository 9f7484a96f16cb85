"""Writes tests/golden/sampling.json: the probabilities from which transformers' generate() draws a token.

    python tools/reference/sampling_golden.py [--out tests/golden/sampling.json]

Made with transformers 5.24 and PyTorch 2.13, in float64, from logits that are float32 numbers. Keys of a case:
  logits, before      the model's logits and the tokens so far
  temperature, top_k, top_p, min_p, repetition_penalty       absent: not applied
  probabilities       softmax of what the processors leave, in the order in which generate() applies them
"""
import argparse
import json
import pathlib

import torch
import transformers
from transformers import GenerationConfig, GPT2Config, GPT2LMHeadModel

OPTIONS = [
    {},
    {"repetition_penalty": 1.3},
    {"repetition_penalty": 0.8},
    {"min_p": 0.1},
    {"min_p": 1.0},
    {"min_p": 0.0},
    {"temperature": 0.5, "min_p": 0.2},
    {"temperature": 2.0, "min_p": 0.2},
    {"top_k": 4, "min_p": 0.3},
    {"top_p": 0.7, "min_p": 0.05},
    {"repetition_penalty": 1.7, "temperature": 0.7, "top_k": 5},
    {"repetition_penalty": 1.2, "temperature": 1.4, "top_p": 0.8},
    {"repetition_penalty": 2.5, "temperature": 0.9, "top_k": 6, "top_p": 0.9, "min_p": 0.15},
]


def processors(model, options):
    """Those of generate() itself, so in its order."""
    neutral = {"temperature": 1.0, "top_k": 0, "top_p": 1.0}
    config = GenerationConfig(do_sample=True, pad_token_id=0, **{**neutral, **options})
    config._eos_token_tensor = None
    return model._get_logits_processor(config, input_ids_seq_length=3, device="cpu")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default="tests/golden/sampling.json")
    args = parser.parse_args()
    model = GPT2LMHeadModel(GPT2Config(vocab_size=12, n_positions=8, n_embd=4, n_layer=1, n_head=1))
    torch.manual_seed(5)
    cases = []
    for options in OPTIONS:
        logits = (2 * torch.randn(1, 12)).double()
        before = torch.randint(12, (1, 6))
        scores = processors(model, options)(before, logits.clone())
        cases.append({**options, "logits": logits[0].tolist(), "before": before[0].tolist(),
                      "probabilities": torch.softmax(scores, -1)[0].tolist()})
    made_by = f"tools/reference/sampling_golden.py with transformers {transformers.__version__}, PyTorch {torch.__version__}"
    args.out.write_text(json.dumps({"made_by": made_by, "cases": cases}, indent=0) + "\n")


if __name__ == "__main__":
    main()
