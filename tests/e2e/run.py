#!/usr/bin/env python3
"""Runs the end-to-end tests. tests/e2e/run.sh builds what they need and starts this program.

usage: run.sh [--kubernetes VERSION] [--upstream] [--soak SECONDS] [--keep] [--list] [NAME...]

NAME selects the tests whose file, class or method contains it: `bind`, `test_kill`.

  --kubernetes  the version of the API server and of kube-scheduler (default: the newest of the
                module files); Berth decides as this version. run.sh reads this option
  --upstream    starts the unmodified kube-scheduler in place of Berth, in the tests that concern
                what both do. It proves that the tests expect what kube-scheduler does.
  --soak        the duration of the churn (default: 60)
  --keep        keeps the folder with the logs and the data of the API server
  --list        prints the names of the tests
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

from fixture import EndToEndTest, Suite  # noqa: E402


def tests_of(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from tests_of(one)
        else:
            yield one


def selected(names):
    """Returns the tests of all files *_test.py, in the order of their names."""
    loader = unittest.TestLoader()
    found = list(tests_of(loader.discover(HERE, "*_test.py", HERE)))
    if loader.errors:
        sys.exit("\n".join(loader.errors))
    return [one for one in found if not names or any(name in one.id() for name in names)]


def run_one(test):
    """Returns ("ok" | "skipped" | "FAILED", text)."""
    result = unittest.TestResult()
    test.run(result)
    problems = result.failures + result.errors
    if problems:
        return "FAILED", "\n".join(text for _, text in problems)
    if result.skipped:
        return "skipped", result.skipped[0][1]
    return "ok", ""


def run_all(tests):
    """Runs the tests, prints a line for each, and returns the number of failures."""
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}
    for test in tests:
        began = time.monotonic()
        name = ".".join(test.id().split(".")[-3:])
        outcome, text = run_one(test)
        counts[outcome] += 1
        print(f"{outcome:8}{time.monotonic() - began:6.1f} s  {name}", flush=True)
        if outcome == "FAILED":
            print(text, test.logs(), sep="\n", flush=True)
    print(f"{counts['ok']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    return counts["FAILED"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     prog="run.sh",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--upstream", action="store_true")
    parser.add_argument("--soak", type=float, default=60)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    tests = selected(options.names)
    if options.list or not tests:
        print("\n".join(one.id() for one in tests) or "no test has such a name")
        sys.exit(0 if options.list else 2)
    berth = os.path.abspath(os.environ["BERTH"])
    if not options.upstream and not os.access(berth, os.X_OK):
        sys.exit(f"{berth} does not exist; build it with the preset release")
    # The path of a socket has at most 107 bytes, so that the folder is in /tmp whatever TMPDIR is.
    # SIGTERM raises KeyboardInterrupt too, so that nothing remains.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = tempfile.mkdtemp(prefix="berth_e2e_", dir="/tmp")
    suite = Suite(os.environ["BERTH_E2E_BIN"], os.environ["BERTH_E2E_PLUGINS"], berth, folder,
                  os.environ["BERTH_E2E_KUBERNETES"], options.upstream, options.soak)
    EndToEndTest.suite = suite
    failed = True
    try:
        failed = run_all(tests)
    finally:
        suite.stop()
        if failed or options.keep:
            print(f"the logs are in {folder}")
        else:
            shutil.rmtree(folder)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
