"""Compiles every macro of <berth/plugin_c.h> and the functional macros of <berth/abi.h>, with all
warnings as errors.

usage: c_macros_test.py C_COMPILER
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = os.path.join(ROOT, "sdk", "include")
HEADER = os.path.join(INCLUDE, "berth", "plugin_c.h")

# The use of each macro that an author writes; all others are used by these.
BODIES = {
    "BERTH_SELECTED": "return BERTH_SELECTED(block, n);",
    "BERTH_FOR_EACH_SELECTED":
        "BERTH_FOR_EACH_SELECTED(block, i) ++n;\n"
        "BERTH_FOR_EACH_SELECTED(block, i) {\n"
        "  BERTH_FOR_EACH_SELECTED(block, k) n += i + k;\n"
        "}\nreturn n;",
    "BERTH_CELL": "return (uint32_t)BERTH_CELL(int64_t, block, 0, n);",
    "BERTH_CELL_OR": "return (uint32_t)BERTH_CELL_OR(int64_t, block, 0, n, -1) +\n"
                     "       (BERTH_CELL_OR(const berth_object*, block, 1, n, NULL) != NULL);",
    "BERTH_STR_INIT": "static const berth_str kTexts[] = {BERTH_STR_INIT(\"a\")};\n"
                      "return n + (uint32_t)kTexts[0].len + (block == NULL);",
    "BERTH_STR": "const berth_str text = BERTH_STR(\"a\");\n"
                 "return n + (uint32_t)text.len + (block == NULL);",
    "BERTH_ARRAY_OF": "static const berth_id kIds[] = {1, 2};\n"
                      "return n + BERTH_ARRAY_OF(kIds).count + (block == NULL);",
    "BERTH_HAS": "return n + BERTH_HAS(block, berth_block, pods);",
    "BERTH_AT": "const berth_array ids = {NULL, 0, 4};\n"
                "return block == NULL ? *BERTH_AT(berth_id, ids, n) : 0;",
    "BERTH_ARRAY_HAS": "const berth_array taints = {NULL, 0, 16};\n"
                       "return n + BERTH_ARRAY_HAS(berth_taint, taints, effect) + (block == NULL);",
}
LIBRARY = """
#include <berth/plugin_c.h>
static const char* const kServices[] = {BERTH_SERVICE_LOG, NULL};
static const berth_filter kFilter = {.struct_size = sizeof(berth_filter)};
static const berth_score kScore = {.struct_size = sizeof(berth_score)};
#define POINTS(POINT) POINT(FILTER, kFilter), POINT(SCORE, kScore)
BERTH_LIBRARY("acme.Headroom", "1.0.0", POINTS, Create,
              .about = "Keeps some memory free.", .services = kServices);
static berth_code Create(const berth_host* host, const berth_instance_request* request,
                         berth_plugin** out, berth_status* status) {
  static berth_plugin plugin = {.struct_size = sizeof(berth_plugin)};
  (void)host, (void)request, (void)status;
  plugin.get_point = berth_get_point;
  *out = &plugin;
  return BERTH_SUCCESS;
}
"""


class MacrosTest(unittest.TestCase):
    def setUp(self):
        self.compilers = (sys.argv[1], "gcc", "clang")
        missing = [name for name in self.compilers if not shutil.which(name)]
        self.assertEqual(missing, [], "install the packages of .ci/packages.txt")

    def compile(self, compiler, source, *flags):
        done = subprocess.run([compiler, "-x", "c", "-std=c11", "-O1", "-Wall", "-Wextra",
                               "-Wpedantic", "-Wshadow", "-Werror", "-I", INCLUDE, *flags, "-"],
                              input=source, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_macro_compiles(self):
        for compiler in self.compilers:
            for name, body in BODIES.items():
                with self.subTest(name, compiler=compiler):
                    self.compile(compiler, "#include <berth/plugin_c.h>\n"
                                 "uint32_t Use(const berth_block* block, uint32_t n);\n"
                                 "uint32_t Use(const berth_block* block, uint32_t n) {\n"
                                 f"{body}\n}}\n", "-fsyntax-only")

    def test_a_library_as_in_the_header(self):
        with open(HEADER, encoding="utf-8") as file:
            example = re.search(r"(?s) \*   (BERTH_LIBRARY\(.*?\);)", file.read())[1]
        example = re.sub(r"\s*\n \*\s*", " ", example)
        self.assertIn(example, re.sub(r"\s+", " ", LIBRARY))
        with tempfile.TemporaryDirectory() as folder:
            for compiler in self.compilers:
                with self.subTest(compiler):
                    self.compile(compiler, LIBRARY, "-fPIC", "-shared", "-Wl,-z,defs", "-o",
                                 os.path.join(folder, "library.so"))

    def test_a_library_states_how_it_was_compiled(self):
        asserts, sanitized = 1, 2  # BERTH_BUILD_*
        with tempfile.TemporaryDirectory() as folder:
            for number, (flag, expected) in enumerate((("-UNDEBUG", asserts), ("-DNDEBUG", 0))):
                library = os.path.join(folder, f"library{number}.so")
                self.compile(self.compilers[0], LIBRARY, flag, "-fPIC", "-shared", "-o", library)
                entry = (ctypes.c_uint64 * 3).in_dll(ctypes.CDLL(library), "berth_entry_v1")
                self.assertEqual(entry[2], expected, flag)  # berth_entry.build_flags
        for compiler in self.compilers:
            for flag, expected in (("-fsanitize=address", sanitized),
                                   ("-fsanitize=thread", sanitized),
                                   ("-fsanitize=undefined", 0), ("-O1", 0)):
                with self.subTest(flag, compiler=compiler):
                    self.compile(compiler, "#include <berth/plugin_c.h>\n_Static_assert("
                                 f"BERTH_LIBRARY_SANITIZED == {expected}, \"sanitized\");\n",
                                 flag, "-fsyntax-only")

    def test_no_macro_is_left_out(self):
        with open(HEADER, encoding="utf-8") as file:
            names = re.findall(r"(?m)^#define (BERTH_\w+)\(", file.read())
        internal = re.compile(r"BERTH_LIBRARY(_\w+)?|BERTH_TEXT_OF_?")
        self.assertEqual([name for name in names
                          if name not in BODIES and not internal.fullmatch(name)], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
