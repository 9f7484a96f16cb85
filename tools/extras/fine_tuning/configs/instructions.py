"""Makes instructions.json: a made language of tasks on words, each an instruction, an input and the output.

    python3 tools/extras/fine_tuning/configs/instructions.py >tools/extras/fine_tuning/configs/instructions.json
    python3 tools/extras/fine_tuning/configs/instructions.py more >tools/extras/fine_tuning/configs/more_instructions.json

The words are two to five letters, drawn at random. In a third of the rows the word is part of the instruction,
"reverse: tamo", and there is no input. No task has the same word twice: what is held out was asked of other words. `more` makes fewer rows of two
tasks that are not among the first, in the same letters.
"""
import json
import random
import sys

TASKS = {
    "reverse": lambda word: word[::-1],
    "upper case": str.upper,
    "first letter": lambda word: word[0],
    "last letter": lambda word: word[-1],
    "double": lambda word: word + word,
    "count": lambda word: str(len(word)),
    "drop the first": lambda word: word[1:],
    "spell": "-".join,
}
MORE_TASKS = {"mirror": lambda word: word + word[::-1], "drop the last": lambda word: word[:-1]}
LETTERS = "abdeghiklmnoprstuz"
ROWS, MORE_ROWS = 4000, 1200


def main():
    tasks, count = (MORE_TASKS, MORE_ROWS) if sys.argv[1:] == ["more"] else (TASKS, ROWS)
    draw = random.Random(7)
    rows = {}
    while len(rows) < count:
        task = draw.choice(list(tasks))
        word = "".join(draw.choice(LETTERS) for _ in range(draw.randint(2, 5)))
        row = {"instruction": task, "input": word, "output": tasks[task](word)}
        if draw.random() < 1 / 3:
            row = {"instruction": f"{task}: {word}", "input": "", "output": row["output"]}
        rows.setdefault((task, word), row)
    print("[\n" + ",\n".join(json.dumps(row) for row in rows.values()) + "\n]")


if __name__ == "__main__":
    main()
