"""Tables of results on the pages in configs/, each between <!-- NAME: tools/extras/bench/results.py --> and <!-- end of NAME -->."""
import pathlib

CONFIGS = (ROOT := pathlib.Path(__file__).resolve().parents[4]) / "configs"


def percent(value):
    return f"{100 * value:.2f}%" if value < 1 else "100%"


def on_page(page, name):
    """What stands on a page before, between and behind the two marks."""
    begin, end = f"<!-- {name}: tools/extras/bench/results.py -->\n", f"<!-- end of {name} -->\n"
    text = (CONFIGS / page).read_text()
    if text.count(begin) != 1 or text.count(end) != 1:
        raise RuntimeError(f"configs/{page}: expected {begin.strip()} and {end.strip()} once")
    return text[:text.index(begin) + len(begin)], text[text.index(begin) + len(begin):text.index(end)], text[text.index(end):]


def put(args, page, name, text):
    before, _, behind = on_page(page, name)
    if args.printed:
        print(text)
    else:
        (CONFIGS / page).write_text(before + text + behind)


def table(page, name):
    """The titles and the rows of a table, as cells."""
    lines = on_page(page, name)[1].splitlines()
    titles, _, *rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return titles, rows


def fill(args, page, name, new_row):
    """new_row(number, cells of the old row, titles) gives the cells of a row."""
    titles, rows = table(page, name)
    new = ["| " + " | ".join(new_row(i, row, titles)) + " |\n" for i, row in enumerate(rows)]
    put(args, page, name, "".join([*on_page(page, name)[1].splitlines(True)[:2], *new]))
