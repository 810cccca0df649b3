"""The example plugins in Go and Python are built and run with the commands of their README, decide,
and turn their errors into a status. Exits with 77 if the toolchain of the language is not
installed.

usage: runtimes_test.py BUILD_FOLDER go|python
"""

import os
import re
import shutil
import subprocess
import sys

import installed

LEFT_OUT = 77
PREFIX = "<where Berth is installed>"


class RuntimeTest(installed.InstalledTest):
    def follow_readme(self, folder):
        """Runs the commands of the README in `folder`; returns what they print."""
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            commands, = re.findall(r"(?ms)^```\n(.*?)^```$", file.read())
        self.assertIn(PREFIX, commands)
        # A test of Go as a position-independent executable shares the compiled standard library
        # with the plugin.
        environment = {"PKG_CONFIG_PATH": "", "CMAKE_PREFIX_PATH": "", "GOPROXY": "off",
                       "GOFLAGS": "-buildmode=pie -vet=off"}
        return self.run_in(folder, "bash", "-euc", commands.replace(PREFIX, self.prefix),
                           **environment)

    def rewrite(self, folder, name, before, after):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(before, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after))

    def expect_error(self, folder, pod, text):
        """Asserts that the attempt for the pod fails with `text`, in a process that goes on."""
        self.assertIn(text, self.run_in(folder, self.berth, "explain", "--cluster", "cluster.yaml",
                                        "--pod", pod, "--profile", "profile.toml", status=1))

    def expect_rejected_argument(self, folder, argument):
        self.rewrite(folder, "profile.toml", f"{argument} = ", f"{argument} = -")
        self.assertIn(argument, self.run_in(folder, self.berth, "profile", "check", "profile.toml",
                                            status=2))


class GoTest(RuntimeTest):
    def test_example(self):
        folder = self.copy("go")
        self.assertIn("exact", self.follow_readme(folder))
        self.expect_decision(folder, "default/web", "roomy", "exact")

        self.rewrite(folder, "policy.go", "\tleft := ", "\tpanic(\"a mistake\")\n\tleft := ")
        flags = self.run_in(folder, "pkg-config", "--variable=plugin_ldflags", "berth-sdk").strip()
        self.run_in(folder, "go", "build", "-buildmode=c-shared", "-o", "build/libno_crumbs.so",
                    "-ldflags", f"-extldflags '{flags}'", ".")
        self.expect_error(folder, "default/web", "panic: a mistake")
        self.expect_rejected_argument(folder, "crumbMilli")


class PythonTest(RuntimeTest):
    def test_example(self):
        folder = self.copy("python")
        self.assertIn("much-memory", self.follow_readme(folder))
        self.expect_decision(folder, "default/cache", "many-cores", "much-memory")

        # A module in C, and one that takes SIGINT if nothing prevents it.
        self.rewrite(folder, "policy.py", "\n\nclass Policy",
                     "import _decimal, subprocess\n\n\nclass Policy")
        self.run_in(folder, "cmake", "--build", "build")
        self.expect_decision(folder, "default/cache", "many-cores", "much-memory")

        self.rewrite(folder, "policy.py", "return gap(", "return gop(")
        self.run_in(folder, "cmake", "--build", "build")
        self.expect_error(folder, "default/cache", "NameError: name 'gop' is not defined")
        self.expect_rejected_argument(folder, "maxGapPercent")


def missing():
    """Returns what is not installed, or an empty text."""
    if sys.argv[2] == "go":
        return "" if shutil.which("go") else "go"
    found = subprocess.run(["pkg-config", "--exists", "python3-embed"], check=False).returncode == 0
    return "" if found else "python3-dev (python3-embed of pkg-config)"


if __name__ == "__main__":
    if missing():
        print(f"left out: the example in {sys.argv[2]} needs {missing()}, which is not installed")
        sys.exit(LEFT_OUT)
    test = {"go": "GoTest", "python": "PythonTest"}[sys.argv[2]]
    installed.unittest.main(argv=[sys.argv[0], test], verbosity=2)
