"""What the lint tests share: the tree's files, and how a finding is reported."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CPP = (".h", ".cc", ".c")


def files(*folders, ends=None):
    """Paths relative to the root: what git tracks or would track; without git, what is there."""
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
    """The lines of a text file, numbered from 1; nothing for a binary one."""
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return list(enumerate(file.read().split("\n"), 1))
    except UnicodeDecodeError:
        return []


class Findings:
    """Collects findings and ends the test: `file:line: rule: what to do`, all of them, then 1."""

    def __init__(self, rule):
        self.rule = rule
        self.texts = []

    def add(self, path, line, text):
        self.texts.append(f"{path}:{line}: {self.rule}: {text}")

    def end(self, looked_at):
        """`looked_at` must not be 0: a lint that saw nothing has proved nothing."""
        for text in self.texts:
            print(text)
        if not looked_at:
            print(f"{self.rule}: nothing to look at; was the tree moved?")
        print(f"{self.rule}: {len(self.texts)} findings, {looked_at} looked at")
        sys.exit(1 if self.texts or not looked_at else 0)
