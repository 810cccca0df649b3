"""Tests the draft of <berth/abi.h>: BERTH_ABI_DRAFT changes with every declaration, and the header
and the Rust crate have the current one.

usage: draft_test.py
"""

import os
import tempfile
import unittest

import lock_test

# pylint: disable=wrong-import-order
import header as reader
import lock as locks
import rust
import update


def draft(*edits, state=locks.DRAFT):
    return locks.draft(lock_test.read(lock_test.edit(lock_test.SAMPLE, edits)), state)


LINE = "#define BERTH_ABI_DRAFT 0x123ull\n"


class DraftTest(unittest.TestCase):
    def test_every_declaration_counts(self):
        found = {draft()}
        changes = (("a name", "int64_t priority", "int64_t rank"),
                   ("a type", "int64_t priority", "uint64_t priority"),
                   ("an order", "berth_id key;\n  berth_id value;",
                    "berth_id value;\n  berth_id key;"),
                   ("a member", lock_test.END_OF_POD, lock_test.END_OF_POD + "  int64_t os;\n"),
                   ("a constant", "BERTH_OP_IN = 1", "BERTH_OP_IN = 2"),
                   ("a number", "0x10u", "0x11u"), ("a text", "berth.filter/1", "berth.filter/2"),
                   ("a body", "((array) + (i))", "((array) - (i))"),
                   ("a version", "MINOR 0", "MINOR 1"))
        for name, old, new in changes:
            with self.subTest(name):
                changed = draft((old, new))
                self.assertNotIn(changed, found)
                self.assertLess(changed, 1 << 64)
                found.add(changed)

    def test_comments_and_the_draft_itself_do_not_count(self):
        for old, new in (("/* 0: none */", "/* 0: no node */"), ("/* An element", "/* One element"),
                         ("#define BERTH_MAGIC", LINE + "#define BERTH_MAGIC")):
            with self.subTest(new):
                self.assertEqual(draft((old, new)), draft())

    def test_a_frozen_header_has_none(self):
        self.assertEqual(draft(state=locks.FROZEN), 0)

    def test_update_writes_it(self):
        text = lock_test.edit(lock_test.SAMPLE,
                              [("#define BERTH_MAGIC", LINE + "#define BERTH_MAGIC")])
        header = lock_test.read(text)
        self.assertEqual(header.draft, 0x123)
        written = update.with_draft(header, text, locks.DRAFT)
        self.assertEqual(lock_test.read(written).draft, draft())
        self.assertEqual(written.replace(f"0x{draft():016x}ull", "0x123ull"), text)
        frozen = update.with_draft(header, text, locks.FROZEN)
        self.assertEqual(lock_test.read(frozen).draft, 0)

    def test_rust_has_it(self):
        header = lock_test.read(lock_test.edit(lock_test.SAMPLE, [("POINT_FILTER", "POINT_POD")]))
        header.draft = 5
        self.assertIn("pub const BERTH_ABI_DRAFT: u64 = 0x0000000000000005;\n", rust.render(header))

    def test_a_stale_draft_is_reported(self):
        lock = update.read_text(update.LOCK)
        text = update.read_text(update.HEADER)
        header = reader.read(update.HEADER)
        self.assertEqual(header.draft, locks.draft(header, locks.parse(lock).state))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "abi.h")
            with open(path, "w", encoding="utf-8") as file:
                file.write(lock_test.edit(text, [(f"0x{header.draft:016x}ull", "0x123ull")]))
            found = update.check(path, lock)
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0], r"abi\.h: not up to date: run sdk/abi/update\.py")


if __name__ == "__main__":
    unittest.main(verbosity=2)
