"""The compilers that the tests use."""

import glob
import os
import re
import shutil
import subprocess

SDK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sdk", "include")


def rust_compilers():
    """Returns Debian's rustc, and the first one in PATH if it is another one. Raises AssertionError
    without any."""
    paths = (shutil.which("rustc", path="/usr/bin"), shutil.which("rustc"))
    found = list(dict.fromkeys(path for path in paths if path))
    if not found:
        raise AssertionError("rustc not found: see .ci/packages.txt")
    return found


def precompiled_standard_headers(compiler, folder):
    """Returns options for `compiler` that include the standard headers of the SDK, precompiled in a
    new folder in `folder`. They save time in a test that compiles many short files. They also hide
    missing includes."""
    names = set()
    for path in glob.glob(os.path.join(SDK, "berth", "**", "*.h"), recursive=True):
        with open(path, encoding="utf-8") as file:
            names |= set(re.findall(r"(?m)^#include <([a-z_]+)>$", file.read()))
    folder = os.path.join(folder, "standard_headers_" + os.path.basename(compiler))
    header = os.path.join(folder, "standard.h")
    os.mkdir(folder)
    with open(header, "w", encoding="utf-8") as file:
        file.writelines(f"#include <{name}>\n" for name in sorted(names))
    is_clang = "clang" in os.path.basename(compiler)
    out = header + (".pch" if is_clang else ".gch")
    subprocess.run([compiler, "-x", "c++-header", "-std=c++20", header, "-o", out], check=True)
    return ["-include-pch", out] if is_clang else ["-include", header]
