"""Builds each plugin of examples/plugins against an installation, by other compilers than
the host's.

usage: examples_test.py BUILD_FOLDER
"""

import json
import os
import re
import shutil
import subprocess
import sys

import installed
from compilers import rust_compilers


class ExamplesTest(installed.InstalledTest):
    def check(self, library, name, argument=None, args="{}"):
        """Checks and describes the library with the installed host."""
        self.keeps_contract(library, args)
        described = json.loads(self.run_in(self.folder, self.berth, "plugin", "describe", library,
                                           "--output", "json"))
        plugin, = described["plugins"]
        self.assertEqual(plugin["name"], name)
        if argument is not None:
            self.assertIn(argument, plugin["argsSchema"]["properties"])
        self.assertTrue({"PreFilter", "Filter", "Score"} <=
                        {point["name"] for point in plugin["points"]})
        self.assertEqual(described["warnings"], [])

    def test_cpp(self):
        folder = self.copy("cpp")
        self.build(folder)
        self.check(os.path.join(folder, "build", "librack_power.so"), "acme.RackPower",
                   "wattsPerRack", '{"wattsPerRack": 10}')
        # Uses another compiler and standard library than the host. GoogleTest is not built for this
        # library.
        self.build(folder, "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_CXX_FLAGS=-stdlib=libc++",
                   tests=False, build="foreign")
        library = os.path.join(folder, "foreign", "librack_power.so")
        self.assertIn("libc++", self.run_in(folder, "ldd", library))
        self.assertNotIn("libstdc++", self.run_in(folder, "ldd", library))
        self.check(library, "acme.RackPower", "wattsPerRack", '{"wattsPerRack": 10}')
        shutil.copy(library, os.path.join(folder, "build"))
        self.expect_decision(folder, "default/batch", "r1-big", "r2-small")

    def test_guide(self):
        """Every link of an installed page leads to something that is installed."""
        guide = os.path.join(self.prefix, "share", "doc", "berth")
        pages = [os.path.join(folder, name) for folder, _, names in os.walk(guide)
                 for name in names if name.endswith(".md")]
        expected = {os.path.join(guide, "sdk", name)
                    for name in ("README.md", "services.md", "testing.md")}
        self.assertLessEqual(expected, set(pages))
        for page in pages:
            with open(page, encoding="utf-8") as file:
                targets = re.findall(r"\]\(([A-Za-z.][\w./-]*)(?:#[a-z-]*)?\)", file.read())
            for target in targets:
                with self.subTest(page=page, target=target):
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(page), target)))

    def test_gpu_share(self):
        folder = self.copy("gpu_share")
        self.build(folder)
        self.check(os.path.join(folder, "build", "libgpu_share.so"), "acme.GpuShare")
        self.expect_decision(folder, "default/notebook", "roomy", "busy")

    def test_job_gang(self):
        folder = self.copy("job_gang")
        self.build(folder)
        self.keeps_contract(os.path.join(folder, "build", "libjob_gang.so"))
        placed = json.loads(self.run_in(folder, self.berth, "simulate", "--cluster",
                                        "cluster.yaml", "--profile", "profile.toml", "--output",
                                        "json", status=1))["placements"]
        self.assertEqual({pod["name"] for pod in placed if "node" in pod}, {"small-1", "small-2"})

    def test_webhook_score(self):
        folder = self.copy("webhook_score")
        self.build(folder)
        self.keeps_contract(os.path.join(folder, "build", "libwebhook_score.so"),
                            '{"url": "http://127.0.0.1:1/rate"}')
        server = subprocess.Popen([sys.executable, "server.py", "0"], cwd=folder,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        port = int(server.stdout.readline())
        profile = os.path.join(folder, "profile.toml")
        with open(profile, encoding="utf-8") as file:
            text = file.read()
        with open(profile, "w", encoding="utf-8") as file:
            file.write(text.replace(":8090/", f":{port}/"))
        for options, node in (((), "large"), (("--profile", "profile.toml"), "green")):
            placed, = json.loads(self.run_in(folder, self.berth, "simulate", "--cluster",
                                             "cluster.yaml", "--output", "json",
                                             *options))["placements"]
            self.assertEqual(placed["node"], node)

    def test_kit_from_source(self):
        # The installed kit uses libstdc++, so that tests with libc++ need their own.
        folder = self.copy("cpp", to="kit_from_source")
        sources = os.path.join(installed.ROOT, "tests", "out_of_tree", "kit_from_source")
        for name in os.listdir(sources):
            shutil.copy(os.path.join(sources, name), folder)
        self.build(folder, "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_CXX_FLAGS=-stdlib=libc++")

    def test_c(self):
        folder = self.copy("c")
        self.build(folder, "-DCMAKE_C_COMPILER=clang")
        self.check(os.path.join(folder, "build", "libmemory_headroom.so"), "acme.MemoryHeadroom",
                   "percent")
        self.expect_decision(folder, "default/web", "many-cores", "much-memory")
        # A profile that does not run PreFilter, on which Filter depends.
        profile = os.path.join(folder, "profile.toml")
        with open(profile, encoding="utf-8") as file:
            text = file.read()
        with open(profile, "w", encoding="utf-8") as file:
            file.write(text.replace("weight = 1", 'points = ["Filter"]'))
        self.assertIn("Filter requires the state of PreFilter, which was not called",
                      self.run_in(folder, self.berth, "explain", "--cluster", "cluster.yaml",
                                  "--pod", "default/web", "--profile", "profile.toml",
                                  status=1))

    def test_rust(self):
        folder = self.copy("rust")
        compilers = rust_compilers()
        for number, rustc in enumerate(compilers):
            with self.subTest(rustc):
                # The tests of the SDK's crate compare its declarations with the layout of C.
                self.run_in(folder, rustc, "--edition", "2021", "-D", "warnings", "--test", "-o",
                            "sdk_tests", os.path.join(self.rust_sdk(), "src", "lib.rs"))
                self.run_in(folder, os.path.join(folder, "sdk_tests"))
                library = os.path.join(folder, f"libcheapest_node_{number}.so")
                self.build_rust(folder, rustc, "cheapest_node", library)
                self.check(library, "acme.CheapestNode", "unlabelledCents")
                os.makedirs(os.path.join(folder, "target", "release"), exist_ok=True)
                shutil.copy(library, os.path.join(folder, "target", "release",
                                                  "libcheapest_node.so"))
                self.expect_decision(folder, "default/thrifty", "dear", "cheap")

    def test_rust_by_cargo(self):
        self.assertTrue(shutil.which("cargo"), "cargo not found: see .ci/packages.txt")
        folder = self.copy("rust", to="rust_by_cargo")
        manifest = os.path.join(folder, "Cargo.toml")
        with open(manifest, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("../../../sdk/rust", text)
        with open(manifest, "w", encoding="utf-8") as file:
            file.write(text.replace("../../../sdk/rust", self.rust_sdk()))
        self.run_in(folder, "cargo", "build", "--release", "--offline", "--quiet")
        self.check(os.path.join(folder, "target", "release", "libcheapest_node.so"),
                   "acme.CheapestNode", "unlabelledCents")


if __name__ == "__main__":
    installed.main()
