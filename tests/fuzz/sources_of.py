#!/usr/bin/env python3
"""Prints the source files that fuzz targets need, one per line.

usage: sources_of.py <file>...     for example: sources_of.py tests/fuzz/list_fuzz.cc

Run it at the root of the tree. A file needs the headers that it includes, and each header of host/
needs the source file of the same name. host/base and host/api are left out: the targets link them
whole.
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


def sources_of(targets):
    seen, waiting = set(), list(targets)
    while waiting:
        path = waiting.pop()
        if path in seen or not os.path.exists(path):
            continue
        seen.add(path)
        waiting += needed_by(path)
    return sorted(path for path in seen if path.endswith(".cc") and path.startswith("host/") and
                  not path.startswith(("host/base/", "host/api/")))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    print("\n".join(sources_of(sys.argv[1:])))
