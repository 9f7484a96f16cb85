#!/usr/bin/env python3
"""Writes tests/golden/tokenizers/patterns.json: where Hugging Face's tokenizers cut a text by patterns of their syntax.

    pip install tokenizers      (made with tokenizers 0.23)
    tools/reference/pattern_golden.py

The file has the text and, for each pattern of tools/extras/bpe/train/text/published_patterns.cpp, the pieces.
"""
import json
from pathlib import Path

from tokenizers import Regex, pre_tokenizers

OUT = Path(__file__).resolve().parents[2] / "tests/golden/tokenizers/patterns.json"
ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TEXT = ("It's 12345 caf\u00e9s, d\u00e9j\u00e0-vu!  I'LL\u017f 'S\u017f go\n\n \u4f60\u597d\u3001\u4e16\u754c\u3002 Kimi\u8bf4hello ABCdef \u30ab\u30bf\u30ab\u30ca\u30fc "
        "\u0661\u0662 x\u00b2 \u00bd\u2162 \u24d0 a\u180e\u180eb\u0085c\u00a0d ]^[-&&. (a|b)\u06d4 $5+<6> \u00dfss\ufb00 ag\tf\x0bE\r\nend\n"
        " (https://x.y/\n\n/) \u0939\u093f\u0928\u094d\u0926\u0940 e\u0301 \u0301")
LEAD, REST = r"[^\r\n\p{L}\p{N}]?", r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BY_CASE = f"{LEAD}{UPPER}*{LOWER}+{ENDINGS}?|{LEAD}{UPPER}+{LOWER}*{ENDINGS}?|\\p{{N}}{{1,3}}"
PATTERNS = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # GPT-2
    f"{ENDINGS}|{LEAD}\\p{{L}}+|\\p{{N}}{{1,3}}{REST}",  # GPT-4, Llama 3
    BY_CASE + REST.replace(r"\n]*", r"\n/]*"),  # GPT-4o
    f"{ENDINGS}|{LEAD}\\p{{L}}+|\\p{{N}}{REST}",  # Qwen 2
    f"{ENDINGS}|{LEAD}[\\p{{L}}\\p{{M}}]+|\\p{{N}}" + REST.replace(r"\p{L}", r"\p{L}\p{M}"),  # Qwen 3.5
    r"[\p{Han}]+|" + BY_CASE.replace(r"M}]", r"M}&&[^\p{Han}]]") + REST,  # Kimi K2
    " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+", r"\p{N}", r"\p{N}+", r"[^\n]|\n",  # BLOOM, Digits, characters
    r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",  # DeepSeek V3, whose newlines are no escapes:
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|""" "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]


def main():
    pieces = {}
    for pattern in PATTERNS:
        pieces[pattern] = [piece for piece, _ in pre_tokenizers.Split(Regex(pattern), "isolated").pre_tokenize_str(TEXT)]
        assert "".join(pieces[pattern]) == TEXT
    body = ",\n".join(f"{json.dumps(pattern)}: {json.dumps(cut)}" for pattern, cut in pieces.items())
    OUT.write_text(f'{{"text": {json.dumps(TEXT)},\n"pieces": {{\n{body}}}}}\n')


if __name__ == "__main__":
    main()
