"""Checks that every header of the SDK compiles on its own, also if it is included twice.

Uses both compilers, both standard libraries and every language that the header supports. Whether a
header includes what it uses depends on the library and not on the compiler, so that the second
compiler of a library compiles all headers at once. Headers that passed are not compiled again by the
same compilers until one of them changes: build/lint/ holds a file whose name is their digest.
"""

import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys

import tree

COMMON = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# -Wpadded: structs of the ABI must not contain implicit padding.
ABI = COMMON + ["-pedantic", "-Wpadded"]
CPP = COMMON + ["-Wshadow", "-Wconversion"]


def jobs(header):
    """Yields the compiler command, without the source, for each way to compile `header`."""
    if header.endswith(("/abi.h", "/plugin_c.h")):
        for compiler, cpp in (("gcc", "g++"), ("clang", "clang++")):
            for standard in ("c11", "c17"):
                yield [compiler, "-x", "c", f"-std={standard}"] + ABI
            for standard in ("c++20", "c++2b"):
                yield [cpp, "-x", "c++", f"-std={standard}"] + ABI
    else:
        yield ["g++", "-x", "c++", "-std=c++20"] + CPP
        yield ["clang++", "-stdlib=libc++", "-x", "c++", "-std=c++20"] + CPP


def compile_headers(headers, command):
    """Compiles a file that includes the headers twice."""
    includes = "".join(f"#include <{header.removeprefix('sdk/include/')}>\n" for header in headers)
    source = includes + includes + "typedef int berth_lint_not_empty;\n"
    command = command + ["-I", os.path.join(tree.ROOT, "sdk/include"), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    return done.returncode, " ".join(command), done.stderr


def stamp_of(headers):
    """Returns the path of the file that exists if these headers passed with these compilers."""
    state = hashlib.sha256()
    for tool in ("gcc", "clang"):
        state.update(subprocess.run([tool, "--version"], capture_output=True).stdout)
    for path in [*headers, "tests/lint/headers.py"]:
        with open(os.path.join(tree.ROOT, path), "rb") as file:
            state.update(path.encode() + hashlib.sha256(file.read()).digest())
    return os.path.join(tree.ROOT, "build", "lint", state.hexdigest())


def main():
    missing = [tool for tool in ("gcc", "g++", "clang", "clang++") if not shutil.which(tool)]
    if missing:
        print(f"headers: skipped: {', '.join(missing)} not found; see .ci/packages.txt")
        sys.exit(77)
    findings = tree.Findings("headers")
    headers = tree.files("sdk/include", ends=".h")
    stamp = stamp_of(headers)
    if os.path.exists(stamp):
        findings.end(len(headers))
    work = [([header], command) for header in headers for command in jobs(header)]
    work.append((headers, ["clang++", "-x", "c++", "-std=c++20"] + CPP))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda item: compile_headers(*item), work)
        for (compiled, _), (status, command, errors) in zip(work, results):
            if status:
                findings.add(compiled[-1], 1, f"does not compile: include what it uses.\n"
                             f"  {command}\n{errors}")
    if not findings.texts:
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        with open(stamp, "w", encoding="utf-8"):
            pass
    findings.end(len(work))


if __name__ == "__main__":
    main()
