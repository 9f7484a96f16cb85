"""Makes reviews.txt, reviews_100.csv and reviews_held_out.csv: what guests say of an inn, in made sentences.

    python3 train/extras/sequence_models/configs/reviews.py train/extras/sequence_models/configs

reviews.txt has no labels: 2,600 lines in which words of one mood come together (and, commas), and those of different moods
meet at "but". The others have a sentence of one mood a line, with its label: 100 to train on, 1,000 to validate with. Of
the 140 words that have a mood a hundred sentences show about half. Where the others belong only reviews.txt can tell.
"""
import pathlib
import random
import sys

GOOD = """bright calm charming cheerful clean cosy crisp delicious delightful elegant excellent fabulous flawless fresh
friendly generous gentle glorious gorgeous gracious great happy heavenly kind lively lovely magical neat nice
perfect pleasant polite pretty smooth spotless sunny superb sweet tasty tender""".split()
BAD = """angry awful bitter bland bleak broken chaotic clumsy cold cruel damp dirty dismal dreadful dull dusty filthy
foul gloomy greasy grim grubby harsh horrid hostile lousy mean messy mouldy nasty noisy rancid rotten rude
shabby sloppy soggy stale sticky vile""".split()
THINGS = """soup bread cake coffee tea salad fish garden room bed bath lobby terrace view pool waiter cook porter owner music
table chair lamp window breakfast dinner""".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
PEOPLE = "anna ben clara david emma frank grace henry".split()
GOING = """we took the bus to the inn|{person} and i stayed here|we came with {person}|{person} told us of the place|
we walked to the old inn|our train was on time""".replace("\n", "").split("|")


def line_of_text(draw):
    """Words of one mood together; those of the other one only behind "but"."""
    mood, other = draw.sample((GOOD, BAD), 2)
    a, b, c, d = draw.sample(mood, 4)
    s, t, u = draw.sample(THINGS, 3)
    going, day = draw.choice(GOING).format(person=draw.choice(PEOPLE)), draw.choice(DAYS)
    return draw.choice((f"the {s} was {a}, {b} and {c}", f"the {s} was {a} and {b} and the {t} was {c} and {d}",
                        f"{a} {s}, {b} {t} and {c} {u}", f"what a {a} and {b} {s} we had on {day}",
                        f"the {s} was {a} and {b} but the {t} was {draw.choice(other)}",
                        f"{going} and the {s} was {a}, {b} and {c}"))


def line_to_label(draw, label):
    word, thing = draw.choice(GOOD if label == "good" else BAD), draw.choice(THINGS)
    going, day = draw.choice(GOING).format(person=draw.choice(PEOPLE)), draw.choice(DAYS)
    return draw.choice((f"on {day} {going} and the {thing} was {word}", f"{going} on {day} and the {thing} was {word}",
                        f"what a {word} {thing} we had on {day}", f"the {thing} was {word} on {day}",
                        f"{going} and on {day} the {thing} was {word}"))


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(7)
    (folder / "reviews.txt").write_text("".join(line_of_text(draw) + "\n" for _ in range(3000)))
    seen = {}
    while len(seen) < 1100:
        label = ("good", "bad")[len(seen) % 2]
        seen.setdefault(line_to_label(draw, label), label)
    rows = [f"{text},{label}\n" for text, label in seen.items()]
    for name, part in (("reviews_100.csv", rows[:100]), ("reviews_held_out.csv", rows[100:])):
        (folder / name).write_text("text,label\n" + "".join(part))


if __name__ == "__main__":
    main()
