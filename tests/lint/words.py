"""Words that say that something is unfinished, and paths of somebody's machine."""

import re

import tree

UNFINISHED = re.compile(
    r"\b(TODO|FIXME|XXX|not (yet )?implemented|unimplemented|stub(s|bed)?|placeholder|for now)\b",
    re.IGNORECASE)
# Written so that the pattern does not find itself.
MACHINE = re.compile(r"(?<![\w.])/([w]ork|[h]ome/\w+|[r]oot|[U]sers/\w+)/")
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
                    findings.add(path, number, f"'{match.group()}': finish it, or say what it does "
                                 "not do and when that matters")
            match = MACHINE.search(line)
            if match or (ships and not is_test and TEMPORARY.search(line)):
                findings.add(path, number, "a path of one machine: make it an argument, or relative")
    findings.end(len(paths))


if __name__ == "__main__":
    main()
