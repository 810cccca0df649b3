"""`berth plugin new`: the generated plugin builds and passes its tests, in every language.

usage: new_plugin_test.py BUILD_FOLDER
"""

import concurrent.futures
import json
import os
import shutil

import installed
from compilers import rust_compilers

POINTS = ("PreEnqueue", "EnqueueExtensions", "QueueSort", "Entity", "PreFilter", "Filter",
          "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind",
          "Changes")


class NewPluginTest(installed.InstalledTest):
    def new(self, name, *options, status=0):
        return self.run_in(self.folder, self.berth, "plugin", "new", name, *options, status=status)

    def expect_points(self, library, name, points):
        described = json.loads(self.run_in(self.folder, self.berth, "plugin", "describe", library,
                                           "--output", "json"))
        plugin, = described["plugins"]
        self.assertEqual(plugin["name"], name)
        self.assertEqual([point["name"] for point in plugin["points"]], list(points))

    def test_cpp(self):
        output = self.new("acme.RackPower")
        folder = os.path.join(self.folder, "rack_power")
        for file in sorted(os.listdir(folder)):
            self.assertIn(os.path.join("rack_power", file), output)
        self.assertIn(f"-DCMAKE_PREFIX_PATH={self.prefix}", output)
        self.assertNotIn("Cargo.toml", output)
        self.build(folder, "-DCMAKE_CXX_FLAGS=-Werror")
        self.expect_points(os.path.join(folder, "build", "librack_power.so"), "acme.RackPower",
                           ("Filter", "Score"))
        self.keeps_contract(os.path.join(folder, "build", "librack_power.so"))
        self.assertEqual(self.chosen(folder, "default/web", "--profile", "profile.toml"), "large")

    def test_cpp_with_all_points(self):
        self.new("acme.Everything", "--points", ",".join(POINTS))
        folder = os.path.join(self.folder, "everything")
        self.build(folder, "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_CXX_FLAGS=-Werror")
        self.keeps_contract(os.path.join(folder, "build", "libeverything.so"))
        self.run_in(folder, self.berth, "profile", "check", "profile.toml")

    def test_cpp_with_each_point(self):
        def try_point(point):
            folder = os.path.join(self.folder, "points", point)
            self.new(f"acme.Only{point}", "--points", point, "--dir", folder)
            sources = [file for file in sorted(os.listdir(folder)) if file.endswith(".cc")]
            self.assertEqual(len(sources), 2)
            self.run_in(folder, "clang++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
                        "-Werror", "-I", os.path.join(self.prefix, "include"), sources[0])
            for source in sources:
                self.run_in(folder, "clang-format", "--dry-run", "-Werror", source,
                            f"--style=file:{os.path.join(installed.ROOT, '.clang-format')}")
            with open(os.path.join(folder, sources[0]), encoding="utf-8") as file:
                return point, file.read()

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            texts = dict(pool.map(try_point, POINTS))
        self.assertIn("berth::Status Permit(", texts["Permit"])
        self.assertNotIn("berth::Status Permit(", texts["Filter"])

    def test_c(self):
        self.new("acme.Headroom", "--language", "c", "--dir", "in_c")
        folder = os.path.join(self.folder, "in_c")
        self.build(folder, "-DCMAKE_C_FLAGS=-Werror")
        self.expect_points(os.path.join(folder, "build", "libheadroom.so"), "acme.Headroom",
                           ("Filter", "Score"))
        self.keeps_contract(os.path.join(folder, "build", "libheadroom.so"))
        self.run_in(folder, self.berth, "profile", "check", "profile.toml")

    def test_c_with_one_point(self):
        for point in ("Filter", "Score"):
            folder = os.path.join(self.folder, "c_" + point)
            self.new("acme.One", "--language", "c", "--points", point, "--dir", folder)
            self.build(folder, "-DCMAKE_C_FLAGS=-Werror", tests=False)
            self.expect_points(os.path.join(folder, "build", "libone.so"), "acme.One", (point,))
            self.run_in(folder, "clang-format", "--dry-run", "-Werror", "one_test.cc",
                        f"--style=file:{os.path.join(installed.ROOT, '.clang-format')}")

    def test_rust(self):
        compilers = rust_compilers()
        for points in ("Filter,Score", "Filter", "Score"):
            folder = os.path.join(self.folder, "rust_" + points.replace(",", "_"))
            self.new("acme.Cheap", "--language", "rust", "--points", points, "--dir", folder)
            # Every compiler builds the plugin with both points. One compiler is enough for the
            # plugins with one point, which test only the template.
            for number, rustc in enumerate(compilers if "," in points else compilers[:1]):
                with self.subTest(points=points, compiler=rustc):
                    library = os.path.join(folder, f"libcheap_{number}.so")
                    self.build_rust(folder, rustc, "cheap", library)
                    self.expect_points(library, "acme.Cheap", points.split(","))
                    self.keeps_contract(library)

    def test_rust_by_cargo(self):
        self.assertTrue(shutil.which("cargo"), "cargo not found: see .ci/packages.txt")
        output = self.new("acme.Frugal", "--language", "rust")
        folder = os.path.join(self.folder, "frugal")
        # The next steps state the path that Cargo.toml has.
        crate = os.path.join(self.prefix, "share", "berth", "rust")
        self.assertIn(f"by its absolute path, {crate}.\n", output)
        self.assertIn("change the path of berth under [dependencies]", output)
        with open(os.path.join(folder, "Cargo.toml"), encoding="utf-8") as file:
            self.assertIn(f"berth = {{ path = '''{crate}''' }}", file.read())
        self.run_in(folder, "cargo", "build", "--release", "--offline", "--quiet")
        self.run_in(folder, "cargo", "test", "--offline", "--quiet")
        self.keeps_contract(os.path.join(folder, "target", "release", "libfrugal.so"))
        self.assertEqual(self.chosen(folder, "default/web", "--profile", "profile.toml"), "large")

    def test_reports_errors(self):
        os.mkdir(os.path.join(self.folder, "taken"))
        for what, options, expected in (
                ("no vendor", ["rack_power"], "expected a vendor in lower case and a name in "
                                               "CamelCase"),
                ("a capitalized vendor", ["Acme.RackPower"], 'found "Acme.RackPower"'),
                ("no name", ["acme."], 'found "acme."'),
                ("a path", ["../RackPower"], 'found "../RackPower"'),
                ("quotes", ['acme.A"B'], "CamelCase"),
                ("a name of the SDK", ["acme.State"], "expected a name that is not used in the "
                                                      "code of every plugin"),
                ("the name of an extension point", ["acme.Filter"],
                 "expected a name that is not used in the code of every plugin"),
                ("the name of a CMake target", ["acme.Test"],
                 "expected a name that is not used in the code of every plugin"),
                ("an existing folder", ["acme.Taken"],
                 "taken: expected a folder that does not exist"),
                ("an existing folder in --dir", ["acme.Rack", "--dir", "taken"],
                 "taken: expected a folder that does not exist"),
                ("a misspelled method", ["acme.Rack", "--points", "OnChanged"],
                 'expected an extension point, found "OnChanged"; did you mean OnChange'),
                ("an unknown point", ["acme.Rack", "--points", "Filter,Scores"],
                 'expected an extension point, found "Scores"; did you mean Score?'),
                ("no point", ["acme.Rack", "--points", ""],
                 'expected an extension point, found ""'),
                ("an unknown language", ["acme.Rack", "--language", "go"],
                 'expected cpp, c or rust, found "go"'),
                ("a point that is not available in C",
                 ["acme.Rack", "--language", "c", "--points", "Permit"],
                 "expected Filter, Score or both for --language c, found Permit"),
        ):
            with self.subTest(what):
                self.assertIn(expected, self.new(*options, status=2))
        self.assertEqual(os.listdir(os.path.join(self.folder, "taken")), [])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "rack")))


if __name__ == "__main__":
    installed.main()
