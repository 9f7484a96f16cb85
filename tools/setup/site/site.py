#!/usr/bin/env python3
"""What tools/setup/site.sh does around mkdocs, and the pages of the Debian package. Needs nothing but Python.

    site.py links                           looks for the file that each link of a README names; writes nothing
    site.py stage --pages DIR --into DIR    copies READMEs, what they link and the pages into DIR, as mkdocs takes them
    site.py finish DIR                      takes source files out of the search, and follows every link of the site
    site.py documents --into DIR            copies the pages for users as they are, with their pictures; what they link of
                                            the source becomes plain text

On the site a README's link to a source file leads to a page with that file, one to a folder to the folder's README, or to a list of
the files in it. The first three name every link that leads nowhere, and exit with 1 if there is one.
"""
import argparse
import html.parser
import itertools
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
PICTURES = {".svg", ".png"}
INSIDE = ("autograd", "layers", "train", "tools", "tests")
PYTHON = ("tools", "python")
EXTRAS = pathlib.Path("extras/README.md")  # a page of the site alone
LANGUAGES = {".h": "cpp", ".cpp": "cpp", ".py": "python", ".sh": "bash", ".yaml": "yaml", ".js": "javascript",
             ".json": "json", ".css": "css", ".cmake": "cmake"}


def markdown_files():
    """Every page of the checkout, as paths relative to it."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        if pathlib.Path(folder) == HERE:
            continue
        folders[:] = sorted(name for name in folders if name not in ("build", "runs") and not name.startswith("."))
        found += [pathlib.Path(folder, name).relative_to(ROOT) for name in sorted(files) if name.endswith(".md")]
    return found


def blocks(text):
    """Yields (line, whether it is inside of a block of code)."""
    fence = None
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,})", line)
        if fence is None and mark:
            fence = mark[1]
            yield line, True
        elif fence is not None:
            yield line, True
            fence = None if mark and mark[1] == fence and line.strip() == fence else fence
        else:
            yield line, False


def for_users(page):
    """Whether a page is of use without the source: not those of the core's folders inside, and of the tests."""
    return page.parts[0] != "tests" and (len(page.parts) <= 2 or extra_of(page) is not None or page.parts[:2] == PYTHON)


def documents(into):
    pages = {page for page in markdown_files() if for_users(page)}
    code_or_link = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)"
                              r"|\b(?:src|srcset)=\"([^\"]+)\"", re.S)

    def link(page, match):
        if match[4]:
            copy(pathlib.Path(os.path.normpath(page.parent / match[4])), into)
        if match[1] or match[4] or re.match(r"[a-z]+:|#", match[3]):
            return match[0]
        target = pathlib.Path(os.path.normpath(page.parent / match[3].partition("#")[0]))
        if target.suffix in PICTURES:
            copy(target, into)
        return match[0] if target in pages or target.suffix in PICTURES else match[2]

    for page in pages:
        parts = []
        for code, lines in itertools.groupby(blocks((ROOT / page).read_text()), lambda block: block[1]):
            part = "\n".join(line for line, _ in lines)
            parts.append(part if code else code_or_link.sub(lambda match: link(page, match), part))
        (into / page).parent.mkdir(parents=True, exist_ok=True)
        (into / page).write_text("\n".join(parts) + "\n")


def copy(target, into):
    (into / target).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / target, into / target)


def heading(path):
    """The title of a page, without its Markdown."""
    for line, code in blocks((ROOT / path).read_text()):
        if not code and line.startswith("# "):
            return line[2:].replace("`", "")
    return str(path)


def extra_of(path):
    """The extra that a page belongs to; None outside of extras."""
    parts = path.parts
    return parts[parts.index("extras") + 1] if "extras" in parts[:-2] else None


