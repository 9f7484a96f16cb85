"""Makes names.txt: 4,000 names of people, a line each, in four made-up languages.

    python3 tools/extras/fine_tuning/configs/names.py >tools/extras/fine_tuning/configs/names.txt

A name is made of syllables by the rules of its language, and no name comes twice:
    Elian     an open syllable or two with l, r, n, v, and a soft ending: Lorina, Evanel
    Drakh     hard consonants, closed syllables, a short name: Gorzak, Skurd
    Suomari   vowels in harmony: all of a, o, u, or all of ä, ö, y; e and i go with both: Pälykki, Karuno
    Kiyo      consonant and vowel, over and over; few endings: Tomiko, Hanata
A model that writes good names has to find out where a name is going: which letters may follow, which vowels fit those
before, and where a name of this kind may end.
"""
import random

COUNT = 4000


def elian(draw):
    begin = draw.choice(["", "l", "r", "m", "n", "v", "s", "th", "el", "al"])
    middle = "".join(draw.choice("lrnv") + draw.choice(["a", "e", "i", "o", "ia"]) for _ in range(draw.choice([1, 1, 2])))
    return begin + draw.choice("aeio") + middle + draw.choice(["na", "nel", "ra", "s", "riel", "lin"])


def drakh(draw):
    def syllable(ends):
        return draw.choice(["g", "k", "d", "z", "dr", "gr", "kr", "sk", "b", "br"]) + draw.choice("aou") + draw.choice(ends)
    first = syllable(["r", "g", "z", "k", ""]) if draw.random() < 0.8 else ""
    return first + syllable(["k", "rg", "rd", "z", "kh", "th"])


def suomari(draw):
    vowels = draw.choice(["aou", "äöy"]) + "ei"
    name = draw.choice(["k", "p", "t", "v", "h", "s", ""])
    for _ in range(draw.choice([2, 2, 3])):
        name += draw.choice(vowels) + draw.choice(["k", "l", "r", "n", "kk", "tt", "ll", "s", "m", "j"])
    return name + draw.choice(vowels)


def kiyo(draw):
    name = "".join(draw.choice(["k", "s", "t", "n", "h", "m", "y", "r", "sh"]) + draw.choice("aiuo")
                   for _ in range(draw.choice([1, 2, 2])))
    return name + draw.choice(["ko", "ta", "mi", "ro", "ka", "shi"])


def main():
    draw = random.Random(11)
    names = {}
    while len(names) < COUNT:
        language = draw.choice([elian, drakh, suomari, kiyo])
        names.setdefault(language(draw).capitalize(), None)
    print("\n".join(names))


if __name__ == "__main__":
    main()
