"""Who may include whom; how a header is guarded."""

import re

import tree

# Inside host/: a folder includes itself and folders of a lower or equal rank; equals not in a circle.
RANK = {"base": 0, "api": 1, "cluster": 2, "event": 3, "cache": 3, "queue": 3, "guard": 4,
        "runtime": 5, "cycle": 6, "contract": 7, "serve": 7, "process": 8, "cli": 9, "main.cc": 10}
# loader/ and config/ stand beside the flow: they use base/ and api/ alone, and only the folders named
# here use them. runtime/ owns the plugin instances, which loader/ creates; only its plan and profile
# files know config/.
ASIDE = {"loader": 1, "config": 1}
ASIDE_USERS = {"main.cc", "cli", "process", "contract", "loader", "config"}
RUNTIME_PROFILES = re.compile(r"host/runtime/(plan|profile)\w*\.(h|cc)$")

C_HEADERS = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads
time uchar wchar wctype""".split())
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def host_folder(path):
    return path.split("/")[1]


def check_host(path, name):
    """None, or why host file `path` must not include "host/<name>"."""
    user, used = host_folder(path), name.split("/")[1]
    if user == used:
        return None
    if user not in RANK and user not in ASIDE:
        return f"host/{user}/ has no rank; give it one in tests/lint/layering.py"
    if used in ASIDE:
        allowed = user in ASIDE_USERS or (
            user == "runtime" and (used == "loader" or RUNTIME_PROFILES.match(path)))
        return None if allowed else (f"host/{used}/ is for main, cli, process, contract and runtime; pass "
                                                 "what is needed as an argument")
    if used not in RANK:
        return f"there is no host/{used}/"
    if user in ASIDE:
        return None if RANK[used] <= ASIDE[user] else (
            f"host/{user}/ may use host/base/ and host/api/ alone")
    if RANK[used] > RANK[user]:
        return (f"host/{used}/ stands above host/{user}/; includes go downwards: "
                "main > cli > process > contract, serve > cycle > runtime > guard > "
                "queue, cache, event > cluster > api > base")
    return None


# What the test kit needs of the system, in the one place of each.
KIT_ALSO = {
    "sdk/include/berth/testing/check_leaks.h": ("malloc.h",),
    "sdk/include/berth/testing/gtest.h": ("gtest/gtest.h",),
    "sdk/include/berth/testing/instance.h": ("dlfcn.h",),
}


def check_contract(path, bracket, name):
    """None, or why a file of sdk/ or plugins/ must not include `name`."""
    is_test = path.endswith("_test.cc")
    if bracket == '"':
        if path.startswith("sdk/"):
            return "write <berth/...>: the SDK has one include path"
        folder = path.rsplit("/", 1)[0] + "/"
        own = "/" not in name or name.startswith(folder)
        return None if own else "a plugin includes <berth/...> and its own folder, nothing else"
    if name.startswith("berth/testing/"):
        testing = is_test or path.startswith(("sdk/include/berth/testing/", "tests/"))
        return None if testing else "the test kit is for *_test.cc"
    if name in KIT_ALSO.get(path, ()):
        return None
    if name.startswith("berth/") or (is_test and name.startswith(("gtest/", "gmock/"))):
        return None
    if name.endswith(".h"):
        standard = name[:-2] in C_HEADERS
    else:
        standard = re.fullmatch(r"[a-z_0-9]+", name) and path != "sdk/include/berth/abi.h"
    return None if standard else "the SDK and the plugins use the standard library alone"


def check_include(path, bracket, name):
    if ".." in name.split("/"):
        return "no `..` in an include: write the path from the root"
    if bracket == "<" and name.startswith(("host/", "plugins/")):
        return 'ours is written with quotes: "host/..."'
    if bracket == '"' and name.startswith("berth/"):
        return "the contract is written <berth/...>"
    if path.startswith(("sdk/", "plugins/", "examples/")):
        return check_contract(path, bracket, name)
    if bracket == '"' and name.startswith("plugins/"):
        return "a plugin is found at run time, through a profile"
    if path.startswith("host/") and bracket == '"':
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
        findings.add(path, 1, f"guard the header with #ifndef {guard} / #define {guard}")
    if any(re.match(r"\s*#\s*pragma\s+once", line) for line in text):
        findings.add(path, 1, "use the include guard, not #pragma once")


def find_circle(edges):
    """A list of folders that include each other in a circle, or None."""
    def visit(folder, trail):
        if folder in trail:
            return trail[trail.index(folder):] + [folder]
        for used in sorted(edges.get(folder, ())):
            circle = visit(used, trail + [folder])
            if circle:
                return circle
        return None

    for folder in sorted(edges):
        circle = visit(folder, [])
        if circle:
            return circle
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
    circle = find_circle(edges)
    if circle:
        path, number = first_use[(circle[0], circle[1])]
        findings.add(path, number, "folders include each other in a circle: " + " > ".join(circle))
    findings.end(len(paths))


if __name__ == "__main__":
    main()
