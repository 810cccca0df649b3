"""Finds words that mark unfinished work, and absolute paths of one machine."""

import re

import tree

UNFINISHED = re.compile(
    r"\b(TODO|FIXME|XXX|not (yet )?implemented|unimplemented|stub(s|bed)?|placeholder|for now)\b",
    re.IGNORECASE)
# The character classes prevent the pattern from matching itself.
MACHINE_PATH = re.compile(r"(?<![\w.])/([w]ork|[h]ome/\w+|[r]oot|[U]sers/\w+)/")
TEMPORARY = re.compile(r"(?<![\w.])/[t]mp/")


def main():
    findings = tree.Findings("words")
    paths = tree.files()
    for path in paths:
        ships = path.startswith(("host/", "sdk/", "plugins/", "profiles/", "examples/"))
        is_test = path.startswith("tests/") or path.endswith("_test.cc") or "/testdata/" in path
        for number, line in tree.lines(path):
            if path.startswith(("host/", "sdk/", "plugins/")):
                for match in UNFINISHED.finditer(line):
                    findings.add(path, number, f"'{match.group()}': finish the work, or document what "
                                 "is not supported and when that matters")
            match = MACHINE_PATH.search(line)
            if match or (ships and not is_test and TEMPORARY.search(line)):
                findings.add(path, number, "an absolute path of one machine: use an argument or a "
                             "relative path")
    findings.end(len(paths))


if __name__ == "__main__":
    main()
