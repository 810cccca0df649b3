#!/usr/bin/env python3
"""Measures a cold build: what examples/quickstart.sh costs in a fresh copy of the tree, and what
examples/plugins/cpp with its unit test then costs.

usage: build_time.py [--limit CPU_SECONDS] [--plugin-limit CPU_SECONDS] [--jobs N] [--keep]

Copies the tree, with uncommitted changes, into a temporary folder and runs examples/quickstart.sh
there without the compiler cache. Then installs the result and builds the example plugin and its
unit test against the installation. Prints JSON: for both the CPU and wall time in seconds, the
number of build steps and the slowest of them. Exits with 1 if a build takes more CPU time than its
limit. The packages of .ci/packages.txt must be installed.

  --limit         the most CPU seconds, user and system, that the tree may take
  --plugin-limit  the most CPU seconds that the example plugin and its unit test may take
  --jobs          how many steps run at the same time (default: the number of CPUs)
  --keep          keeps the temporary folder and prints its path

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


def measure(command, folder, log, environment):
    """Runs the command in `folder`. Returns the report of the build, without the limit."""
    cpu, wall = cpu_seconds(), time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)
    cpu, wall = cpu_seconds() - cpu, time.monotonic() - wall
    steps = build_steps(os.path.join(folder, log))
    return {"cpuSeconds": round(cpu, 1), "wallSeconds": round(wall, 1), "steps": len(steps),
            "slowest": [{"seconds": seconds, "output": output}
                        for seconds, output in steps[:SLOWEST]]}


def measure_tree(folder, environment):
    return measure(["examples/quickstart.sh"], folder, "build/quickstart/.ninja_log", environment)


def measure_plugin(folder, environment):
    """Builds the example plugin against an installation of the tree that was built in `folder`."""
    prefix = os.path.join(folder, "build", "prefix")
    plugin = os.path.join(folder, "examples", "plugins", "cpp")
    for command in (["cmake", "--install", "build/quickstart", "--prefix", prefix],
                    ["cmake", "-S", plugin, "-B", "build/plugin", "-G", "Ninja",
                     f"-DCMAKE_PREFIX_PATH={prefix}"]):
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)
    jobs = environment.get("OMP_NUM_THREADS")
    command = ["cmake", "--build", "build/plugin"] + (["--parallel", jobs] if jobs else [])
    return measure(command, folder, "build/plugin/.ninja_log", environment)


def exceeds(name, report, limit):
    """Returns whether the build exceeds its limit, and prints it if so."""
    report["limit"] = limit
    if limit is None or report["cpuSeconds"] <= limit:
        return False
    print(f"build_time: {name} took {report['cpuSeconds']} s of CPU time, expected at most "
          f"{limit:g} s", file=sys.stderr)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float)
    parser.add_argument("--plugin-limit", type=float)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    environment = dict(os.environ, CCACHE_DISABLE="1")
    if options.jobs:
        # nproc, which decides how many steps run at the same time, obeys this variable.
        environment["OMP_NUM_THREADS"] = str(options.jobs)
    folder = tempfile.mkdtemp(prefix="berth-build-time-")
    try:
        copy_tree(folder)
        report = measure_tree(folder, environment)
        report["plugin"] = measure_plugin(folder, environment)
    finally:
        if options.keep:
            print(f"kept: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    late = [exceeds("the tree", report, options.limit),
            exceeds("the plugin and its test", report["plugin"], options.plugin_limit)]
    print(json.dumps(report, indent=2))
    if any(late):
        sys.exit(1)


if __name__ == "__main__":
    main()
