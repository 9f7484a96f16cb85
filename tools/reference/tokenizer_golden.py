#!/usr/bin/env python3
"""Writes tests/golden/tokenizers: small tokenizers, and the ids of texts that are hard to cut.

    pip install tokenizers tiktoken transformers      (made with tokenizers 0.23, tiktoken 0.14, transformers 5.24)
    tools/reference/tokenizer_golden.py

All are trained on The Verdict. pair.json and ranks.json were vocab.json with merges.txt and a .tiktoken file, and are
converted as heed's message about such files says. ids.json has, for each file, a list of [text, ids].
"""
import json
import tempfile
from pathlib import Path

import tiktoken
from tokenizers import ByteLevelBPETokenizer
from transformers import GPT2TokenizerFast

from tokenizer_compare import END, GPT4, VERDICT, bytes_of, from_ranks, trained

OUT = Path(__file__).resolve().parents[2] / "tests/golden/tokenizers"
TEXTS = [
    "", " ", "  ", "\n", " \n", "\n\n", "a", "Hello, I am", "Hello  world", "a   b", "tail  ", " lead", "x\n\n  y\n",
    "\r\n\r\nend\r", "\t\tif x:\n\t\t\treturn", "I'll we've don't it's I'M HE'D you'RE", "'s'S'\u017fs '", "1234567890",
    "in 2024, 3.14159", "12 345 6", "x1y22z333", "\u00bd\u2162\u0664\u0665", "na\u00efve caf\u00e9", "cafe\u0301 e\u0301\u0301",
    "\u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439, \u043c\u0438\u0440!", "\u4f60\u597d\uff0c\u4e16\u754c\u3002",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643", "\U0001f642\U0001f642 \U0001f468\u200d\U0001f469\u200d\U0001f466",
    "a\u00a0b\u3000c\u2028d\u0085e", "\u180e \u200b\ufeff", "--- ... !!! ?!", "$#@ {}[]()<>", "http://a.b/c?d=e&f#g",
    "<|endoftext|>", "a<|endoftext|>b", "\u0000\u0001\u007f", "The Gisburn drawing-room, the height of his glory",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ththththththththe" * 5,
]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    ids = {}
    for kind in ("gpt2", "gpt4", "digits"):
        tokenizer = trained(kind, 340, VERDICT)
        tokenizer.save(str(OUT / f"{kind}.json"), pretty=False)
        tokenizer.encode_special_tokens = True
        ids[f"{kind}.json"] = [[text, tokenizer.encode(text).ids] for text in TEXTS]
        tokenizer.encode_special_tokens = False
        ids[f"{kind}.json with special tokens"] = [[text, tokenizer.encode(text).ids] for text in TEXTS if END in text]

    pair = ByteLevelBPETokenizer()
    pair.train([str(VERDICT)], vocab_size=340, min_frequency=2, show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        converted = GPT2TokenizerFast(*pair.save_model(folder)).backend_tokenizer
        converted.save(str(OUT / "pair.json"), pretty=False)
    ids["pair.json"] = [[text, pair.encode(text).ids] for text in TEXTS]

    ranks = bytes_of(trained("gpt4", 340, VERDICT))
    from_ranks(ranks).save(str(OUT / "ranks.json"), pretty=False)
    encoding = tiktoken.Encoding("small", pat_str=GPT4, mergeable_ranks=ranks, special_tokens={})
    ids["ranks.json"] = [[text, encoding.encode_ordinary(text)] for text in TEXTS]

    body = ",\n".join(json.dumps(name) + ": [\n" + ",\n".join(json.dumps(one) for one in cases) + "]"
                      for name, cases in ids.items())
    (OUT / "ids.json").write_text("{" + body + "}\n")


if __name__ == "__main__":
    main()