class Stage:
    def __init__(self, into):
        self.into, self.problems, self.waiting, self.done = into, [], [], set()

    def write(self, path, text):
        path = self.into / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def page_of(self, target):
        """The page of the site that shows a file or folder of the checkout; None if there is no such thing."""
        full = ROOT / target
        if full.is_dir():
            self.waiting.append(target)
            return target / "README.md"
        if not full.is_file():
            return None
        if target.suffix in PICTURES:
            copy(target, self.into)
            return target
        if target.suffix == ".md":
            return target
        self.waiting.append(target)
        return target.with_name(target.name + ".md")

    def link(self, page, number, target):
        """A link of `page` as the site has it."""
        address, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not address:
            return target
        wanted = pathlib.Path(os.path.normpath(page.parent / address))
        shown = None if str(wanted).startswith("..") else self.page_of(wanted)
        if shown is None:
            self.problems.append(f"{page}:{number}: there is no {target}")
            return target
        return os.path.relpath(shown, page.parent) + ("#" + anchor if anchor else "")

    def prose(self, page, number, line):
        """A line outside of code. A link is Markdown's or a picture's in HTML; one that is quoted by backquotes is none."""
        pieces, at = [], 0
        quoted = [match.span() for match in re.finditer(r"(`+)(?!`).*?(?<!`)\1(?!`)", line)]
        for match in re.finditer(r"(?:\]\(|\b(?:src|srcset)=\")([^)\"\s]+)(?=[)\"])", line):
            if any(begin < match.start() < end for begin, end in quoted):
                continue
            pieces += [line[at:match.start(1)], self.link(page, number, match[1])]
            at = match.end(1)
        return "".join(pieces) + line[at:]

    def readme(self, page):
        """What Python's Markdown reads otherwise than the READMEs mean it: lists and tables need an empty line before
        them, a list in a list four blanks."""
        lines, kind = [], ""
        for number, (line, code) in enumerate(blocks((ROOT / page).read_text()), 1):
            if code:
                kind = "code"
            else:
                item = re.match(r"( *)([-*]|\d+\.) ", line)
                now = ("" if not line.strip() else "list" if item or (kind == "list" and line.startswith("  ")) else
                       "table" if line.startswith("|") else "text")
                if kind == "text" and now in ("list", "table"):
                    lines.append("")
                if now == "list" and re.match(r"  [-*] ", line):
                    line = "  " + line
                kind = now
                line = self.prose(page, number, line)
            lines.append(line)
        front = ["---", "hide: [navigation]", "---"] if page.parent == pathlib.Path() else []
        self.write(page, "\n".join(front + lines) + "\n")

    def source(self, target):
        text = (ROOT / target).read_text()
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        language = LANGUAGES.get(target.suffix, "text")
        self.write(target.with_name(target.name + ".md"),
                   f"---\nhide: [navigation, toc]\n---\n# {target}\n\n{fence} {{ .{language} linenums=\"1\" }}\n{text}{fence}\n")

    def folder(self, target):
        """A folder without a README: what lies in it."""
        if (ROOT / target / "README.md").exists():
            return
        rows = [path.relative_to(ROOT) for path in sorted((ROOT / target).rglob("*"))
                if path.suffix in (*LANGUAGES, ".md", *PICTURES)]
        links = [f"- [{path.relative_to(target)}]({os.path.relpath(self.page_of(path), target)})" for path in rows]
        self.write(target / "README.md", "\n".join([f"# {target}", "", *links]) + "\n")

    def run(self, pages):
        readmes = markdown_files()
        for page in readmes:
            self.readme(page)
        while self.waiting:
            target = self.waiting.pop()
            if target not in self.done:
                self.done.add(target)
                (self.folder if (ROOT / target).is_dir() else self.source)(target)
        if pages:
            shutil.copytree(pages, self.into / "pages")
        for name in ("see.md", "site.css", "logo.svg"):
            shutil.copyfile(HERE / name, self.into / name)
        self.write(EXTRAS, extras_page(readmes))
        return readmes


def extras_page(readmes):
    """A table of all extras, from the tables of their READMEs."""
    lines = ["# Extras", "", "The core trains, resumes and samples a GPT. An extra adds to it; each can be left out of a "
             "build, or deleted.", "", "| extra | for | adds |", "|---|---|---|"]
    for page in sorted(readmes, key=lambda page: extra_of(page) or ""):
        if extra_of(page) is None or page.name != "README.md" or page.parent.name != extra_of(page):
            continue
        rows = dict(re.findall(r"^\| (for|adds) \| (.*?) \|$", (ROOT / page).read_text(), re.M))
        lines.append(f"| [{extra_of(page)}](../{page}) | {rows.get('for', '')} | {rows.get('adds', '')} |")
    return "\n".join(lines) + "\n"


