"""Builds the golden plugins: the example plugins as a third party would build them, each by another
compiler or against another standard library, and the plugin of everything/, which uses every
extension point and every service.

usage: golden.py FOLDER

Writes each library with its profile, its cluster and the expected decisions into a folder of its
own: FOLDER/<name>/{lib<name>.so,profile.toml,cluster.yaml,expected.json}, and for the plugin that
uses everything also expected.log, what the plugin logs. The set of a release goes
to tests/abi/golden/<version>: the test loads those binaries in every later version. While version 1
is a draft there is no such set, and the test builds one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SDK = os.path.join(ROOT, "sdk")
EXAMPLES = os.path.join(ROOT, "examples", "plugins")
EVERYTHING = os.path.join(ROOT, "tests", "abi", "everything")
sys.path.insert(0, os.path.join(ROOT, "tests"))

# pylint: disable=wrong-import-position
from compilers import rust_compilers

COMMON = ["-O2", "-g0", "-s", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror",
          "-I", os.path.join(SDK, "include"), "-shared", "-Wl,-z,defs", "-Wl,-z,now",
          "-Wl,-z,relro", "-Wl,--exclude-libs,ALL",
          "-Wl,--version-script=" + os.path.join(SDK, "cmake", "berth_plugin.version")]
C = ["-std=c11", *COMMON, os.path.join(EXAMPLES, "c", "memory_headroom.c")]
C_EVERYTHING = ["-std=c11", *COMMON, os.path.join(EVERYTHING, "everything.c")]
CPP = ["-std=c++20", "-fvisibility-inlines-hidden", *COMMON,
       os.path.join(EXAMPLES, "cpp", "rack_power.cc")]

# name: (the example's folder, the command that builds it, the pod, its node without the plugin, its
# node with the plugin)
PLUGINS = {
    "c_gcc": ("c", ["gcc", *C], "default/web", "many-cores", "much-memory"),
    "c_clang": ("c", ["clang", *C], "default/web", "many-cores", "much-memory"),
    "cpp_gcc": ("cpp", ["g++", "-fno-gnu-unique", *CPP], "default/batch", "r1-big", "r2-small"),
    "cpp_libcxx": ("cpp", ["clang++", "-stdlib=libc++", *CPP], "default/batch", "r1-big",
                   "r2-small"),
    "rust": ("rust", ["rustc"], "default/thrifty", "dear", "cheap"),
}
EVERYTHING_PLUGINS = {"everything_gcc": ["gcc", *C_EVERYTHING],
                      "everything_clang": ["clang", *C_EVERYTHING]}
# The nodes of its pods.
PLACEMENTS = {"big": "n1", "first": "n2", "gated": "n2", "second": "n2"}
# Arguments that an example requires.
ARGS = {"cpp": {"wattsPerRack": 1000}}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


def build_library(name, command, out):
    if name != "rust":
        run(*command, "-o", out)
        return
    rustc = [rust_compilers()[0], "--edition", "2021", "-C", "opt-level=s", "-C", "strip=symbols",
             "-D", "warnings"]
    with tempfile.TemporaryDirectory() as folder:
        crate = os.path.join(folder, "libberth.rlib")
        run(*rustc, "--crate-type", "rlib", "--crate-name", "berth",
            os.path.join(SDK, "rust", "src", "lib.rs"), "-o", crate)
        run(*rustc, "--crate-type", "cdylib", "--crate-name", "cheapest_node", "--extern",
            f"berth={crate}", os.path.join(EXAMPLES, "rust", "src", "lib.rs"), "-o", out)


def build_one(name, command, source, to, expected):
    """Builds a library, and copies what belongs to it from the folder `source`."""
    os.makedirs(to, exist_ok=True)
    build_library(name, command, os.path.join(to, f"lib{name}.so"))
    shutil.copy(os.path.join(source, "cluster.yaml"), to)
    with open(os.path.join(source, "profile.toml"), encoding="utf-8") as file:
        profile, found = re.subn('(?m)^library = ".*"$', f'library = "lib{name}.so"', file.read())
    assert found == 1, f"{source}/profile.toml: expected one library"
    with open(os.path.join(to, "profile.toml"), "w", encoding="utf-8") as file:
        file.write(profile)
    with open(os.path.join(to, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file)
        file.write("\n")


def build(folder):
    """Builds all golden plugins."""
    for name, (example, command, pod, without, with_it) in PLUGINS.items():
        build_one(name, command, os.path.join(EXAMPLES, example), os.path.join(folder, name),
                  {"pod": pod, "without": without, "with": with_it, "args": ARGS.get(example, {})})
    for name, command in EVERYTHING_PLUGINS.items():
        build_one(name, command, EVERYTHING, os.path.join(folder, name), {"nodes": PLACEMENTS})
        shutil.copy(os.path.join(EVERYTHING, "expected.log"), os.path.join(folder, name))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build(sys.argv[1])
