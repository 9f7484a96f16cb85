"""Makes reviews.txt, reviews_100.csv and reviews_held_out.csv: what guests say of an inn, in made sentences.

    python3 configs/wings/encoders/reviews.py configs/wings/encoders

reviews.txt has no labels: 2,600 lines in which words of one mood come together (and, commas), and those of different moods
meet at "but". The others have a sentence of one mood a line, with its label: 100 to train on, 1,000 to validate with. Of
the 140 words that have a mood a hundred sentences show about half. Where the others belong only reviews.txt can tell.
"""
import pathlib
import random
import sys

GOOD = """bright calm charming cheerful clean clever comfy cosy crisp dazzling delicious delightful dreamy elegant excellent
fabulous fair festive fine flawless fresh friendly generous gentle glorious golden good gorgeous graceful grand great happy
heavenly honest inviting jolly kind lavish lively lovely lucky magical marvellous merry neat nice noble perfect playful pleasant
polite precious pretty proud quaint rich safe shiny silky smart smooth snug soft spotless stylish sunny superb sweet tasty
tender""".split()
BAD = """angry awful bad bitter bland bleak boring broken chaotic clumsy cold cracked creepy crooked cruel damp dark dingy dirty
dismal dreadful dreary dull dusty empty faded feeble filthy foul frosty gloomy greasy grim grubby grumpy harsh horrid hostile
icy lousy mean messy mouldy musty nasty noisy odd painful pale poor rancid rotten rough rude rusty sad scary shabby sloppy
smelly soggy sour stale sticky stuffy terrible tired ugly vile worn""".split()
THINGS = """soup bread cake coffee tea salad fish garden room bed bath lobby terrace view pool waiter cook porter owner music
table chair lamp window breakfast dinner""".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
PEOPLE = "anna ben clara david emma frank grace henry".split()
GOING = """we took the bus to the inn|{person} and i stayed here|we came with {person}|{person} told us of the place|
we walked to the old inn|our train was on time""".replace("\n", "").split("|")


def line_of_text(draw):
    """Words of one mood together; those of the other one only behind "but"."""
    mood, other = draw.sample((GOOD, BAD), 2)
    a, b, c = draw.sample(mood, 3)
    d = draw.choice(other)
    s, t, u = draw.sample(THINGS, 3)
    return draw.choice((f"the {s} was {a}, {b} and {c}", f"the {s} was {a} and the {t} was {b}",
                        f"{a} {s}, {b} {t} and {c} {u}", f"what a {a} {s} we had and what a {b} {t}",
                        f"on {draw.choice(DAYS)} the {s} was {a} and {b}", f"the {s} was {a} but the {t} was {d}",
                        f"{draw.choice(GOING).format(person=draw.choice(PEOPLE))} and the {s} was {a}, {b} and {c}"))


def line_to_label(draw, label):
    word, thing = draw.choice(GOOD if label == "good" else BAD), draw.choice(THINGS)
    going, day = draw.choice(GOING).format(person=draw.choice(PEOPLE)), draw.choice(DAYS)
    return draw.choice((f"on {day} {going} and the {thing} was {word}", f"{going} on {day} and the {thing} was {word}",
                        f"what a {word} {thing} we had on {day}", f"the {thing} was {word} on {day}",
                        f"{going} and on {day} the {thing} was {word}"))


def main():
    folder, draw = pathlib.Path(sys.argv[1]), random.Random(7)
    (folder / "reviews.txt").write_text("".join(line_of_text(draw) + "\n" for _ in range(2600)))
    seen = {}
    while len(seen) < 1100:
        label = ("good", "bad")[len(seen) % 2]
        seen.setdefault(line_to_label(draw, label), label)
    rows = [f"{text},{label}\n" for text, label in seen.items()]
    for name, part in (("reviews_100.csv", rows[:100]), ("reviews_held_out.csv", rows[100:])):
        (folder / name).write_text("text,label\n" + "".join(part))


if __name__ == "__main__":
    main()