def menu_name(page):
    """"The extra tour" is tour, "autograd/ops" ops, "layers/extras/recurrent/scan" recurrent/scan."""
    title = heading(page).removeprefix("The extra ")
    return re.sub(r"^\w+/(extras/)?", "", title) if title == str(page.parent) else title


def navigation(readmes):
    """What the menu lists, for somebody who has never heard of heedgrad first, for its readers last. The first page of a
    section is shown when the section is clicked."""
    def entries(pages, first=None):
        named = [{menu_name(page): str(page)} for page in pages]
        return [{first: str(pages[0])}, *named[1:]] if first and pages else named

    def outside(folder):
        """The pages of a folder but for extras and the Python package."""
        return [page for page in readmes if page.parts[0] == folder and not extra_of(page) and page not in python]

    python = [page for page in readmes if page.parts[:2] == PYTHON]
    extras = sorted((page for page in readmes if extra_of(page) and page.parts[0] != "configs"),
                   key=lambda page: (extra_of(page), len(page.parts), page))
    sections = {"Train": entries([page for page in readmes if page.parts[0] == "configs"], "Configs and results"),
                "Python": entries(python, "Python"),
                "Extras": [str(EXTRAS), *entries(extras)],
                "Inside": [{folder: entries(outside(folder), "Overview")} for folder in INSIDE]}
    changes = [{"Changes": "CHANGES.md"}] if pathlib.Path("CHANGES.md") in readmes else []
    return [{"Start": "README.md"}, {"See attention": "see.md"},
            *({name: pages} for name, pages in sections.items() if pages), *changes]


class Links(html.parser.HTMLParser):
    """The addresses that a page links or loads, and the places in it that have a name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("id", "name") and value:
                self.names.add(value)
            elif value and (key in ("src", "srcset") or (key == "href" and tag == "link")):
                self.loads.append(value)
            elif value and key == "href":
                self.links.append(value)


def finish(site):
    """Returns what is wrong with the site."""
    problems, pages = [], {}
    for path in site.rglob("*.html"):
        pages[path] = Links(path.read_text())
    followed = 0
    for path, page in pages.items():
        if path.parent == site / "pages" or path.name == "404.html":  # heed's own pages have their tests; 404's are absolute
            continue
        for address in page.links + page.loads:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    problems.append(f"{path.relative_to(site)}: loads {address} from elsewhere")
                continue
            target = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path))) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            followed += 1
            if not target.is_file():
                problems.append(f"{path.relative_to(site)}: {address} leads nowhere")
            elif target in pages and target.parent != site / "pages":
                if urllib.parse.unquote(parts.fragment) not in pages[target].names:
                    problems.append(f"{path.relative_to(site)}: {address}: there is no such heading")
    index = site / "search" / "search_index.json"
    found = json.loads(index.read_text())
    sources = tuple(suffix + ".html" for suffix in (*LANGUAGES, ".txt"))
    found["docs"] = [entry for entry in found["docs"] if not entry["location"].partition("#")[0].endswith(sources)]
    index.write_text(json.dumps(found))
    print(f"site: {len(pages)} pages, {followed} links")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    stage = commands.add_parser("stage")
    stage.add_argument("--pages", type=pathlib.Path, required=True)
    stage.add_argument("--into", type=pathlib.Path, required=True)
    commands.add_parser("finish").add_argument("site", type=pathlib.Path)
    commands.add_parser("links")
    commands.add_parser("documents").add_argument("--into", type=pathlib.Path, required=True)
    given = parser.parse_args()
    if given.command == "stage":
        shutil.rmtree(given.into, ignore_errors=True)
        staged = Stage(given.into / "docs")
        readmes = staged.run(given.pages)
        config = (HERE / "mkdocs.yml").read_text()
        (given.into / "mkdocs.yml").write_text(f"{config}nav: {json.dumps(navigation(readmes))}\n")
        problems = staged.problems
    elif given.command == "links":
        with tempfile.TemporaryDirectory() as folder:
            staged = Stage(pathlib.Path(folder))
            staged.run(None)
        problems = staged.problems
    elif given.command == "documents":
        shutil.rmtree(given.into, ignore_errors=True)
        documents(given.into)
        problems = []
    else:
        problems = finish(given.site)
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
