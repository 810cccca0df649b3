"""Tests the lock of <berth/abi.h>: the header matches it, an append is accepted, and every other
change is refused by the name of the member.

usage: lock_test.py
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "sdk", "abi"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import header as reader
import lock as locks
import rust
import update

SAMPLE = """
#include <stddef.h>
#include <stdint.h>
#define BERTH_ABI_MAJOR 1
#define BERTH_ABI_MINOR 0
#define BERTH_MAGIC 0x10u
#define BERTH_POINT_FILTER "berth.filter/1"
#define BERTH_AT(array, i) ((array) + (i))
#define BERTH_SINCE(minor)
#define BERTH_EXPORT __attribute__((visibility("default")))
#ifdef __cplusplus
#define BERTH_NOEXCEPT noexcept
#else
#define BERTH_NOEXCEPT
#endif
/* Text. Frozen. */
typedef struct berth_str {
  const char* ptr;
  uint64_t len;
} berth_str;
typedef uint32_t berth_id;
typedef struct berth_done berth_done;
typedef struct berth_queue berth_queue;
typedef void (*berth_answer)(void* to, berth_str body) BERTH_NOEXCEPT;
enum { BERTH_OP_IN = 1, BERTH_OP_NOT_IN, BERTH_OP_EXISTS };
enum { BERTH_PART_NAME = 0, BERTH_PART_LABELS, BERTH_PART_COUNT };
/* Elements. Frozen. */
typedef struct berth_array {
  const void* data;
  uint64_t count;
} berth_array;
/* An element of arrays. */
typedef struct berth_taint {
  berth_id key;
  berth_id value;
} berth_taint;
typedef struct berth_pod {
  uint32_t struct_size;
  berth_id node_name; /* 0: none */
  berth_str name;
  berth_array taints; /* berth_taint */
  int64_t priority;
  void (*place)(void (*each)(void* to, void* at) BERTH_NOEXCEPT, uint32_t row,
                uint32_t* block) BERTH_NOEXCEPT;
  int32_t (*less)(void* self, const struct berth_pod* a, uint8_t key[4]) BERTH_NOEXCEPT;
} berth_pod;
extern const berth_pod berth_entry_v1;
"""


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi.h")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return reader.read(path)


def edit(text, edits):
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    return text


END_OF_POD = "uint8_t key[4]) BERTH_NOEXCEPT;\n"


class SampleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lock = locks.parse(locks.render(read(SAMPLE), locks.DRAFT))

    def breaks(self, *edits):
        return locks.breaks(self.lock, read(edit(SAMPLE, edits)))

    def test_appends_are_accepted(self):
        for name, *edits in (
                ("no change",),
                ("a comment", ("/* 0: none */", "/* 0: no node */")),
                ("a member", (END_OF_POD, END_OF_POD + "  int64_t os;\n")),
                ("several members", (END_OF_POD, END_OF_POD + "  int32_t os;\n  int32_t host;\n")),
                ("a member of an element", ("value;\n", "value;\n  berth_id effect;\n")),
                ("a constant", ("BERTH_OP_EXISTS", "BERTH_OP_EXISTS, BERTH_OP_GT")),
                ("a part before the count",
                 ("BERTH_PART_COUNT", "BERTH_PART_TIMES, BERTH_PART_COUNT")),
                ("a macro", ("#define BERTH_MAGIC", "#define BERTH_MORE 7\n#define BERTH_MAGIC")),
                ("a struct",
                 ("/* An element",
                  "typedef struct berth_new {\n  int32_t struct_size;\n} berth_new;\n/*")),
                ("members of an opaque struct",
                 ("/* An element", "struct berth_done { int32_t struct_size; };\n/*")),
                ("a minor version", ("MINOR 0", "MINOR 1")),
                ("a name of a parameter", ("* a,", "* first,")),
                ("a name among parameters of one type", ("void* at)", "void* node)")),
                ("a comment of an array", ("/* berth_taint */", "/* berth_taint, sorted */")),
                ("the layout of a macro", ("((array) + (i))", "((array)+\\\n   (i))"))):
            with self.subTest(name):
                self.assertEqual(self.breaks(*edits), [])

    def test_other_changes_are_refused_by_name(self):
        for name, expected, *edits in (
                ("insert",
                 "berth_pod.os: inserted before name; a new member goes to the end of the struct",
                 ("  berth_str name", "  uint64_t os;\n  berth_str name")),
                ("insert first", "berth_taint.os: inserted before key",
                 ("berth_id key;", "berth_id os;\n  berth_id key;")),
                ("reorder", "berth_taint.value: was after key, is before it",
                 ("berth_id key;\n  berth_id value;", "berth_id value;\n  berth_id key;")),
                ("reorder members of other types",
                 "berth_pod.priority: was after taints, is before it",
                 ("  berth_array taints; /* berth_taint */\n  int64_t priority;",
                 "  int64_t priority;\n  berth_array taints; /* berth_taint */")),
                ("remove", "berth_pod.priority: removed or renamed", ("  int64_t priority;\n", "")),
                ("remove the last", "berth_taint.value: removed or renamed",
                 ("  berth_id value;\n", "")),
                ("rename", "berth_pod.priority: removed or renamed; rank is at its offset 40 now",
                 ("int64_t priority;", "int64_t rank;")),
                ("retype", "berth_pod.priority: its type was int64_t, is uint64_t",
                 ("int64_t priority", "uint64_t priority")),
                ("retype to an alias", "berth_pod.node_name: its type was berth_id, is uint32_t",
                 ("berth_id node_name", "uint32_t node_name")),
                ("a parameter", "berth_pod.less: its type was int32_t (*)(void *, "
                 "const berth_pod *, "
                 "uint8_t *), is int32_t (*)(void *, const berth_pod *)", (", uint8_t key[4]", "")),
                ("a parameter's type", "berth_pod.less: its type was",
                 ("void* self", "const void* self")),
                ("the result", "berth_pod.less: its type was",
                 ("int32_t (*less)", "int64_t (*less)")),
                ("append to a frozen struct", "berth_str.more: appended, but berth_str is frozen",
                 ("uint64_t len;\n", "uint64_t len;\n  uint64_t more;\n")),
                ("no longer frozen", "berth_str: was frozen", ("Text. Frozen. */", "Text. */"),
                 ("/* berth_taint */", "/* berth_taint, berth_str */"),
                 ("  berth_str name;\n", "  const berth_str* name;\n"),
                 ("berth_str body", "void* body")),
                ("remove a struct", "berth_queue: this struct was removed",
                 ("typedef struct berth_queue berth_queue;\n", "")),
                ("rename a struct", "berth_taint: this struct was removed or renamed",
                 ("typedef struct berth_taint", "typedef struct berth_spot"),
                 ("} berth_taint", "} berth_spot"), ("/* berth_taint */", "/* berth_spot */")),
                ("renumber", "BERTH_OP_IN: was 1, is 2", ("BERTH_OP_IN = 1", "BERTH_OP_IN = 2")),
                ("insert a constant", "BERTH_OP_NOT_IN: was 2, is 3",
                 ("BERTH_OP_NOT_IN,", "BERTH_OP_GT, BERTH_OP_NOT_IN,")),
                ("remove a constant", "BERTH_OP_EXISTS: this constant was removed",
                 (", BERTH_OP_EXISTS", "")),
                ("a lower count", "BERTH_PART_COUNT: was 2, is 1",
                 ("BERTH_PART_COUNT", "BERTH_PART_COUNT = 1")),
                ("a macro's value", "BERTH_MAGIC: was 16, is 17", ("0x10u", "0x11u")),
                ("a macro's text", "BERTH_POINT_FILTER: was berth.filter/1, is berth.filter/2",
                 ("filter/1", "filter/2")),
                ("a macro's parameters",
                 "BERTH_AT: was (array,i) = ((array)+(i)), is (i,array) = ((array)+(i))",
                 ("AT(array, i)", "AT(i, array)")),
                ("a macro's body",
                 "BERTH_AT: was (array,i) = ((array)+(i)), is (array,i) = ((array)+1+(i))",
                 ("((array) + (i))", "((array) + 1 + (i))")),
                ("the body of a macro for declarations",
                 'BERTH_EXPORT: was  = __attribute__((visibility("default"))), is  =',
                 ('"default"', '"hidden"')),
                ("the elements of an array",
                 "berth_pod.taints: its elements were berth_taint, are berth_str",
                 ("/* berth_taint */", "/* berth_str, of berth_taint */")),
                ("parameters that change places",
                 "berth_pod.place: the order of its parameters was each, each.to, each.at, row, "
                 "block, is each, each.at, each.to, row, block",
                 ("void* to, void* at", "void* at, void* to")),
                ("a typedef", "berth_id: was uint32_t, is uint64_t", ("typedef uint32_t berth_id",
                                                                      "typedef uint64_t berth_id"),
                 ("uint32_t struct_size", "uint64_t struct_size")),
                ("a callback", "berth_answer: was void (*)(void *, berth_str), is void (*)(void *)",
                 (", berth_str body", "")),
                ("the symbol", "berth_entry_v1: this symbol was removed",
                 ("berth_entry_v1", "berth_entry_v2")),
                ("the major version", "BERTH_ABI_MAJOR: was 1, is 2", ("MAJOR 1", "MAJOR 2"))):
            with self.subTest(name):
                found = self.breaks(*edits)
                self.assertTrue(any(text.startswith(expected) for text in found), found)

    def test_a_nested_struct_that_grows_is_refused_where_it_is(self):
        # Not by value in a header that `read` accepts; the lock does not rely on that.
        grown = read(edit(SAMPLE, [("uint64_t len;\n", "uint64_t len;\n  uint64_t more;\n")]))
        self.assertTrue(any(text.startswith("berth_pod.name: was 16 bytes at offset 8, is 24 bytes")
                            for text in locks.breaks(self.lock, grown)))

    def test_a_header_that_breaks_its_own_rules_is_refused(self):
        for name, expected, *edits in (
                ("a hole", "berth_pod.name: the compiler leaves 4 bytes free before it",
                 ("  berth_id node_name; /* 0: none */\n", "")),
                ("a hole at the end", "berth_pod.os: the compiler leaves 4 bytes free after it",
                 (END_OF_POD, END_OF_POD + "  int32_t os;\n")),
                ("by value and not frozen", "berth_str: is passed or stored by value",
                 ("Text. Frozen.", "Text.")),
                ("passed by value", "berth_taint: is passed or stored by value",
                 (END_OF_POD, END_OF_POD + "  void (*taint)(void* to, berth_taint taint);\n")),
                ("a newer member than the header",
                 "berth_taint.value: BERTH_SINCE(1) is newer than "
                 "BERTH_ABI_MINOR 0", ("berth_id value;", "berth_id value BERTH_SINCE(1);")),
                ("a function that may throw", "berth_pod.less: add BERTH_NOEXCEPT behind",
                 ("key[4]) BERTH_NOEXCEPT", "key[4])")),
                ("a callback that may throw", "berth_pod.place: add BERTH_NOEXCEPT behind its "
                 "parameters, and behind those of each callback that it takes",
                 ("void* at) BERTH_NOEXCEPT", "void* at)")),
                ("a type that may throw", "berth_answer: add BERTH_NOEXCEPT",
                 ("body) BERTH_NOEXCEPT", "body)")),
                ("a mark without effect", "berth_answer: add BERTH_NOEXCEPT",
                 ("#define BERTH_NOEXCEPT noexcept", "#define BERTH_NOEXCEPT")),
                ("an array of an unknown type", "berth_pod.taints: its comment must name the type",
                 ("/* berth_taint */", "/* of the node */")),
                ("an array by value", "berth_taint: is passed or stored by value",
                 (END_OF_POD, END_OF_POD + "  berth_taint more[2];\n")),
                ("a constant by value", "berth_taint: is passed or stored by value",
                 (END_OF_POD, END_OF_POD + "  const berth_taint more;\n")),
                ("an alias by value", "berth_taint: is passed or stored by value",
                 ("typedef struct berth_pod",
                  "typedef berth_taint berth_mark;\ntypedef struct berth_pod"),
                 (END_OF_POD, END_OF_POD + "  berth_mark more;\n")),
                ("no size", "berth_taint: a reader cannot detect a new member",
                 (" /* berth_taint */", "")),
                ("a comment of another member", "berth_taint: a reader cannot detect a new member",
                 (" /* berth_taint */", ""), ("/* 0: none */", "/* of a berth_taint */")),
                ("a newer struct than the header",
                 "berth_taint: BERTH_SINCE(1) is newer than BERTH_ABI_MINOR 0",
                 ("} berth_taint;", "} berth_taint BERTH_SINCE(1);")),
                ("a newer enumerator than the header",
                 "BERTH_OP_EXISTS: BERTH_SINCE(1) is newer than BERTH_ABI_MINOR 0",
                 ("BERTH_OP_EXISTS", "BERTH_OP_EXISTS BERTH_SINCE(1)")),
                ("an enumeration with a name", "enum berth_op: an enumeration has no name",
                 ("enum { BERTH_OP_IN", "enum berth_op { BERTH_OP_IN")),
                ("a function", "berth_call: a declaration of the kind FunctionDecl is not locked",
                 ("extern const", "void berth_call(void);\nextern const")),
                ("an inline function", "berth_call: a declaration of the kind FunctionDecl",
                 ("extern const", "static inline void berth_call(void) {}\nextern const")),
                ("a union", "union berth_any: expected a struct",
                 ("extern const", "union berth_any { int a; };\nextern const")),
                ("a struct without a tag", "berth_new: expected a name also before the braces",
                 ("extern const", "typedef struct { int a; } berth_new;\nextern const")),
                ("a macro that is no value",
                 "BERTH_MAGIC: expected a number or a text, found sizeof",
                 ("0x10u", "sizeof(int)")),
                ("a macro that is several texts", "BERTH_POINT_FILTER: expected a number or a text",
                 ('"berth.filter/1"', '"berth" ".filter/1"')),
                ("a macro of an unknown name", "BERTH_OTHER", ("0x10u", "BERTH_OTHER")),
                ("no C", "", ("typedef uint32_t", "typedef unknown_t"))):
            with self.subTest(name):
                with self.assertRaises(reader.HeaderError) as caught:
                    read(edit(SAMPLE, edits))
                self.assertIn(expected, str(caught.exception))

    def test_after_the_freeze_an_append_states_its_version(self):
        frozen = locks.parse(locks.render(read(SAMPLE), locks.FROZEN))
        for name, declared, minor, expected in (
                ("marked", "int64_t os BERTH_SINCE(1);", 1, []),
                ("an opaque struct by its name", "const berth_done* os BERTH_SINCE(1);", 1, []),
                ("not marked", "int64_t os;", 1, ["berth_pod.os: appended without BERTH_SINCE(1)"]),
                ("without a version", "int64_t os;", 0,
                 ["berth_pod.os: appended without BERTH_SINCE(1)"]),
                ("an older version", "int64_t os BERTH_SINCE(1);", 2,
                 ["berth_pod.os: appended without BERTH_SINCE(2)"])):
            with self.subTest(name):
                header = read(edit(SAMPLE, [(END_OF_POD, END_OF_POD + f"  {declared}\n"),
                                            ("MINOR 0", f"MINOR {minor}")]))
                self.assertEqual(locks.breaks(frozen, header), [])
                found = locks.unmarked(frozen, header)
                self.assertEqual([text.split(";")[0] for text in found], expected)
                self.assertEqual(locks.unmarked(self.lock, header), [])
                again = locks.parse(locks.render(header, locks.FROZEN))
                self.assertEqual(locks.unmarked(again, header), [])

    def test_after_the_freeze_a_new_struct_states_its_version(self):
        frozen = locks.parse(locks.render(read(SAMPLE), locks.FROZEN))
        new = "typedef struct berth_new {{ uint32_t struct_size; }} berth_new{};\nextern const"
        for name, mark, minor, expected in (
                ("marked", " BERTH_SINCE(1)", 1, []),
                ("not marked", "", 1, ["berth_new: added without BERTH_SINCE(1)"]),
                ("without a version", "", 0, ["berth_new: added without BERTH_SINCE(1)"]),
                ("an older version", " BERTH_SINCE(1)", 2,
                 ["berth_new: added without BERTH_SINCE(2)"])):
            with self.subTest(name):
                header = read(edit(SAMPLE, [("extern const", new.format(mark)),
                                            ("MINOR 0", f"MINOR {minor}")]))
                found = locks.unmarked(frozen, header)
                self.assertEqual([text.split(";")[0] for text in found], expected)
                again = locks.parse(locks.render(header, locks.FROZEN))
                self.assertEqual(again.structs["berth_new"].since, 1 if mark else 0)
        header = read(edit(SAMPLE, [("MINOR 0", "MINOR 1"),
                                    ("} berth_taint;", "} berth_taint BERTH_SINCE(1);")]))
        self.assertEqual(locks.unmarked(frozen, header),
                         ["berth_taint: was BERTH_SINCE(0), is BERTH_SINCE(1)"])

    def test_after_the_freeze_a_new_enumerator_states_its_version(self):
        frozen = locks.parse(locks.render(read(SAMPLE), locks.FROZEN))
        for name, declared, minor, expected in (
                ("marked", "BERTH_OP_GT BERTH_SINCE(1)", 1, []),
                ("marked, with a value", "BERTH_OP_GT BERTH_SINCE(1) = 7", 1, []),
                ("not marked", "BERTH_OP_GT", 1, ["BERTH_OP_GT: added without BERTH_SINCE(1)"]),
                ("the mark in a comment", "BERTH_OP_GT /* BERTH_SINCE(1) */", 1,
                 ["BERTH_OP_GT: added without BERTH_SINCE(1)"]),
                ("without a version", "BERTH_OP_GT", 0,
                 ["BERTH_OP_GT: added without BERTH_SINCE(1)"]),
                ("an older version", "BERTH_OP_GT BERTH_SINCE(1)", 2,
                 ["BERTH_OP_GT: added without BERTH_SINCE(2)"])):
            with self.subTest(name):
                header = read(edit(SAMPLE, [("BERTH_OP_EXISTS", f"BERTH_OP_EXISTS, {declared}"),
                                            ("MINOR 0", f"MINOR {minor}")]))
                self.assertEqual(locks.breaks(frozen, header), [])
                found = locks.unmarked(frozen, header)
                self.assertEqual([text.split(";")[0] for text in found], expected)
                self.assertEqual(locks.unmarked(self.lock, header), [])
                again = locks.parse(locks.render(header, locks.FROZEN))
                self.assertEqual(again.constants, header.constants)
                self.assertEqual(again.constant_since, header.constant_since)
                self.assertEqual(locks.unmarked(again, header), [])
        header = read(edit(SAMPLE, [("MINOR 0", "MINOR 1"),
                                    ("BERTH_OP_EXISTS", "BERTH_OP_EXISTS BERTH_SINCE(1)")]))
        self.assertEqual(locks.unmarked(frozen, header),
                         ["BERTH_OP_EXISTS: was BERTH_SINCE(0), is BERTH_SINCE(1)"])
        # A count is not an enumerator that is added: it grows with what it counts.
        header = read(edit(SAMPLE, [
            ("MINOR 0", "MINOR 1"),
            ("BERTH_PART_COUNT", "BERTH_PART_TIMES BERTH_SINCE(1), BERTH_PART_COUNT")]))
        self.assertEqual(locks.breaks(frozen, header) + locks.unmarked(frozen, header), [])

    def test_a_released_version_accepts_no_more_members(self):
        one = [(END_OF_POD, END_OF_POD + "  int64_t os BERTH_SINCE(1);\n"), ("MINOR 0", "MINOR 1")]
        lock = locks.render(read(edit(SAMPLE, one)), locks.FROZEN, released=1)
        self.assertIn("abi 1.1 frozen, released 1.1\n", lock)
        lock = locks.parse(lock)
        self.assertEqual((lock.state, lock.released), (locks.FROZEN, 1))
        for minor, since, expected in ((1, 1, "without BERTH_SINCE(2)"),
                                       (2, 1, "without BERTH_SINCE(2)"), (2, 2, None)):
            with self.subTest(minor=minor, since=since):
                more = f"  int64_t more BERTH_SINCE({since});\n"
                found = locks.unmarked(lock, read(edit(SAMPLE, [
                    (END_OF_POD, one[0][1] + more), ("MINOR 0", f"MINOR {minor}")])))
                self.assertEqual([text.split(";")[0] for text in found],
                                 [f"berth_pod.more: appended {expected}"] if expected else [])
        # Before the release, the same version takes further members.
        lock = locks.parse(locks.render(read(edit(SAMPLE, one)), locks.FROZEN, released=0))
        more = (END_OF_POD, one[0][1] + "  int64_t more BERTH_SINCE(1);\n")
        self.assertEqual(locks.unmarked(lock, read(edit(SAMPLE, [more, one[1]]))), [])

    def test_numbers_have_the_value_of_the_compiler(self):
        for text, expected in (("(-1)", -1), ("-1", -1), ("(1u << 2)", 4), ("0x10u", 16),
                               ("(BERTH_OP_EXISTS | 8)", 11), ("0x100000000ull", 1 << 32)):
            with self.subTest(text):
                header = read(edit(SAMPLE, [("0x10u", text)]))
                self.assertEqual(header.numbers["BERTH_MAGIC"], expected)
                lock = locks.parse(locks.render(header, locks.DRAFT))
                self.assertEqual(lock.numbers["BERTH_MAGIC"], expected)

    def test_numbers_have_a_type_of_rust(self):
        for value, expected in ((0, "u32"), (2**32 - 1, "u32"), (2**32, "u64"), (-1, "i32"),
                                (-2**31, "i32"), (-2**31 - 1, "i64")):
            self.assertEqual(rust.number_type(value), expected)

    def test_rust_states_the_version_of_an_enumerator(self):
        header = read(edit(SAMPLE, [("BERTH_OP_EXISTS", "BERTH_OP_EXISTS BERTH_SINCE(1)"),
                                    ("MINOR 0", "MINOR 1"), ("POINT_FILTER", "POINT_POD")]))
        self.assertRegex(rust.render(header),
                         "/// Minor version 1 added it: test `abi_minor` of the host before its use"
                         r"\.\n#\[cfg_attr\(not\(feature = \"host_1\"\), deprecated\([^\n]*\n"
                         "pub const BERTH_OP_EXISTS: u32 = 3;\n")

    def test_rust_states_the_version_of_a_member(self):
        header = read(edit(SAMPLE, [(END_OF_POD, END_OF_POD + "  int64_t os BERTH_SINCE(1);\n"),
                                    ("MINOR 0", "MINOR 1"),
                                    ("POINT_FILTER", "POINT_POD")]))
        self.assertRegex(rust.render(header),
                         "    /// Minor version 1 added it: test `has!` before its use\\.\n"
                         r"    #\[cfg_attr\([^\n]*\n"
                         "    pub os: i64,\n")
        self.assertIn("    berth_pod: BERTH_POINT_POD\n", rust.render(header))
        header = read(SAMPLE)
        with self.assertRaisesRegex(ValueError, "must be named berth_filter"):
            rust.render(header)

    def test_rust_has_a_feature_for_each_minor_version(self):
        header = read(edit(SAMPLE, [("MINOR 0", "MINOR 2")]))
        one, two = "host_1 = []", 'host_2 = ["host_1"]'
        for manifest, expected in (((one, two), []), ((one,), [two]), ((one, "host_2 = []"), [two]),
                                   ((), [one, two])):
            with self.subTest(manifest):
                found = rust.missing_features(header, "\n".join(("[features]", *manifest, "")))
                self.assertEqual(found, [f"sdk/rust/Cargo.toml: expected the feature {feature}"
                                         for feature in expected])

    def test_a_missing_compiler_is_named(self):
        with unittest.mock.patch.object(reader, "CLANG", "no-clang"):
            with self.assertRaisesRegex(reader.HeaderError, "no-clang not found: install the "
                                                            "packages of .ci/packages.txt"):
                read(SAMPLE)

    def test_a_lock_that_was_edited_by_hand_is_refused(self):
        with self.assertRaisesRegex(ValueError, "abi.lock:2: expected a line"):
            locks.parse(locks.TITLE + "struct berth_str 16")

    def test_names_parameters(self):
        for declared, expected in (
                ("int32_t (*less)(void* self, const berth_pod* a)", ["self", "a"]),
                ("void (*key)(uint8_t out[32])", ["out"]),
                ("void (*deinit)(void)", []),
                ("void (*list)(void (*each)(void* to, int a), void* to /* any */)", ["each", "to"]),
                ("const berth_block* (*block)(uint32_t index) BERTH_NOEXCEPT", ["index"]),
                ("int64_t priority", [])):
            with self.subTest(declared):
                self.assertEqual(reader.parameter_names(declared), expected)

    def test_names_parameters_that_types_do_not_tell_apart(self):
        for declared, expected in (
                ("void (*less)(void* self, const berth_pod* a, const berth_pod* b)",
                 ["self", "a", "b"]),
                ("void (*less)(void* self, const berth_pod *a, const berth_pod* b)",
                 ["self", "a", "b"]),
                ("typedef void (*berth_less)(int32_t a, int32_t b) BERTH_NOEXCEPT", ["a", "b"]),
                ("void (*key)(void* self, uint8_t out[4], uint8_t in[4])", ["self", "out", "in"]),
                ("void (*place)(uint32_t row, uint32_t* index)", []),
                ("void (*list)(void (*each)(void* to, const berth_pod* pod), void* to)", []),
                ("void (*list)(void (*each)(void* to, void* at), int32_t n)",
                 ["each", "each.to", "each.at", "n"]),
                ("void (*deinit)(void)", []), ("int64_t priority", [])):
            with self.subTest(declared):
                self.assertEqual(reader.parameter_order(declared), expected)


class HeaderTest(unittest.TestCase):
    """Tests of <berth/abi.h> itself."""

    @classmethod
    def setUpClass(cls):
        with open(update.HEADER, encoding="utf-8") as file:
            cls.text = file.read()
        cls.header = reader.read(update.HEADER)

    def changed(self, added, at):
        """Returns the breaks after `added` became a member of every struct, at its begin or
        end."""
        pattern = re.compile(r"^((?:typedef )?struct (berth_\w+) \{[^\n]*\n)(.*?)(^\})",
                             re.MULTILINE | re.DOTALL)
        text = pattern.sub(rf"\1{added}\3\4" if at == "begin" else rf"\1\3{added}\4", self.text)
        self.assertEqual(len(pattern.findall(self.text)), len(self.header.structs))
        lock = locks.parse(locks.render(self.header, locks.DRAFT))
        return locks.breaks(lock, read(text))

    def test_matches_the_lock(self):
        self.assertEqual(update.check(update.HEADER, update.read_text(update.LOCK)), [])

    def test_a_draft_has_no_release(self):
        done = subprocess.run([sys.executable, "-B", update.__file__, "--release"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("version 1 is a draft; --freeze releases it", done.stderr)

    def test_every_function_is_noexcept(self):
        text = re.sub(r"\) BERTH_NOEXCEPT|\)BERTH_NOEXCEPT", ")", self.text)
        with self.assertRaises(reader.HeaderError) as caught:
            read(text)
        functions = [f"{struct.name}.{member.name}" for struct in self.header.structs.values()
                     for member in struct.members if "(*)" in member.type]
        functions += [name for name, ctype in self.header.types.items() if "(*)" in ctype]
        self.assertGreater(len(functions), 100)
        self.assertEqual(sorted(line.split(":")[0] for line in str(caught.exception).splitlines()),
                         sorted(functions))
        with self.assertRaisesRegex(reader.HeaderError, r"^berth_strings\.text: [^\n]*\Z"):
            read(edit(self.text, [
                ("(*text)(const berth_host* host, berth_id id) BERTH_NOEXCEPT",
                 "(*text)(const berth_host* host, berth_id id)")]))

    def test_what_plugins_compile_in_is_locked(self):
        lock = locks.parse(locks.render(self.header, locks.DRAFT))
        for expected, old, new in (
                ("BERTH_HAS: was (p,T,m) = ", "((p)->struct_size >= offsetof(T, m)",
                 "((p)->struct_size > offsetof(T, m)"),
                ("BERTH_ARRAY_HAS: was ", "((array).stride >= offsetof",
                 "((array).stride > offsetof"),
                ("BERTH_AT: was ", "(uint64_t)(i) * (array).stride", "(uint64_t)(i) * sizeof(T)"),
                ("BERTH_PART: was ", "((uint64_t)1 << BERTH_PART", "((uint64_t)2 << BERTH_PART"),
                ("BERTH_IS_CANCELLED: was ", "cancel, __ATOMIC_RELAXED) != 0",
                 "cancel, __ATOMIC_RELAXED) == 1"),
                ("BERTH_NOTE: was ", "{6u,   ", "{5u,   "),
                ("BERTH_EXPORT: was ", 'visibility("default")', 'visibility("hidden")'),
                ("berth_plugin.columns: its elements were berth_column_request, are berth_slot",
                 "berth_array columns; /* berth_column_request */",
                 "berth_array columns; /* berth_slot */"),
                ("berth_node_lookup.place: the order of its parameters was host, in, row, block, "
                 "index, is host, in, row, index, block",
                 "uint32_t* block,\n                      uint32_t* index",
                 "uint32_t* index,\n                      uint32_t* block")):
            with self.subTest(expected):
                found = locks.breaks(lock, read(edit(self.text, [(old, new)])))
                self.assertEqual(len(found), 1, found)
                self.assertEqual(found[0][:len(expected)], expected)

    def test_every_struct_may_grow_unless_it_is_frozen(self):
        found = self.changed("  uint32_t added;\n  uint32_t added_2;\n", "end")
        frozen = [name for name, struct in self.header.structs.items() if struct.frozen]
        self.assertGreater(len(frozen), 5)
        appended = [text for text in found if "appended, but" in text]
        self.assertEqual(appended, [f"{name}.{member}: appended, but {name} is frozen"
                                    for name in frozen for member in ("added", "added_2")])

    def test_no_struct_accepts_an_inserted_member(self):
        found = self.changed("  uint32_t added;\n  uint32_t added_2;\n", "begin")
        self.assertEqual([text.split(":")[0] for text in found if "added: inserted before" in text],
                         [f"{name}.added" for name in self.header.structs])


if __name__ == "__main__":
    unittest.main(verbosity=2)
