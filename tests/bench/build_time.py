#!/usr/bin/env python3
"""Measures a cold build: what examples/quickstart.sh costs in a fresh copy of the tree.

usage: build_time.py [--limit CPU_SECONDS] [--jobs N] [--keep]

Copies the tree, with uncommitted changes, into a temporary folder and runs examples/quickstart.sh
there without the compiler cache. Prints JSON: the CPU and wall time in seconds, the number of build
steps and the slowest of them. Exits with 1 if the build takes more CPU time than --limit. The
packages of .ci/packages.txt must be installed.

  --limit   the most CPU seconds, user and system, that the build may take
  --jobs    how many steps run at the same time (default: the number of CPUs)
  --keep    keeps the temporary folder and prints its path

CPU time is the figure to compare: unlike wall time, it depends little on what else the machine
does. It still grows by some 20 % while other processes share the cores.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SLOWEST = 15


def copy_tree(target):
    """Copies the files that git tracks, and new ones that it does not ignore, to `target`."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for path in filter(None, listed.split("\0")):
        source = os.path.join(ROOT, path)
        if not os.path.lexists(source):
            continue
        copy = os.path.join(target, path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy2(source, copy, follow_symlinks=False)


def cpu_seconds():
    """Returns the user and system time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def build_steps(log):
    """Returns [(wall seconds, output)] of each step in a .ninja_log, the slowest first."""
    steps = []
    with open(log, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 5:
                steps.append(((int(fields[1]) - int(fields[0])) / 1000, fields[3]))
    return sorted(steps, reverse=True)


def measure(folder, jobs):
    """Builds the tree in `folder`. Returns the report, without the limit."""
    environment = dict(os.environ, CCACHE_DISABLE="1")
    command = ["examples/quickstart.sh"]
    if jobs:
        # nproc, which decides how many steps run at the same time, obeys this variable.
        environment["OMP_NUM_THREADS"] = str(jobs)
    cpu, wall = cpu_seconds(), time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)
    cpu, wall = cpu_seconds() - cpu, time.monotonic() - wall
    steps = build_steps(os.path.join(folder, "build", "release", ".ninja_log"))
    return {"cpuSeconds": round(cpu, 1), "wallSeconds": round(wall, 1), "steps": len(steps),
            "slowest": [{"seconds": seconds, "output": output}
                        for seconds, output in steps[:SLOWEST]]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="berth-build-time-")
    try:
        copy_tree(folder)
        report = measure(folder, options.jobs)
    finally:
        if options.keep:
            print(f"kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    report["limit"] = options.limit
    print(json.dumps(report, indent=2))
    if options.limit is not None and report["cpuSeconds"] > options.limit:
        print(f"build_time: the build took {report['cpuSeconds']} s of CPU time, expected at most "
              f"{options.limit:g} s", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
