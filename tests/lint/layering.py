"""Checks which files may include which others, and the include guards of headers.

The order of the rooms of host/ is read from host/layers.txt. `layering.py --report` prints every
include that breaks this order, and a table of the rooms.
"""

import re
import sys

import tree

C_HEADERS = set("""assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
signal stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads
time uchar wchar wctype""".split())
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    """Returns the room of a path in host/: "host/cycle/a.cc" is in "cycle". host/main.cc is one, too."""
    return path.removeprefix("host/").rpartition("/")[0] or path.removeprefix("host/")


def is_test(path):
    return path.endswith("_test.cc") or path.rpartition("/")[2].startswith("test_")


def is_in(room, folder):
    return room == folder or room.startswith(folder + "/")


class Layers:
    """The layers of host/, as host/layers.txt states them."""

    def __init__(self, text):
        self.rank, self.users, self.libraries = {}, {}, {}
        section, layers = None, []
        for line in text.split("\n"):
            line = line.partition("#")[0].strip()
            if line.startswith("["):
                section = line
            elif line and section == "[layers]":
                layers.append(line.split())
            elif line and section == "[users]":
                used, _, users = line.partition(":")
                self.users[used] = users.split()
            elif line and section == "[libraries]":
                library, _, users = line.partition(":")
                self.libraries[library] = users.split()
        for rank, rooms in enumerate(reversed(layers)):
            self.rank.update((room, rank) for room in rooms)

    def check(self, user, used, is_test=False):
        """Returns None, or the reason why files of the room `user` must not include `used`."""
        if user == used or (is_test and user.partition("/")[0] == used.partition("/")[0]):
            return None
        for room in (user, used):
            if room not in self.rank:
                return f"host/{room} is not in host/layers.txt: add it to [layers] there"
        if self.rank[used] > self.rank[user]:
            return f"host/{used} is above host/{user} in host/layers.txt"
        if self.rank[used] == self.rank[user]:
            return f"host/{used} and host/{user} are on one line of host/layers.txt"
        for folder, users in self.users.items():
            allowed = is_test or any(is_in(user, own) for own in users + [folder])
            if is_in(used, folder) and not allowed:
                return (f"by host/layers.txt only {', '.join(users)} use host/{folder}: pass what "
                        "is needed as an argument")
        return None

    def check_library(self, user, header):
        """Returns None, or the reason why files of the room `user` must not include <header>."""
        for library, users in self.libraries.items():
            if header.startswith(library) and not any(is_in(user, own) for own in users):
                return (f"by host/layers.txt only {', '.join(users)} include <{library}...>: use an "
                        "interface of theirs")
        return None


def read_layers():
    return Layers("\n".join(line for _, line in tree.lines("host/layers.txt")))


# Further headers that single files of the test kit and of the examples may include.
EXTRA_HEADERS = {
    "examples/plugins/python/plugin.c": ("Python.h", "dlfcn.h", "structseq.h"),
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
    if name in EXTRA_HEADERS.get(path, ()):
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


def includes(paths):
    """Yields (path, line number, line, bracket, name) of each include."""
    for path in paths:
        for number, line in tree.lines(path):
            match = INCLUDE.match(line)
            if match:
                yield path, number, line.strip(), *match.groups()


def host_arrows(layers, paths):
    """Yields (path, line number, user, used, problem) of each include between two rooms of host/."""
    for path, number, _, bracket, name in includes(paths):
        if path.startswith("host/") and bracket == '"' and name.startswith("host/"):
            user, used = room_of(path), room_of(name)
            if user != used:
                yield path, number, user, used, layers.check(user, used, is_test(path))


def report(layers):
    """Prints every include that breaks the order, and a table."""
    paths = tree.files("host", ends=tree.CPP)
    files, arrows_up = {}, {}
    for path in paths:
        files.setdefault(room_of(path), []).append(path)
    for path, number, user, used, problem in host_arrows(layers, paths):
        if problem:
            print(f"{path}:{number}: {user} -> {used}: {problem}")
            arrows_up[user] = arrows_up.get(user, 0) + 1
    print(f"\n{'room':28}{'files':>7}{'tests':>7}{'lines':>8}{'up':>5}   (lines: without tests)")
    for room in sorted(set(files) | set(layers.rank), key=lambda room: -layers.rank.get(room, -1)):
        code = [path for path in files.get(room, ()) if not path.endswith("_test.cc")]
        print(f"{room:28}{len(code):7}{len(files.get(room, ())) - len(code):7}"
              f"{sum(len(tree.lines(path)) - 1 for path in code):8}{arrows_up.get(room, 0):5}")
    code = [path for path in paths if not path.endswith("_test.cc")]
    print(f"{'all':28}{len(code):7}{len(paths) - len(code):7}"
          f"{sum(len(tree.lines(path)) - 1 for path in code):8}{sum(arrows_up.values()):5}")


def main():
    layers = read_layers()
    if "--report" in sys.argv[1:]:
        return report(layers)
    findings = tree.Findings("layering")
    paths = tree.files("sdk", "host", "plugins", "examples", "tests", ends=tree.CPP)
    for path in paths:
        if path.endswith(".h"):
            check_guard(path, findings)
    for path, number, line, bracket, name in includes(paths):
        problem = check_include(path, bracket, name)
        if path.startswith("host/") and bracket == "<" and not is_test(path):
            problem = problem or layers.check_library(room_of(path), name)
        if problem:
            findings.add(path, number, f"{line}: {problem}")
    for path, number, user, used, problem in host_arrows(layers, paths):
        if problem:
            findings.add(path, number, f"{user} -> {used}: {problem}")
    rooms = {room_of(path) for path in paths if path.startswith("host/")}
    for room in sorted(rooms ^ set(layers.rank)):
        findings.add("host/layers.txt", 1, f"[layers] lists {room}, which has no files: delete it"
                     if room in layers.rank else f"[layers] lacks {room}: add it")
    return findings.end(len(paths))


if __name__ == "__main__":
    main()
