"""Checks that every C and C++ source is formatted by clang-format and no line is too wide."""

import concurrent.futures
import os
import shutil
import subprocess
import sys

import tree

WIDTH = 100
# Files that are formatted by hand, with their maximum width. clang-format is not applied to them.
BY_HAND = {}


def is_formatted(paths):
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *paths], cwd=tree.ROOT,
                          capture_output=True, text=True)
    return not done.returncode, done.stderr


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
    by_tool = [path for path in paths if path not in BY_HAND]
    batches = [by_tool[start:start + 100] for start in range(0, len(by_tool), 100)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        unclear = [batch for batch, done in zip(batches, pool.map(is_formatted, batches)) if not done[0]]
    for path in [path for batch in unclear for path in batch]:
        clean, errors = is_formatted([path])
        if not clean:
            where = errors.split("\n", 1)[0].split(":")
            line = where[1] if len(where) > 1 and where[0].endswith(path) else 1
            findings.add(path, line, f"not formatted: run clang-format -i {path}")
    findings.end(len(paths))


if __name__ == "__main__":
    main()
