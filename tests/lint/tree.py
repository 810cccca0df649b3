"""Shared by the lints: lists the files of the tree and reports findings."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CPP = (".h", ".cc", ".c")


def files(*folders, ends=None):
    """Returns paths relative to the root: files that git tracks or would track. Without git,
    returns all files except those in build/."""
    try:
        out = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout
        paths = [path for path in out.split("\0") if path]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in walk() if not path.startswith(("build/", ".git/"))]
    wanted = [path for path in paths
              if (not folders or path.startswith(tuple(f + "/" for f in folders)))
              and (ends is None or path.endswith(ends))
              and os.path.isfile(os.path.join(ROOT, path))]
    return sorted(set(wanted))


def walk():
    for folder, _, names in os.walk(ROOT):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def lines(path):
    """Returns [(number, line)] of a text file, numbered from 1; an empty list for a binary file."""
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return list(enumerate(file.read().split("\n"), 1))
    except UnicodeDecodeError:
        return []


class Findings:
    """Collects findings. end() prints them as `file:line: rule: what to do` and exits."""

    def __init__(self, rule):
        self.rule = rule
        self.texts = []

    def add(self, path, line, text):
        self.texts.append(f"{path}:{line}: {self.rule}: {text}")

    def end(self, checked):
        """Prints the findings and exits, with 1 if there are any or if nothing was checked."""
        for text in self.texts:
            print(text)
        if not checked:
            print(f"{self.rule}: found nothing to check: adapt the paths in tests/lint/")
        print(f"{self.rule}: {len(self.texts)} findings, {checked} checked")
        sys.exit(1 if self.texts or not checked else 0)
