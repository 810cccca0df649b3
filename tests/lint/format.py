"""Checks that every C and C++ source is formatted by clang-format and no line is too wide."""

import shutil
import subprocess
import sys

import tree

WIDTH = 100
# Files that are formatted by hand, with their maximum width. clang-format is not applied to them.
BY_HAND = {}


def main():
    if not shutil.which("clang-format"):
        print("format: skipped: clang-format not found; see .ci/packages.txt")
        sys.exit(77)
    findings = tree.Findings("format")
    paths = tree.files("sdk", "host", "plugins", "examples", "tests", ends=tree.CPP)
    for path in paths:
        width = BY_HAND.get(path, WIDTH)
        for number, line in tree.lines(path):
            if len(line) > width:
                findings.add(path, number, f"{len(line)} columns, {width} are allowed")
        if path in BY_HAND:
            continue
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", path], cwd=tree.ROOT,
                              capture_output=True, text=True)
        if done.returncode:
            where = done.stderr.split("\n", 1)[0].split(":")
            line = where[1] if len(where) > 1 and where[0].endswith(path) else 1
            findings.add(path, line, f"not formatted: run clang-format -i {path}")
    findings.end(len(paths))


if __name__ == "__main__":
    main()
