"""Installs a build folder, for tests that run outside the source tree."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))  # for the module compilers


class InstalledTest(unittest.TestCase):
    """`self.folder` is a folder for the tests; `self.prefix` is the installation in it."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="berth_out_of_tree_")
        cls.folder = cls.temporary.name
        cls.prefix = os.path.join(cls.folder, "prefix")
        cls.berth = os.path.join(cls.prefix, "bin", "berth")
        done = subprocess.run(["cmake", "--install", sys.argv[1], "--prefix", cls.prefix],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        libraries = next(folder for folder, _, files in os.walk(cls.prefix)
                         if "berth-sdk.pc" in files)
        # The tests must find everything through the installation, not in the source tree.
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": libraries,
                           "CMAKE_PREFIX_PATH": cls.prefix}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def run_in(self, folder, *command, status=0, **environment):
        """Returns the standard output of the command; fails the test on another exit status."""
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                              env={**self.environment, **environment})
        self.assertEqual(done.returncode, status,
                         f"{' '.join(command)} in {folder}:\n{done.stdout}\n{done.stderr}")
        return done.stdout + (done.stderr if status else "")

    def copy(self, name, to=None):
        """Returns a copy of an example plugin, without what was built in it."""
        folder = os.path.join(self.folder, to or name)
        shutil.copytree(os.path.join(ROOT, "examples", "plugins", name), folder,
                        ignore=shutil.ignore_patterns("build", "target", "Cargo.lock",
                                                      "__pycache__"))
        return folder

    def build(self, folder, *options, tests=True, build="build"):
        """Builds the plugin in `folder` as its README describes."""
        self.run_in(folder, "cmake", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                    f"-DBUILD_TESTING={'ON' if tests else 'OFF'}", *options)
        self.run_in(folder, "cmake", "--build", build)
        if tests:
            self.run_in(folder, "ctest", "--test-dir", build, "--output-on-failure",
                        "--no-tests=error")

    def rust_sdk(self):
        """Returns the folder of the installed crate."""
        return self.run_in(self.folder, "pkg-config", "--variable=rustdir", "berth-sdk").strip()

    def build_rust(self, folder, rustc, crate, out):
        """Builds the library and runs its tests, with the compiler only."""
        common = (rustc, "--edition", "2021", "-D", "warnings")
        self.run_in(folder, *common, "-O", "--crate-name", "berth", "--crate-type", "rlib",
                    os.path.join(self.rust_sdk(), "src", "lib.rs"))
        common += ("--crate-name", crate, "--extern", "berth=libberth.rlib", "src/lib.rs")
        self.run_in(folder, *common, "-O", "--crate-type", "cdylib", "-o", out)
        self.run_in(folder, *common, "--test", "-o", "tests")
        self.run_in(folder, os.path.join(folder, "tests"))

    def keeps_contract(self, library, args="{}"):
        self.run_in(self.folder, self.berth, "plugin", "check", library, "--args", args)

    def expect_decision(self, folder, pod, without, with_it):
        """Asserts the node that is chosen for the pod without and with the profile."""
        self.assertEqual(self.chosen(folder, pod), without)
        self.assertEqual(self.chosen(folder, pod, "--profile", "profile.toml"), with_it)

    def chosen(self, folder, pod, *options):
        """Returns the node that is chosen for a pod of the folder's cluster."""
        explained = json.loads(self.run_in(folder, self.berth, "explain", "--cluster",
                                           "cluster.yaml", "--pod", pod, "--output", "json",
                                           *options))
        node, = explained["selected"]  # More than one node would be a tie.
        return node


def main():
    unittest.main(argv=sys.argv[:1], verbosity=2)
