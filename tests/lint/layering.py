"""Checks which files may include which others, and the include guards of headers."""

import re

import tree

# Inside host/, a folder may include itself and folders of a lower or equal rank. Folders of equal
# rank must not include each other in a cycle.
RANK = {"base": 0, "api": 1, "cluster": 2, "event": 3, "cache": 3, "queue": 3, "guard": 4,
        "runtime": 5, "cycle": 6, "contract": 7, "serve": 7, "process": 8, "cli": 9, "main.cc": 10}
# These two folders are outside of the ranks. They may include host/base/ and host/api/, and only the
# folders in ASIDE_USERS may include them. In addition, the files of runtime/ that create plans
# (RUNTIME_PLANS) may include them.
ASIDE = {"loader": 1, "config": 1}
ASIDE_USERS = {"main.cc", "cli", "process", "contract", "loader", "config"}
RUNTIME_PLANS = re.compile(r"host/runtime/(plan|profile)\w*\.(h|cc)$")

C_HEADERS = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads
time uchar wchar wctype""".split())
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def host_folder(path):
    return path.split("/")[1]


def check_host(path, name):
    """Returns None, or the reason why the host file `path` must not include `name` ("host/...")."""
    user, used = host_folder(path), name.split("/")[1]
    if user == used:
        return None
    if user not in RANK and user not in ASIDE:
        return f"host/{user}/ has no rank: add it to RANK in tests/lint/layering.py"
    if used in ASIDE:
        allowed = user in ASIDE_USERS or (user == "runtime" and RUNTIME_PLANS.match(path))
        return None if allowed else (
            f"only main, cli, process, contract and the files of runtime that create plans may "
            f"include host/{used}/: pass what is needed as an argument")
    if used not in RANK:
        return f"there is no folder host/{used}/"
    if user in ASIDE:
        return None if RANK[used] <= ASIDE[user] else (
            f"host/{user}/ may only include host/base/ and host/api/")
    if RANK[used] > RANK[user]:
        return (f"host/{user}/ must not include host/{used}/, which is above it. The order is "
                "main > cli > process > contract, serve > cycle > runtime > guard > "
                "queue, cache, event > cluster > api > base")
    return None


# Further headers that single files of the test kit may include.
KIT_EXTRA_HEADERS = {
    "sdk/include/berth/testing/gtest.h": ("gtest/gtest.h",),
    "sdk/testing/check_leaks.cc": ("malloc.h",),
    "sdk/testing/instance.cc": ("dlfcn.h",),
}


def check_contract(path, bracket, name):
    """Returns None, or the reason why a file of sdk/ or plugins/ must not include `name`."""
    is_test = path.endswith("_test.cc")
    if bracket == '"':
        if path.startswith("sdk/"):
            return "write <berth/...>: the SDK has only one include path"
        folder = path.rsplit("/", 1)[0] + "/"
        own = "/" not in name or name.startswith(folder)
        return None if own else "a plugin may only include <berth/...> and files of its own folder"
    if name.startswith("berth/testing/"):
        testing = is_test or path.startswith(("sdk/include/berth/testing/", "sdk/testing/", "tests/"))
        return None if testing else "only *_test.cc may include the test kit"
    if name in KIT_EXTRA_HEADERS.get(path, ()):
        return None
    if name.startswith("berth/") or (is_test and name.startswith(("gtest/", "gmock/"))):
        return None
    if name.endswith(".h"):
        standard = name[:-2] in C_HEADERS
    else:
        standard = re.fullmatch(r"[a-z_0-9]+", name) and path != "sdk/include/berth/abi.h"
    return None if standard else "the SDK and the plugins may only use the standard library"


def check_include(path, bracket, name):
    if ".." in name.split("/"):
        return "an include must not contain `..`: write the path from the root"
    if bracket == "<" and name.startswith(("host/", "plugins/")):
        return 'write headers of this tree with quotes: "host/..."'
    if bracket == '"' and name.startswith("berth/"):
        return "write headers of the SDK with angle brackets: <berth/...>"
    if path.startswith(("sdk/", "plugins/", "examples/")):
        return check_contract(path, bracket, name)
    if bracket == '"' and name.startswith("plugins/"):
        return "do not include a plugin: the host loads plugins at run time"
    if path.startswith("host/") and bracket == '"':
        if name.startswith("tests/"):
            allowed = path.endswith("_test.cc") and name.startswith("tests/harness/")
            return None if allowed else "only *_test.cc may include tests/, and only tests/harness/"
        if not name.startswith("host/"):
            return 'write the path from the root: "host/<folder>/<file>.h"'
        return check_host(path, name)
    return None


def expected_guard(path):
    path = re.sub(r"^sdk/include/", "", path)
    guard = re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"
    return guard if guard.startswith("BERTH_") else "BERTH_" + guard


def check_guard(path, findings):
    text = [line for _, line in tree.lines(path)]
    guard = expected_guard(path)
    if f"#ifndef {guard}" not in text or f"#define {guard}" not in text:
        findings.add(path, 1, f"wrong include guard: use #ifndef {guard} / #define {guard}")
    if any(re.match(r"\s*#\s*pragma\s+once", line) for line in text):
        findings.add(path, 1, "use an include guard instead of #pragma once")


def find_cycle(edges):
    """Returns a list of folders that include each other in a cycle, or None."""
    def visit(folder, trail):
        if folder in trail:
            return trail[trail.index(folder):] + [folder]
        for used in sorted(edges.get(folder, ())):
            cycle = visit(used, trail + [folder])
            if cycle:
                return cycle
        return None

    for folder in sorted(edges):
        cycle = visit(folder, [])
        if cycle:
            return cycle
    return None


def main():
    findings = tree.Findings("layering")
    edges, first_use = {}, {}
    paths = tree.files("sdk", "host", "plugins", "examples", "tests", ends=tree.CPP)
    for path in paths:
        if path.endswith(".h"):
            check_guard(path, findings)
        for number, line in tree.lines(path):
            match = INCLUDE.match(line)
            if not match:
                continue
            problem = check_include(path, *match.groups())
            if problem:
                findings.add(path, number, f"{line.strip()}: {problem}")
            if path.startswith("host/") and match.group(2).startswith("host/"):
                user, used = host_folder(path), match.group(2).split("/")[1]
                if user != used and not path.endswith("_test.cc"):
                    edges.setdefault(user, set()).add(used)
                    first_use.setdefault((user, used), (path, number))
    cycle = find_cycle(edges)
    if cycle:
        path, number = first_use[(cycle[0], cycle[1])]
        findings.add(path, number, "folders include each other in a cycle: " + " > ".join(cycle))
    findings.end(len(paths))


if __name__ == "__main__":
    main()
