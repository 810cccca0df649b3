"""Checks that .ci/packages.txt lists everything that the build uses.

Usage: packages.py <build folder>

Collects the files that the build used: headers (from the build's dependency log), shared libraries
(of every binary), CMake packages and tools (from CMake's cache), and the tools of the tests. Each
must belong to a Debian package of the list or to one of its dependencies. Files that belong to no
package (a compiler in a home folder) are not checked.
"""

import os
import re
import shutil
import subprocess
import sys

import tree

LIST = ".ci/packages.txt"
# The tools that the scripts of the tests start by name.
TOOLS = ("cargo", "clang", "clang++", "clang-format", "clang-tidy", "git", "kubectl",
         "ld.lld", "ldd", "nm", "openssl", "pkg-config", "python3", "rustc")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout


def listed():
    """Returns {package: line}; every alternative of a line `a | b` counts."""
    return {name.strip(): number for number, line in tree.lines(LIST)
            if line.strip() and not line.startswith("#") for name in line.split("|")}


def closure(names):
    """Returns `names`, the essential packages, and all installed packages that these depend on."""
    depends, provided, todo = {}, {}, list(names)
    status = run("dpkg-query", "-W", "-f",
                 "${Package}\t${Pre-Depends}, ${Depends}\t${Provides}\t${Essential}\n")
    for line in status.splitlines():
        package, needs, provides, essential = line.split("\t")
        if essential == "yes":
            todo.append(package)
        words = [re.split(r"[ (:]", word.strip())[0] for word in re.split(r"[,|]", needs)]
        depends.setdefault(package, set()).update(filter(None, words))
        for virtual in provides.split(","):
            provided.setdefault(re.split(r"[ (:]", virtual.strip())[0], set()).add(package)
    seen = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        todo.extend(depends.get(name, ()))
        todo.extend(provided.get(name, ()) if name not in depends else ())
    return seen


def used_headers(build):
    """Returns {header: the first source that includes it} for the headers outside of the tree."""
    used, source = {}, "?"
    for line in run("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            source = ""
            continue
        path = os.path.normpath(os.path.join(build, line.strip()))
        source = source or os.path.relpath(path, tree.ROOT)
        if not path.startswith((tree.ROOT + "/", build + "/")):
            used.setdefault(path, source)
    return used


def used_libraries(build):
    """Returns {shared library: the first binary that needs it}."""
    used = {}
    for folder, _, names in os.walk(build):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith((".o", ".a", ".gch")) or not is_elf(path):
                continue
            for match in re.finditer(r"=> (/\S+)", run("ldd", path)):
                used.setdefault(match.group(1), os.path.relpath(path, build))
    return used


def is_elf(path):
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def used_by_cmake(build):
    """Returns {file of a CMake package, or tool: the cache entry that names it}."""
    used = {}
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        for line in file:
            match = re.match(r"(\w[\w+-]*?)(:INTERNAL|:PATH|:FILEPATH)=(/\S+)$", line.strip())
            if not match or match.group(3).startswith((tree.ROOT, build)):
                continue
            name, path = match.group(1), match.group(3)
            if name.endswith("_DIR") and os.path.isdir(path):
                path = next((os.path.join(path, file) for file in sorted(os.listdir(path))
                             if file.lower().endswith("config.cmake")), path)
            if os.path.isfile(path):
                used[path] = f"{name} in CMakeCache.txt"
    return used


def owners(paths):
    """Returns {path: package} for the paths that a package owns."""
    candidates = {}
    for path in paths:
        for form in (path, os.path.realpath(path)):
            candidates[form] = path
            candidates[form.removeprefix("/usr") if form.startswith("/usr/lib") else form] = path
    names, owned = sorted(candidates), {}
    for start in range(0, len(names), 500):
        for line in run("dpkg", "-S", *names[start:start + 500]).splitlines():
            packages, _, path = line.partition(": ")
            if path in candidates:
                owned[candidates[path]] = packages.split(",")[0].split(":")[0]
    return owned


def main():
    if not shutil.which("dpkg-query") or not shutil.which("ninja"):
        print("packages: skipped: needs dpkg-query and ninja")
        sys.exit(77)
    build = os.path.abspath(sys.argv[1])
    findings = tree.Findings("packages")
    names = listed()
    allowed = closure(names)
    used = {**used_headers(build), **used_libraries(build), **used_by_cmake(build),
            **{shutil.which(tool): "the tests" for tool in TOOLS if shutil.which(tool)}}
    owned = owners(used)
    missing = {}
    for path, package in sorted(owned.items()):
        if package not in allowed:
            missing.setdefault(package, path)
    for package, path in missing.items():
        findings.add(LIST, 1, f"{package} is missing in the list: {used[path]} uses {path}")
    findings.end(len(owned))


if __name__ == "__main__":
    main()
