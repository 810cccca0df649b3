"""Loads the golden plugins with the host of a build, whatever its compiler, options and sanitizers:
those that golden.py builds from this tree, and the binaries of every release in golden/.

usage: golden_test.py HOST
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import golden
sys.path.insert(0, os.path.join(golden.SDK, "abi"))
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import lock as locks

HOST = sys.argv[1]
LOCK = os.path.join(golden.SDK, "abi", "abi.lock")
RELEASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class GoldenTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [tool for tool in ("gcc", "g++", "clang", "clang++")
                   if not shutil.which(tool)]
        if missing:
            raise AssertionError(f"{', '.join(missing)} not found: see .ci/packages.txt")
        cls.temporary = tempfile.TemporaryDirectory(prefix="berth_golden_")
        golden.build(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_host(self, folder, *arguments):
        done = subprocess.run([HOST, *arguments], cwd=folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0,
                         f"berth {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def chosen(self, folder, pod, *options):
        explained = json.loads(self.run_host(folder, "explain", "--cluster", "cluster.yaml",
                                             "--pod", pod, "--output", "json", *options))
        return explained["selected"]

    def check(self, folder):
        name = os.path.basename(folder)
        library = f"lib{name}.so"
        described = json.loads(self.run_host(folder, "plugin", "describe", library, "--output",
                                             "json"))
        self.assertEqual(described["warnings"], [])
        expected = json.loads(read_text(os.path.join(folder, "expected.json")))
        if "nodes" in expected:
            self.check_everything(folder, expected["nodes"])
            return
        self.run_host(folder, "plugin", "check", library, "--cluster", "cluster.yaml", "--args",
                      json.dumps(expected["args"]))
        self.assertEqual(self.chosen(folder, expected["pod"]), [expected["without"]])
        self.assertEqual(self.chosen(folder, expected["pod"], "--profile", "profile.toml"),
                         [expected["with"]])

    def check_everything(self, folder, nodes):
        """Checks the log and the placements of the plugin that uses everything."""
        command = [HOST, "simulate", "--cluster", "cluster.yaml", "--profile", "profile.toml",
                   "--output", "json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        logged = re.findall(r"(?m)^berth: warning: golden\.Everything: (.*)$", done.stderr)
        expected = read_text(os.path.join(folder, "expected.log")).splitlines()
        self.assertEqual(logged, expected)
        placed = {pod["name"]: pod["node"] for pod in json.loads(done.stdout)["placements"]}
        self.assertEqual(placed, nodes)

    def test_everything_is_used(self):
        """The plugin that uses everything notes each extension point and calls each function of
        each service, as far as the lock lists them."""
        source = read_text(os.path.join(golden.EVERYTHING, "everything.c"))
        lock = locks.parse(read_text(LOCK))
        for name, text in lock.strings.items():
            if name.startswith("BERTH_POINT_") or name.startswith("BERTH_SERVICE_"):
                self.assertIn(name, source, text)
            if not name.startswith("BERTH_SERVICE_"):
                continue
            service = "node_lookup" if name == "BERTH_SERVICE_NODES" else name[14:].lower()
            member = "nodes" if service == "node_lookup" else service
            for function in lock.structs["berth_" + service].members:
                if "(*)" in function.type:
                    called = re.search(rf"\b(g->{member}|{member[0]})->{function.name}\(", source)
                    self.assertTrue(called, f"{text}: {function.name}")

    def test_plugins_of_this_tree(self):
        for name in [*golden.PLUGINS, *golden.EVERYTHING_PLUGINS]:
            with self.subTest(name):
                self.check(os.path.join(self.temporary.name, name))

    def test_plugins_of_releases(self):
        libraries = sorted(glob.glob(os.path.join(RELEASES, "*", "*", "lib*.so")))
        is_draft = " draft\n" in read_text(LOCK)
        if is_draft and not libraries:
            self.skipTest("version 1 is a draft: no release has golden plugins")
        self.assertTrue(libraries, f"the version is frozen: write its golden plugins to {RELEASES}")
        for library in libraries:
            with self.subTest(library):
                self.check(os.path.dirname(library))

    def test_libraries_use_the_standard_library_of_their_name(self):
        for name, needed, other in (("cpp_gcc", "libstdc++", "libc++.so"),
                                    ("cpp_libcxx", "libc++", "libstdc++.so")):
            library = os.path.join(self.temporary.name, name, f"lib{name}.so")
            listed = subprocess.run(["ldd", library], capture_output=True, text=True,
                                    check=True).stdout
            self.assertIn(needed, listed)
            self.assertNotIn(other, listed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
