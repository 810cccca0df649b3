"""Builds a library with the Rust crate of the SDK and runs its plugins in the host.

usage: rust_test.py HOST
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
import unittest

HOST = sys.argv[1]
FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
CRATE = os.path.join(ROOT, "sdk", "rust", "src", "lib.rs")
sys.path.insert(0, os.path.join(ROOT, "tests"))

# pylint: disable=wrong-import-position
from compilers import rust_compilers

MODES = ("", "gate", "skip", "reject", "panic in PreFilter", "panic in Filter", "wrong column",
         "state in Score", "skip, but state in Score", "panic in Reserve")

PLUGIN = """
struct Small;
impl berth::Plugin for Small {
    const NAME: &'static str = "test.Small";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Does nothing.";
    MORE
    type State = ();
    fn create(_: &berth::Host, _: &mut berth::Args) -> Result<Self, berth::Rejection> {
        Ok(Small)
    }
}
use berth::{sys, Constant};
pub static PERMIT: Constant<sys::berth_permit> = Constant(sys::berth_permit::NEW);
"""
LIBRARY = PLUGIN.replace("MORE", "") + "berth::library! { Small: [] + unsafe { %s }; }"

# name, source, expected error; "": the source compiles
SOURCES = (
    ("has! in safe code", "pub fn f(p: *const berth::sys::berth_pod) -> bool "
     "{ berth::has!(p, meta) }", "E0133"),
    ("has!", "pub unsafe fn f(p: *const berth::sys::berth_pod) -> bool { berth::has!(p, meta) }",
     ""),
    ("a constant that can be written",
     "pub static C: berth::Constant<std::cell::Cell<u32>> = "
     "berth::Constant(std::cell::Cell::new(1));", "E0277"),
    ("constants", "pub static C: berth::Constant<[berth::sys::berth_str; 1]> = "
     "berth::Constant([berth::sys::berth_str::ZERO]);", ""),
    ("a table", LIBRARY % "sys::BERTH_POINT_PERMIT => &PERMIT.0", ""),
    ("a table of another extension point", LIBRARY % "sys::BERTH_POINT_BIND => &PERMIT.0",
     "this struct is not the table of this extension point"),
    ("a table of another type", LIBRARY % "sys::BERTH_POINT_PERMIT => &1u32", "E0277"),
    ("a pointer instead of a table",
     LIBRARY % "sys::BERTH_POINT_PERMIT => &PERMIT.0 as *const sys::berth_permit", "E0308"),
    ("a table that does not live",
     LIBRARY % "sys::BERTH_POINT_PERMIT => &{ let t = sys::berth_permit::NEW; t }", "E0716"),
    ("the minor version of the crate",
     PLUGIN.replace("MORE", "const MIN_HOST_MINOR: u16 = berth::sys::BERTH_ABI_MINOR;") +
     "berth::library! { Small: []; }", ""),
    ("a minor version newer than the crate",
     PLUGIN.replace("MORE", "const MIN_HOST_MINOR: u16 = berth::sys::BERTH_ABI_MINOR + 1;") +
     "berth::library! { Small: []; }", "MIN_HOST_MINOR is newer than this crate"),
    ("a reason above 63", "pub const V: berth::Verdict = berth::Verdict::unschedulable(64);",
     "a verdict names a reason that is not in REASONS"),
    ("reason 63", "pub const V: berth::Verdict = berth::Verdict::unschedulable(63);", ""),
)


def cluster(modes):
    """Two nodes in zone a, one in zone b, one in zone a with a taint, and a pod for each mode."""
    items = []
    for name, zone, cpu, taints in (("a", "a", "1", []), ("b", "b", "2", []), ("c", "a", "4", []),
                                    ("d", "a", "8", [{"key": "k", "effect": "NoSchedule"}])):
        items.append({"apiVersion": "v1", "kind": "Node", "spec": {"taints": taints},
                      "metadata": {"name": name, "labels": {"zone": zone}},
                      "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}})
    for mode in modes:
        items.append({"apiVersion": "v1", "kind": "Pod",
                      "metadata": {"name": mode.replace(",", "").replace(" ", "-").lower() or
                                   "plain",
                                   "namespace": "default", "annotations": {"mode": mode}},
                      "spec": {"containers": [{"name": "main", "image": "web"}]}})
    return {"apiVersion": "v1", "kind": "List", "items": items}


class RustTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rustc = rust_compilers()[0]
        cls.temporary = tempfile.TemporaryDirectory(prefix="berth_rust_")
        cls.folder = cls.temporary.name
        common = (rustc, "--edition", "2021", "-D", "warnings")
        cls.run_command(*common, "--crate-name", "berth", "--crate-type", "rlib", CRATE)
        cls.run_command(*common, "--crate-name", "berth", "--test", CRATE, "-o", "crate_tests")
        library = (*common, "--crate-type", "cdylib", "--extern", "berth=libberth.rlib",
                   os.path.join(FOLDER, "rust_plugins.rs"))
        cls.run_command(*library, "--crate-name", "rust_plugins")
        cls.library = os.path.join(cls.folder, "librust_plugins.so")
        cls.run_command(*library, "--crate-name", "misplaced", MISPLACED="1")
        for name, modes in (("cluster.json", MODES), ("good.json", ("", "gate", "skip", "reject"))):
            with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as file:
                json.dump(cluster(modes), file)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def run_command(cls, *command, status=0, **environment):
        """Returns what the command prints. `status` None accepts every exit status."""
        done = subprocess.run(command, cwd=cls.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})
        if status is not None and done.returncode != status:
            raise AssertionError(f"{' '.join(command)}: {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def profile(self, name, *lines, library=None):
        """Writes a profile with the plugin and returns its path."""
        path = os.path.join(self.folder, "profile.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(['extends = "default"', "[[plugins]]", f'name = "{name}"',
                                  f'library = "{library or self.library}"', *lines, ""]))
        return path

    def explain(self, pod, profile):
        return self.run_command(HOST, "explain", "--cluster", "cluster.json", "--pod",
                                "default/" + pod, "--profile", profile, status=None)

    def test_every_compiler(self):
        for number, rustc in enumerate(rust_compilers()):
            crate = f"libberth_{number}.rlib"
            self.run_command(rustc, "--edition", "2021", "-D", "warnings", "--crate-name", "berth",
                             "--crate-type", "rlib", CRATE, "-o", crate)
            common = (rustc, "--edition", "2021", "-D", "warnings", "--crate-type", "lib",
                      "--extern", f"berth={crate}", "--crate-name", "user", "-o", "user.out",
                      "--emit", "link")
            with self.subTest("the plugins", compiler=rustc):
                self.run_command(*common, os.path.join(FOLDER, "rust_plugins.rs"))
            for name, source, expected in SOURCES:
                with self.subTest(name, compiler=rustc):
                    path = os.path.join(self.folder, "user.rs")
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(source)
                    output = self.run_command(*common, path, status=None)
                    self.assertIn(expected, output)
                    self.assertEqual(bool(output), bool(expected), output)

    def test_a_crate_that_could_not_work_is_refused(self):
        for name, flags, expected in (
                ("panics end the process", ("-C", "panic=abort"), "a panic must unwind"),
                ("32 bits", ("--target", "i686-unknown-linux-gnu"), "64-bit little-endian")):
            with self.subTest(name):
                output = self.run_command(rust_compilers()[0], "--edition", "2021", "--crate-type",
                                          "lib", "--crate-name", "berth", "--emit", "metadata",
                                          *flags, CRATE, status=1)
                self.assertIn(expected, output)

    def test_the_manifest_of_a_new_plugin_holds_any_path(self):
        template = os.path.join(ROOT, "sdk", "templates", "rust", "Cargo.toml.in")
        with open(template, encoding="utf-8") as file:
            text = file.read()
        for path in ("/opt/berth", '/opt/a "b"', "/opt/a\\b", "/opt/it's", "/opt/#a = 'b' c"):
            with self.subTest(path):
                manifest = tomllib.loads(text.replace("@RUST_SDK@", path))
                self.assertEqual(manifest["dependencies"]["berth"]["path"], path)

    def test_the_crate(self):
        self.assertIn("test result: ok", self.run_command(os.path.join(self.folder, "crate_tests")))

    def test_describes_every_plugin(self):
        described = json.loads(self.run_command(HOST, "plugin", "describe", self.library,
                                                "--output", "json"))
        self.assertEqual(
            {plugin["name"]: [point["name"] for point in plugin["points"]]
             for plugin in described["plugins"]},
            {"test.Everything": ["PreEnqueue", "PreFilter", "Filter", "Score"],
             "test.Misplaced": ["Score"], "test.Raw": ["Reserve"]})

    def test_decides(self):
        profile = self.profile("test.Everything", 'args = {zone = "a"}')
        self.assertIn("is placed on c", self.explain("plain", profile))
        self.assertIn("Node is in another zone", self.explain("plain", profile))
        profile = self.profile("test.Everything", 'args = {zone = "b"}')
        self.assertIn("is placed on b", self.explain("plain", profile))

    def test_skip_leaves_out_filter_but_not_score(self):
        profile = self.profile("test.Everything")
        output = self.explain("skip", profile)
        self.assertNotIn("Node is in another zone", output)
        self.assertIn("is placed on c", output)

    def test_failures_become_statuses(self):
        everywhere = self.profile("test.Everything")
        for pod, expected in (
                ("reject", ("rejected by", "its annotation")),
                ("panic-in-prefilter", ("panic: in PreFilter",)),
                ("panic-in-filter", ("panic: on node a",)),
                ("wrong-column", ("panic: taints.hard is not a column of this type and index",)),
                ("gate", ("gated by its annotation",))):
            with self.subTest(pod):
                output = self.explain(pod, everywhere)
                for text in expected:
                    self.assertIn(text, output)

    def test_state_without_pre_filter_is_an_error(self):
        for pod, point, points in (
                ("plain", "Filter", '["Filter"]'), ("state-in-score", "Score", '["Score"]'),
                ("skip-but-state-in-score", "Score", '["PreFilter", "Filter", "Score"]')):
            with self.subTest(pod):
                profile = self.profile("test.Everything", f"points = {points}")
                self.assertIn(f"{point} requires the state, but there is none: enable the plugin "
                              "at PreFilter, or use try_state if PreFilter may return None",
                              self.explain(pod, profile))

    def test_create_reports_all_errors(self):
        for name, args, expected in (
                ("types", 'zone = 1, strict = "yes", limit = 10, least = 0',
                 ("expected a string", "expected true or false", "expected an integer of 0 to 9",
                  "expected an integer of 1 or more")),
                ("by hand", 'zone = ""', ("expected a zone",)),
                ("an error", 'zone = "fail"', ("the zone fails", "always")),
                ("a panic", 'zone = "panic"', ("panic: in create",))):
            with self.subTest(name):
                profile = self.profile("test.Everything", f"args = {{{args}}}")
                output = self.explain("plain", profile)
                for text in expected:
                    self.assertIn(text, output)
        misplaced = os.path.join(self.folder, "libmisplaced.so")
        self.assertIn("the column alloc.cpu has index 1, but is at 0 of COLUMNS",
                      self.explain("plain", self.profile("test.Misplaced", library=misplaced)))

    def test_an_extension_point_without_a_trait(self):
        # The default plugins choose node b for some of the pods, which test.Raw rejects.
        profile = self.profile("test.Raw")
        simulated = self.run_command(HOST, "simulate", "--cluster", "cluster.json", "--profile",
                                     profile, status=None)
        self.assertIn("0/1 nodes are available: 1 rejected in Reserve.", simulated)
        self.assertRegex(simulated, r"(?m) [acd] *$")
        self.assertIn("panic: in Reserve", simulated)
        self.assertIn("panic: in Unreserve", simulated)

    def test_keeps_the_contract(self):
        output = self.run_command(HOST, "plugin", "check", self.library, "--cluster", "good.json")
        for name in ("test.Everything", "test.Misplaced", "test.Raw"):
            self.assertRegex(output, f"{name} 1.0.0 keeps the contract")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
