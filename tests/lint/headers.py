"""Checks that every header of the SDK compiles on its own, also if it is included twice.

Uses both compilers, both standard libraries and every language that the header supports. Whether a
header includes what it uses depends on the library and not on the compiler. One process of clang per
library checks it for all headers: each is a submodule, in which only the names and macros of the
headers that it includes are visible, as if it were compiled alone. Then each compiler of a library
compiles all headers at once. Headers that passed are not compiled again by the same compilers until
one of them changes: build/lint/ holds a file whose name is their digest.
"""

import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tree

# The first clang that merges the declarations of libstdc++ which several submodules include.
MODULES = "clang++-16"
TOOLS = ("gcc", "g++", "clang", "clang++", MODULES)
COMMON = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# -Wpadded: structs of the ABI must not contain implicit padding.
ABI = COMMON + ["-pedantic", "-Wpadded"]
CPP = COMMON + ["-Wshadow", "-Wconversion"]
COMPILERS = {"libstdc++": MODULES, "libc++": "clang++"}


def c_jobs():
    """Yields the compiler command, without the source, for each way to compile a header in C."""
    for compiler, cpp in (("gcc", "g++"), ("clang", "clang++")):
        for standard in ("c11", "c17"):
            yield [compiler, "-x", "c", f"-std={standard}"] + ABI
        for standard in ("c++20", "c++2b"):
            yield [cpp, "-x", "c++", f"-std={standard}"] + ABI


def compile_headers(headers, command):
    """Compiles a file that includes the headers twice. Returns (status, command, errors)."""
    includes = "".join(f"#include <{header.removeprefix('sdk/include/')}>\n" for header in headers)
    source = includes + includes + "typedef int berth_lint_not_empty;\n"
    command = command + ["-I", os.path.join(tree.ROOT, "sdk/include"), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    return done.returncode, " ".join(command), done.stderr


def standard_headers(headers, compiler):
    """Returns the paths of the headers of libstdc++ that `headers` include."""
    names = {name for header in headers for _, line in tree.lines(header)
             for name in re.findall(r"^#include <([a-z_]+)>", line)}
    done = subprocess.run([*compiler, "-M", "-x", "c++", "-"], capture_output=True, text=True,
                          input="".join(f"#include <{name}>\n" for name in sorted(names)), check=True)
    paths = {os.path.normpath(path) for path in done.stdout.replace("\\\n", " ").split()[1:]}
    return sorted(path for path in paths if os.path.basename(path) in names)


def write_modules(path, name, headers):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"module {name} {{\n")
        for number, header in enumerate(headers):
            file.write(f'  module header_{number} {{ header "{header}" export * }}\n')
        file.write("}\n")


def compile_modules(headers, library):
    """Compiles each header as a submodule of its own. Returns (status, command, errors)."""
    compiler = [COMPILERS[library], f"-stdlib={library}", "-std=c++20"]
    with tempfile.TemporaryDirectory(prefix="berth_headers_") as folder:
        berth, standard = os.path.join(folder, "berth.map"), os.path.join(folder, "standard.map")
        write_modules(berth, "berth", [os.path.join(tree.ROOT, header) for header in headers])
        command = [*compiler, "-fmodules", f"-fmodules-cache-path={folder}",
                   "-Xclang", "-fmodules-local-submodule-visibility", *CPP[1:]]
        if library == "libstdc++":  # libc++ has its own modules.
            write_modules(standard, "standard [system]", standard_headers(headers, compiler))
            command += ["-Xclang", f"-fmodule-map-file={standard}"]
        command += ["-I", os.path.join(tree.ROOT, "sdk/include"), "-Xclang", "-emit-module",
                    "-fmodule-name=berth", "-x", "c++", "-c", berth, "-o", os.devnull]
        done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, " ".join(command), done.stderr


def stamp_of(headers):
    """Returns the path of the file that exists if these headers passed with these compilers."""
    state = hashlib.sha256()
    for tool in ("gcc", "clang", MODULES):
        state.update(subprocess.run([tool, "--version"], capture_output=True).stdout)
    for path in [*headers, "tests/lint/headers.py"]:
        with open(os.path.join(tree.ROOT, path), "rb") as file:
            state.update(path.encode() + hashlib.sha256(file.read()).digest())
    return os.path.join(tree.ROOT, "build", "lint", state.hexdigest())


def check(headers):
    """Returns [(header to report, (status, command, errors))]."""
    in_c = [header for header in headers if header.endswith(("/abi.h", "/plugin_c.h"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [(headers[-1], pool.submit(compile_modules, headers, library))
                for library in COMPILERS]
        for command in (["g++"], ["clang++"], ["clang++", "-stdlib=libc++"]):
            command = [*command, "-x", "c++", "-std=c++20"] + CPP
            work.append((headers[-1], pool.submit(compile_headers, headers, command)))
        for header in in_c:
            for command in c_jobs():
                work.append((header, pool.submit(compile_headers, [header], command)))
        return [(header, done.result()) for header, done in work]


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"headers: skipped: {', '.join(missing)} not found; see .ci/packages.txt")
        sys.exit(77)
    findings = tree.Findings("headers")
    headers = tree.files("sdk/include", ends=".h")
    stamp = stamp_of(headers)
    if os.path.exists(stamp):
        findings.end(len(headers))
    for header, (status, command, errors) in check(headers):
        if status:
            findings.add(header, 1, f"does not compile: include what it uses.\n  {command}\n{errors}")
    if not findings.texts:
        os.makedirs(os.path.dirname(stamp), exist_ok=True)
        with open(stamp, "w", encoding="utf-8"):
            pass
    findings.end(len(headers))


if __name__ == "__main__":
    main()
