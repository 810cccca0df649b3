"""Tests BERTH_SINCE with a header that is abi.h with a member, a service and enumerators of minor
version 1.

usage: since_test.py C_COMPILER CXX_COMPILER
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "sdk", "include")
CRATE = os.path.join(ROOT, "sdk", "rust", "src")
sys.path += [os.path.join(ROOT, "sdk", "abi"), os.path.join(ROOT, "tests")]
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import header as reader
import rust
from compilers import precompiled_standard_headers, rust_compilers

NOT_AVAILABLE = "requires a host of minor version 1: define BERTH_MIN_HOST_MINOR as 1"

USE = "uint32_t Use(const berth_later* later) { return later->added; }"
TEST_AND_USE = ("uint32_t Use(const berth_later* later) {"
                "  return BERTH_HAS(later, berth_later, added) ? later->added : 0; }")
FIRST_VERSION = "uint32_t Use(const berth_later* later) { return later->struct_size; }"
FILL = "berth_later Fill(void) { berth_later later = {.added = 1}; return later; }"
SERVICE = "uint32_t Use(const berth_newcomer* service) { return service->struct_size; }"
METHOD = ("struct Layer { BERTH_REQUIRES_HOST(1) uint32_t added() const { return 0; } };"
          "uint32_t Use(const Layer& layer) { return layer.added(); }")
BY_TAG = ("const struct berth_newcomer* Use(const berth_user* user) {"
          "  return BERTH_HAS(user, berth_user, newcomer) ? user->newcomer : NULL; }")
# A member of a table of functions, such as that of a service or an extension point.
CALL = "void Use(const berth_user* user) { user->call(NULL); }"
TEST_AND_CALL = ("void Use(const berth_user* user) {"
                 "  if (BERTH_HAS(user, berth_user, call)) user->call(NULL); }")
ADDRESS = "const void* Use(const berth_user* user) { return &user->call; }"
COPY = ("typedef void (*call)(const void* newcomer);"
        "call Use(const berth_user* user) { return (call)user->call; }")
ASSIGN = "void Use(berth_user* user) { user->call = NULL; }"
DESIGNATE = ("static const berth_user kUser = {.call = NULL};"
             "const berth_user* Use(void) { return &kUser; }")
# Methods of the C++ layer.
CALL_METHOD = "berth::Status Use(const berth::Host& host) { return host.activate().%s; }"
NEW_METHOD, OLD_METHOD = CALL_METHOD % "All()", CALL_METHOD % 'Pod("uid")'
CONSTANT = "uint32_t Use(void) { return BERTH_LATER_TWO; }"
LAST_CONSTANT = "uint32_t Use(void) { return BERTH_LATER_FOUR; }"
CASE = ("uint32_t Use(uint32_t kind) {"
        "  switch (kind) { case BERTH_LATER_TWO: return 1; default: return 0; } }")
TEST_AND_PASS = ("uint32_t Use(const berth_host* host) {"
                 "  return host->abi_minor >= 1 ? BERTH_LATER_TWO : BERTH_LATER_ONE; }")
OLD_CONSTANTS = "uint32_t Use(void) { return BERTH_LATER_ONE | BERTH_LATER_THREE; }"
# A header of the C++ layer.
LAYER = ("#pragma GCC diagnostic push\n"
         "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n"
         "template <class T> uint32_t Added(const T& later) {"
         "  return BERTH_HAS(&later, T, added) ? later.added : 0; }\n"
         "inline uint32_t Two() { return BERTH_LATER_TWO; }\n"
         "inline const berth_newcomer* NewcomerOf(const berth_user& user) {"
         "  return user.newcomer; }\n"
         "#pragma GCC diagnostic pop\n")
USE_LAYER = LAYER + ("uint32_t Use(const berth_later& later, const berth_user& user) {"
                     "  return Added(later) + Two() + (NewcomerOf(user) != nullptr ? 1 : 0); }")
USE_BESIDE_LAYER = LAYER + "uint32_t Use(const berth_later& later) { return later.added; }"
OWN_DEPRECATED = "[[deprecated]] int Old(); int Use() { return Old(); }"
ENTRY = "_Static_assert(BERTH_MIN_HOST_MINOR == 0, \"the default\");"


class SinceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [tool for tool in ("clang", "clang++", "gcc", "g++") if not shutil.which(tool)]
        if missing:
            raise AssertionError(f"{', '.join(missing)} not found: see .ci/packages.txt")
        cls.temporary = tempfile.TemporaryDirectory(prefix="berth_since_")
        shutil.copytree(os.path.join(INCLUDE, "berth"), os.path.join(cls.temporary.name, "berth"))
        cls.precompiled = {compiler: precompiled_standard_headers(compiler, cls.temporary.name)
                           for compiler in ("clang++", "g++")}
        end = "#ifdef __cplusplus\n}\n#endif\n"
        later = ("typedef struct berth_later {\n  uint32_t struct_size;\n"
                 "  uint32_t added BERTH_SINCE(1);\n} berth_later;\n"
                 "typedef struct berth_newcomer {\n  uint32_t struct_size;\n"
                 "} berth_newcomer BERTH_SINCE(1);\n"
                 "typedef struct berth_user {\n  uint32_t struct_size;\n  uint32_t reserved;\n"
                 "  const struct berth_newcomer* newcomer BERTH_SINCE(1);\n"
                 "  void (*call)(const struct berth_newcomer* newcomer) BERTH_NOEXCEPT\n"
                 "      BERTH_SINCE(1);\n"
                 "} berth_user;\n"
                 "enum {\n  BERTH_LATER_ONE = 1, /* unlike BERTH_SINCE(1) */\n"
                 "  BERTH_LATER_TWO BERTH_SINCE(1) = 1 << 1, BERTH_LATER_THREE = 4,\n"
                 "  /* the last one */\n  BERTH_LATER_FOUR BERTH_SINCE(1)\n};\n")
        cls.path = cls.edit(
            "abi.h", ("#define BERTH_ABI_MINOR 0\n", "#define BERTH_ABI_MINOR 1\n"),
            (end, later + end),
            ("} berth_activate;\n", "  berth_code (*all)(const berth_host* host) BERTH_NOEXCEPT "
                                    "BERTH_SINCE(1);\n} berth_activate;\n"))
        # A method that requires the version, as the C++ layer declares it.
        method = "  Status Pod(std::string_view uid) const {"
        cls.edit("scheduling.h", (method, "#pragma GCC diagnostic push\n#pragma GCC diagnostic "
                                  "ignored \"-Wdeprecated-declarations\"\n"
                                  "  BERTH_REQUIRES_HOST(1) Status All() const {\n"
                                  "    const berth_activate& service = *services_->activate;\n"
                                  "    const bool has = BERTH_HAS(&service, berth_activate, all);\n"
                                  "    return has ? Status(service.all(services_->host)) : "
                                  "Status::Success();\n  }\n"
                                  "#pragma GCC diagnostic pop\n" + method))

    @classmethod
    def edit(cls, name, *edits):
        """Changes a header of the copy. Returns its path."""
        path = os.path.join(cls.temporary.name, "berth", name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in edits:
            assert text.count(old) == 1, f"{name}: {old!r} occurs {text.count(old)} times"
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def compile(self, compiler, language, source, *flags):
        """Returns the errors, or "". `language`: "plugin" is C++ that includes plugin.h."""
        header = "plugin.h" if language == "plugin" else "abi.h"
        options = ("c", "-std=c11") if language == "c" else ("c++", "-std=c++20")
        if language == "plugin":
            flags = (*self.precompiled[compiler], *flags)
        done = subprocess.run([compiler, "-x", *options, "-Wall", "-Wextra", "-fsyntax-only",
                               "-I", self.temporary.name, *flags, "-"],
                              input=f"#include <berth/{header}>\n{source}\n",
                              capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    CASES = (
        # name, language, source, flags, expected error
        ("a newer service by default", "c", SERVICE, (), NOT_AVAILABLE),
        ("a newer service where the host has it", "c", SERVICE, ("-DBERTH_OPTIONAL_MINOR=1",), ""),
        ("a newer struct by its tag by default", "c", BY_TAG, (), NOT_AVAILABLE),
        ("a newer struct by its tag where the host has it", "c", BY_TAG,
         ("-DBERTH_OPTIONAL_MINOR=1",), ""),
        ("a newer enumerator by default", "c", CONSTANT, (), NOT_AVAILABLE),
        ("a newer enumerator without a value by default", "c", LAST_CONSTANT, (), NOT_AVAILABLE),
        ("a newer enumerator in a case by default", "c", CASE, (), NOT_AVAILABLE),
        ("test and pass a newer enumerator by default", "c", TEST_AND_PASS, (), NOT_AVAILABLE),
        ("the first version's enumerators by default", "c", OLD_CONSTANTS, (), ""),
        ("a newer enumerator with that minimum", "c", CONSTANT, ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("test and pass a newer enumerator where the host has it", "c", TEST_AND_PASS,
         ("-DBERTH_OPTIONAL_MINOR=1",), ""),
        ("call by default", "c", CALL, (), NOT_AVAILABLE),
        ("test and call by default", "c", TEST_AND_CALL, (), NOT_AVAILABLE),
        ("take the address by default", "c", ADDRESS, (), NOT_AVAILABLE),
        ("copy by default", "c", COPY, (), NOT_AVAILABLE),
        ("assign by default", "c", ASSIGN, (), NOT_AVAILABLE),
        ("call with that minimum", "c", CALL, ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("test and call where the host has it", "c", TEST_AND_CALL, ("-DBERTH_OPTIONAL_MINOR=1",),
         ""),
        ("assign with that minimum", "c", ASSIGN, ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("a method of the C++ layer by default", "plugin", NEW_METHOD, (), NOT_AVAILABLE),
        ("a method of the C++ layer with that minimum", "plugin", NEW_METHOD,
         ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("a method of the C++ layer where the host has it", "plugin", NEW_METHOD,
         ("-DBERTH_OPTIONAL_MINOR=1",), ""),
        ("a first version's method of the C++ layer", "plugin", OLD_METHOD, (), ""),
        ("an enumerator in C++", "c++", CASE, ("-Werror",), NOT_AVAILABLE),
        ("an enumerator in C++, without errors for warnings", "c++", CASE, ("-Wno-error",), ""),
        ("an enumerator in a plugin in C++", "plugin", CASE, ("-Wno-error",), NOT_AVAILABLE),
        ("an enumerator in a plugin in C++ with that minimum", "plugin", CASE,
         ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("use by default", "c", USE, (), NOT_AVAILABLE),
        ("test and use by default", "c", TEST_AND_USE, (), NOT_AVAILABLE),
        ("the first version's members by default", "c", FIRST_VERSION, (), ""),
        ("no use by default", "c", ENTRY, (), ""),
        ("use with that minimum", "c", USE, ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("test and use where the host has it", "c", TEST_AND_USE, ("-DBERTH_OPTIONAL_MINOR=1",),
         ""),
        ("a minimum newer than the header", "c", FIRST_VERSION, ("-DBERTH_MIN_HOST_MINOR=2",),
         "is newer than this header"),
        ("an optional version newer than the header", "c", FIRST_VERSION,
         ("-DBERTH_OPTIONAL_MINOR=2",), "is newer than this header"),
        ("fill in with that minimum", "c", FILL, ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("a member in C++", "c++", TEST_AND_USE, ("-Werror",), NOT_AVAILABLE),
        ("a member in C++, without errors for warnings", "c++", USE, ("-Wno-error",), ""),
        ("a member in C++ where the host has it", "c++", TEST_AND_USE,
         ("-DBERTH_OPTIONAL_MINOR=1",), ""),
        ("a member in a plugin in C++", "plugin", USE, ("-Wno-error",), NOT_AVAILABLE),
        ("a struct in a plugin in C++", "plugin", SERVICE, ("-Wno-error",), NOT_AVAILABLE),
        ("a struct by its tag in a plugin in C++", "plugin", BY_TAG, ("-Wno-error",),
         NOT_AVAILABLE),
        ("test and use in a plugin in C++", "plugin", TEST_AND_USE, ("-Wno-error",),
         NOT_AVAILABLE),
        ("test and use in a plugin in C++ where the host has it", "plugin", TEST_AND_USE,
         ("-DBERTH_OPTIONAL_MINOR=1",), ""),
        ("the first version's members in a plugin in C++", "plugin", FIRST_VERSION, (), ""),
        ("the C++ layer", "plugin", USE_LAYER, (), ""),
        ("a member beside the C++ layer", "plugin", USE_BESIDE_LAYER, ("-Wno-error",),
         NOT_AVAILABLE),
        ("another deprecated function with that minimum", "plugin", OWN_DEPRECATED,
         ("-DBERTH_MIN_HOST_MINOR=1", "-Wno-error"), ""),
        ("a method by default", "c++", METHOD, ("-Werror",), NOT_AVAILABLE),
        ("a method with that minimum", "c++", METHOD, ("-DBERTH_MIN_HOST_MINOR=1",), ""),
        ("a method where the host has it", "c++", METHOD, ("-DBERTH_OPTIONAL_MINOR=1",), ""),
    )

    def test_every_compiler(self):
        for compilers in (sys.argv[1:3], ("clang", "clang++"), ("gcc", "g++")):
            for name, language, source, flags, expected in self.CASES:
                # plugin.h takes long, and the compilers of the build are usually among the others.
                if language == "plugin" and compilers == sys.argv[1:3]:
                    continue
                compiler = compilers[language != "c"]
                with self.subTest(name, compiler=compiler):
                    # The compiler reports an error, not a warning that -Werror makes one.
                    strict = () if expected else ("-Werror",)
                    errors = self.compile(compiler, language, source, *strict, *flags)
                    self.assertIn(expected, errors)
                    self.assertEqual(bool(errors), bool(expected), errors)

    def test_the_lock_reads_marks(self):
        header = reader.read(self.path)
        self.assertEqual(header.structs["berth_newcomer"].since, 1)
        self.assertEqual(header.structs["berth_later"].since, 0)
        for struct, member, since in (("berth_later", "struct_size", 0),
                                      ("berth_later", "added", 1), ("berth_user", "newcomer", 1),
                                      ("berth_user", "call", 1)):
            members = {member.name: member for member in header.structs[struct].members}
            self.assertEqual(members[member].since, since, member)
        self.assertEqual(header.constant_since, {"BERTH_LATER_TWO": 1, "BERTH_LATER_FOUR": 1})
        self.assertEqual([header.constants[f"BERTH_LATER_{name}"]
                          for name in ("ONE", "TWO", "THREE", "FOUR")], [1, 2, 4, 5])
        user = {member.name: member.type for member in header.structs["berth_user"].members}
        self.assertEqual(user["newcomer"], "const berth_newcomer *")

    def test_clang_reports_more(self):
        for source in (FILL, DESIGNATE):
            with self.subTest(source):
                self.assertIn(NOT_AVAILABLE, self.compile("clang", "c", source))
                self.assertIn(NOT_AVAILABLE, self.compile("clang++", "plugin", source))

    # name, source, whether it uses something newer
    RUST_CASES = (
        ("a member", "pub unsafe fn f(p: *const berth_later) -> u32 { (*p).added }", True),
        ("a tested member",
         "pub unsafe fn f(p: *const berth_later) -> bool { berth::has!(p, added) }", True),
        ("a function", "pub unsafe fn f(p: *const berth_user) -> bool { (*p).call.is_some() }",
         True),
        ("a filled table",
         "pub const T: berth_user = berth_user { call: None, ..berth_user::NEW };", True),
        ("a struct", "pub unsafe fn f(p: *const berth_newcomer) -> u32 { (*p).struct_size }", True),
        ("an enumerator", "pub const C: u32 = BERTH_LATER_TWO;", True),
        ("a member of the first version",
         "pub unsafe fn f(p: *const berth_later) -> u32 { (*p).struct_size }", False),
        ("a table of the first version", "pub const T: berth_user = berth_user::NEW;", False),
        ("an enumerator of the first version", "pub const C: u32 = BERTH_LATER_THREE;", False),
    )

    def test_rust_warns(self):
        folder = os.path.join(self.temporary.name, "rust")
        crate, output = os.path.join(folder, "libberth.rlib"), os.path.join(folder, "user.out")
        shutil.copytree(CRATE, folder)
        header = reader.read(self.path)
        for name, text in (("sys.rs", rust.render(header)),
                           ("sys_layout_test.rs", rust.render_layout_test(header))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for rustc in rust_compilers():
            common = (rustc, "--edition", "2021", "-D", "warnings", "--crate-type", "lib")
            for flags in ((), ("--cfg", 'feature="host_1"')):
                subprocess.run([*common, *flags, "--crate-name", "berth", "-o", crate,
                                os.path.join(folder, "lib.rs")], check=True)
                for name, source, is_newer in self.RUST_CASES:
                    with self.subTest(name, compiler=rustc, flags=flags):
                        done = subprocess.run(
                            [*common, "--crate-name", "user", "--extern", f"berth={crate}",
                             "--emit", "metadata", "-o", output, "-"],
                            input="use berth::sys::*;\n" + source, capture_output=True, text=True,
                            check=False)
                        reports = "requires a host of minor version 1: turn on the feature" in \
                            done.stderr
                        self.assertEqual(reports, is_newer and not flags, done.stderr)
                        self.assertEqual(done.returncode != 0, reports, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
