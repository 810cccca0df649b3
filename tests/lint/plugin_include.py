"""Checks that a plugin that includes "host/..." does not compile.

Usage: plugin_include.py <compile_commands.json>
"""

import json
import os
import shlex
import subprocess
import sys

import tree

SOURCE = "tests/lint/plugin_include.cc"
HEADER = "host/base/status.h"


def main():
    findings = tree.Findings("plugin include")
    if not os.path.exists(os.path.join(tree.ROOT, HEADER)):
        findings.add(SOURCE, 1, f"{HEADER} does not exist: name another header of the host")
    with open(sys.argv[1], encoding="utf-8") as file:
        entries = [entry for entry in json.load(file)
                   if entry["file"] == os.path.join(tree.ROOT, SOURCE)]
    if not entries:
        findings.add(SOURCE, 1, f"{sys.argv[1]} has no command that compiles this file")
    for entry in entries:
        command = shlex.split(entry["command"])
        command[command.index("-o") + 1] = os.devnull
        for flag, expected in (([], True), (["-DBERTH_LINT_INCLUDE_HOST"], False)):
            done = subprocess.run(command + flag, cwd=entry["directory"], capture_output=True,
                                  text=True)
            if expected and done.returncode:
                findings.add(SOURCE, 1, f"a plugin that only uses the SDK must compile:\n"
                             f"{done.stderr}")
            if not expected and f"{HEADER}: No such file" not in done.stderr \
                    and f"'{HEADER}' file not found" not in done.stderr:
                findings.add(SOURCE, 1, "a plugin can include a header of the host: remove the "
                             "include path that berth_add_plugin() or berth::sdk adds.\n"
                             f"{entry['command']}\n"
                             f"{done.stderr}")
    findings.end(len(entries))


if __name__ == "__main__":
    main()
