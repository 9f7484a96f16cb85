"""Writes texts for a question about distance: what stood behind a letter?

    python3 tools/extras/bench/claims/recall.py runs/recall

    3 e3 9 a2 6 ... 1 h3 3 h    the last word asks for h, the answer is 3

A text has 67 words and the question. Eight words are a letter from a to h, each letter once, and a number from 0 to 3; the
others are digits that mean nothing. The distance is how many words stand between the one that answers and the question. Of
the training texts it has every length from 1 to 65 except those of `DISTANCES`, a small one as often as all between it and
its double (its logarithm is even), so that networks which learn short ones first can. uniform.tsv has each length from 1 to
65 equally often.
"""
import pathlib
import random
import sys

DISTANCES = (4, 8, 16, 32, 64)  # of the texts held out
WORDS, LETTERS, NUMBERS, TEXTS, HELD_OUT, UNIFORM = 67, "abcdefgh", 4, 20_000, 500, 520


def text_at(generator, distance):
    """A line: a text, its last word the question, a tab and the answer."""
    words = [str(generator.randrange(10)) for _ in range(WORDS)]
    answering = WORDS - 1 - distance
    others = generator.sample([i for i in range(WORDS) if i != answering], len(LETTERS) - 1)
    letters = generator.sample(LETTERS, len(LETTERS))
    for letter, i in zip(letters, [answering, *others]):
        words[i] = f"{letter}{generator.randrange(NUMBERS)}"
    return " ".join([*words, letters[0]]) + f"\t{words[answering][1]}\n"


def training_distance(generator):
    while (distance := int((WORDS - 1) ** generator.random())) in DISTANCES:
        pass
    return distance


def write(folder):
    """texts.tsv, to train on, and a file for each of DISTANCES. Columns have the names that own_labels.yaml gives them."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = random.Random(1)
    files = {"texts": [training_distance(generator) for _ in range(TEXTS)]}
    files |= {f"distance_{distance}": [distance] * HELD_OUT for distance in DISTANCES}
    files["uniform"] = [1 + i % (WORDS - 2) for i in range(UNIFORM)]
    for name, distances in files.items():
        lines = [text_at(generator, distance) for distance in distances]
        (folder / f"{name}.tsv").write_text("".join(["question\ttopic\n", *lines]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected a folder to write to")
    write(pathlib.Path(sys.argv[1]))
