"""Checks that a plugin exports only its entry symbol. Usage: exports.py <lib.so>..."""

import re
import subprocess
import sys

import tree


def exported(library):
    """Returns [(type, name)] of the dynamic symbols that `library` defines, without versions."""
    out = subprocess.run(["nm", "-D", "--defined-only", "--without-symbol-versions", library],
                         check=True, capture_output=True, text=True).stdout
    return [tuple(line.split()[-2:]) for line in out.splitlines() if line.strip()]


def main():
    findings = tree.Findings("exports")
    for library in sys.argv[1:]:
        symbols = exported(library)
        entries = [name for kind, name in symbols
                   if re.fullmatch(r"berth_entry_v\d+", name) and kind in "RD"]
        strays = [f"{name} ({kind})" for kind, name in symbols if name not in entries]
        if len(entries) != 1:
            findings.add(library, 1, f"exports {entries or 'no entry'}; expected exactly one data "
                         "symbol berth_entry_v<major>: add the registration macro BERTH_PLUGIN")
        if strays:
            findings.add(library, 1, "also exports " + ", ".join(strays) +
                         ": build it with berth_add_plugin()")
    findings.end(len(sys.argv) - 1)


if __name__ == "__main__":
    main()
