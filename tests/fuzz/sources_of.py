#!/usr/bin/env python3
"""Prints the source files that a fuzz target links, one per line, itself included.

usage: tests/fuzz/sources_of.py <file>...     for example: tests/fuzz/sources_of.py tests/fuzz/list_fuzz.cc

A file needs the headers that it includes, and each header of host/ needs the source file of the same
name. host/base and host/api are left out: every target links them whole.
"""
import os
import re
import sys

INCLUDE = re.compile(r'^#include "((?:host|sdk|tests|plugins)/[^"]+)"', re.MULTILINE)


def needed_by(path):
    """Returns the files of this repository that the file needs directly."""
    with open(path, encoding="utf-8") as file:
        headers = INCLUDE.findall(file.read())
    return headers + [header[:-2] + ".cc" for header in headers if header.startswith("host/")]


def sources_of(target):
    seen, waiting = set(), [target]
    while waiting:
        path = waiting.pop()
        if path in seen or not os.path.exists(path):
            continue
        seen.add(path)
        waiting += needed_by(path)
    return sorted(p for p in seen
                  if p.endswith(".cc") and not p.startswith(("host/base/", "host/api/")))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for argument in sys.argv[1:]:
        print("\n".join(sources_of(argument)))
