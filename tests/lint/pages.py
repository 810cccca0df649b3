"""Checks the form of all pages (*.md): what a reader can take in at once.

A line outside of tables has at most 100 columns, a cell of a table at most 200, a paragraph or list
item fewer than ten lines. Links lead to files and headings that exist, and the types and functions
that pages of host/ name exist. Each room of host/layers.txt
has a README.md of one paragraph, and the way of a pod fits on one screen.
"""

import os
import re

import layering
import tree

MAX_COLUMNS = 100
MAX_CELL = 200
MAX_PARAGRAPH = 9
# Pages that fit on one screen: [page, lines].
SCREENS = {"host/README.md": 80, "README.md": 80}
MAX_ROOM_LINES = 16
# Folders whose README describes more than the room.
LONG_ROOMS = {"main.cc"}

LINK = re.compile(r"(?<!!)\[([^]]*)\]\(([^)\s]*)\)")
NAME = re.compile(r"`([A-Z]\w*[a-z]\w*)(?:::(\w+))?(?:\(\))?`")
ITEM = re.compile(r"\s*([-*]|\d+\.)\s")


def shown(text):
    """Returns the text of a cell as a reader sees it: without targets of links and backticks."""
    return LINK.sub(r"\1", text).replace("`", "").replace("**", "")


def check_form(lines):
    """Yields (line, what) for each violation in the lines of a page."""
    in_code, length = False, 0
    for number, line in lines:
        is_fence = line.lstrip().startswith("```")
        if is_fence:
            in_code = not in_code
        is_table = not in_code and line.startswith("|")
        if len(line) > MAX_COLUMNS and not is_table:
            yield number, f"the line has {len(line)} columns, but only {MAX_COLUMNS} are allowed"
        if is_table:
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                if len(shown(cell).strip()) > MAX_CELL:
                    yield number, (f"a cell has {len(shown(cell).strip())} columns, but only {MAX_CELL} "
                                   "are allowed: write a list or a paragraph")
        if in_code or is_fence or is_table or not line.strip() or line.startswith("#"):
            length = 0
            continue
        length = 1 if ITEM.match(line) else length + 1
        if length == MAX_PARAGRAPH + 1:
            yield number, "the paragraph has ten lines or more: divide it"


def headings_of(text):
    """Returns the anchors of the headings of a page, as GitHub forms them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", shown(line)).strip().lower().replace(" ", "-")
            for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def check_links(path, lines, read):
    """Yields (line, what) for each link to a file or heading that does not exist. `read` returns the
    text of a file, "" for a folder, and None for what does not exist."""
    in_code = False
    for number, line in lines:
        in_code ^= line.lstrip().startswith("```")
        for _, target in [] if in_code else LINK.findall(line):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            text = read(full)
            if text is None:
                yield number, f"the link leads to {full}, which does not exist"
            elif anchor and anchor not in headings_of(text):
                yield number, f"{full} has no heading #{anchor}"


def check_names(lines, words):
    """Yields (line, what) for each type or function in backticks that is not in `words`."""
    for number, line in lines:
        for names in NAME.findall(line):
            for name in names:
                if name and name not in words:
                    yield number, f"there is no {name} in the code: name what took its place"


def words_of_code():
    return {word for path in tree.files("host", "sdk/include", ends=tree.CPP)
            for _, line in tree.lines(path) for word in re.findall(r"\w+", line)}


def read(path):
    full = os.path.join(tree.ROOT, path)
    if os.path.isdir(full):
        return ""
    return "\n".join(line for _, line in tree.lines(path)) if os.path.isfile(full) else None


def check_rooms(findings):
    for room in layering.read_layers().rank:
        path = f"host/{room}/README.md"
        if room in LONG_ROOMS:
            continue
        text = read(path)
        if text is None:
            findings.add("host/layers.txt", 1, f"{path} is missing: write one paragraph about what the "
                         "room is, what it hides, who may use it, and where to begin reading")
        elif text.count("\n") > MAX_ROOM_LINES:
            findings.add(path, MAX_ROOM_LINES, f"longer than {MAX_ROOM_LINES} lines: a room has one "
                         "paragraph; move the rest to host/docs/")


def main():
    findings = tree.Findings("pages")
    paths = tree.files(ends=".md")
    for path in paths:
        lines = tree.lines(path)
        for number, what in [*check_form(lines), *check_links(path, lines, read)]:
            findings.add(path, number, what)
        if len(lines) - 1 > SCREENS.get(path, len(lines)):
            findings.add(path, SCREENS[path], f"longer than one screen of {SCREENS[path]} lines: move "
                         "details to a page of their own")
    words = words_of_code()
    for path in tree.files("host", ends=".md"):
        for number, what in check_names(tree.lines(path), words):
            findings.add(path, number, what)
    host = read("host/README.md")
    for path in tree.files("host/docs", ends=".md"):
        if f"({path.removeprefix('host/')})" not in host:
            findings.add(path, 1, "host/README.md does not link to this page")
    check_rooms(findings)
    findings.end(len(paths))


if __name__ == "__main__":
    main()
