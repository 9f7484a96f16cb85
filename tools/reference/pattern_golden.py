#!/usr/bin/env python3
"""Writes tests/golden/tokenizers/patterns.json: where Hugging Face's tokenizers cut a text by patterns of their syntax.

    pip install tokenizers      (made with tokenizers 0.23)
    tools/reference/pattern_golden.py

The file has the text and, for each pattern, the pieces. Published patterns come first, then constructs that PCRE2 reads
differently.
"""
import json
from pathlib import Path

from tokenizers import Regex, pre_tokenizers

OUT = Path(__file__).resolve().parents[2] / "tests/golden/tokenizers/patterns.json"
ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TEXT = ("It's 12345 caf\u00e9s, d\u00e9j\u00e0-vu!  I'LL\u017f 'S\u017f go\n\n \u4f60\u597d\u3001\u4e16\u754c\u3002 Kimi\u8bf4hello ABCdef \u30ab\u30bf\u30ab\u30ca\u30fc "
        "\u0661\u0662 x\u00b2 \u00bd\u2162 \u24d0 a\u180e\u180eb\u0085c\u00a0d ]^[-&&. (a|b)\u06d4 $5+<6> \u00dfss\ufb00 ag\tf\x0bE\r\nend\n")
KIMI_UPPER, KIMI_LOWER = (f"[{sets}\\p{{Lm}}\\p{{Lo}}\\p{{M}}&&[^\\p{{Han}}]]" for sets in ("\\p{Lu}\\p{Lt}", "\\p{Ll}"))
REST = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LEAD = r"[^\r\n\p{L}\p{N}]?"
PATTERNS = [
    f"[\\p{{Han}}]+|{LEAD}{KIMI_UPPER}*{KIMI_LOWER}+{ENDINGS}?|{LEAD}{KIMI_UPPER}+{KIMI_LOWER}*{ENDINGS}?|{REST}",  # Kimi K2
    " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+",  # BLOOM
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"""
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",  # DeepSeek V3
    f"{ENDINGS}|{LEAD}\\p{{L}}+|{REST}",  # GPT-4
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", r"\s+$",  # DeepSeek
    r"[a-z&&[^b]]+|.", r"[^a-m&&[^\d]]+", r"[a-f&&c-z&&[^d]]", r"[a[bc]]+", r"[a[^a-z]]+", r"[^[^a-c]b]", r"[]a]+", r"[^]\s]+",
    r"[^\s]+", r"[\s\S]", r"[^\S]+", r"[\S ]+", r"[\w-]+", r"\w+", r"\W+", r"[\W]+", r"[^\W]+", r"\d+", r"[+-]", r"[a-c-e]+",
    r"\p{Han}+", r"\p{^L}+", r"\P{L}+", r"[\P{L}]+", r"[^\p{L}\s]", "^", "$", "^.", ".$", "e$", ".+", "(?m:.+)", "s{,2}", "s{2}",
    "a{", "{,}", r"\u00e9|\x41|\x{e9}", "|aa", "a*?", "s*", "(?:)", "(?=a)", r"(?<=a)b|(?<!a)b", r"\s++\S", "(?>a|ab)c?",
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
