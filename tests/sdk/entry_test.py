"""Builds libraries as plugin authors do, with one compiler, and checks what they export.

usage: entry_test.py VERSION_SCRIPT INCLUDE_FOLDER COMPILER FLAG...
Exits with status 77 if the compiler or its standard library is not installed.
"""
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MAGIC = 0x31485442
VERSION_SCRIPT, INCLUDE, *COMPILER = sys.argv[1:]


class Info(ctypes.Structure):
    """berth_plugin_info."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("name", ctypes.c_char_p), ("version", ctypes.c_char_p),
                ("about", ctypes.c_char_p),
                ("points", ctypes.POINTER(ctypes.c_char_p)),
                ("services", ctypes.POINTER(ctypes.c_char_p)),
                ("kinds", ctypes.POINTER(ctypes.c_char_p)),
                ("fields", ctypes.POINTER(ctypes.c_char_p)),
                ("pod_fields", ctypes.POINTER(ctypes.c_char_p)),
                ("args_schema", ctypes.c_char_p)]


class Entry(ctypes.Structure):
    """berth_entry, without its functions."""
    _fields_ = [("magic", ctypes.c_uint32), ("struct_size", ctypes.c_uint32),
                ("abi_major", ctypes.c_uint16), ("abi_minor", ctypes.c_uint16),
                ("min_host_minor", ctypes.c_uint16), ("pointer_bits", ctypes.c_uint16),
                ("build_flags", ctypes.c_uint64), ("n_plugins", ctypes.c_uint64),
                ("plugins", ctypes.POINTER(ctypes.POINTER(Info)))]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def texts(pointer):
    out = []
    while pointer[len(out)] is not None:
        out.append(pointer[len(out)].decode())
    return out


def build(library, *sources):
    unique = [] if "clang" in COMPILER[0] else ["-fno-gnu-unique"]
    command = [*COMPILER, "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden",
               "-fvisibility-inlines-hidden", *unique, "-DBERTH_MIN_HOST_MINOR=0",
               "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror",
               "-I", INCLUDE, "-I", ROOT, *(os.path.join(HERE, source) for source in sources),
               "-o", library, "-Wl,-z,defs,-z,now,-z,relro", "-Wl,--exclude-libs,ALL",
               f"-Wl,--version-script={VERSION_SCRIPT}"]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise AssertionError(built.stderr)


class EntryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.library = os.path.join(cls.folder.name, "libentry.so")
        build(cls.library, "entry_plugin.cc")
        # The library must stay loaded, because the entry points into it.
        cls.loaded = ctypes.CDLL(cls.library)
        cls.entry = Entry.in_dll(cls.loaded, "berth_entry_v1")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_exports_only_its_entry(self):
        symbols = run("nm", "-D", "--defined-only", self.library).split("\n")
        self.assertEqual([line.split()[1:] for line in symbols if line],
                         [["D", "berth_entry_v1"]])

    def test_note_equals_entry(self):
        dump = run("readelf", "-n", self.library)
        note = re.search(r"Berth +0x([0-9a-f]+).*\n +description data: ([0-9a-f ]+)", dump)
        self.assertIsNotNone(note, dump)
        descriptor = bytes.fromhex(note.group(2))
        self.assertEqual(len(descriptor), int(note.group(1), 16))
        self.assertEqual(len(descriptor) % 4, 0)
        text = descriptor.rstrip(b"\0").decode()
        self.assertLess(len(descriptor) - len(text), 4)
        entry = self.entry
        plugins = [entry.plugins[i].contents for i in range(entry.n_plugins)]
        facts = {"abi": [entry.abi_major, entry.abi_minor],
                 "minHostMinor": entry.min_host_minor,
                 "plugins": [{"name": plugin.name.decode(), "version": plugin.version.decode(),
                              "points": texts(plugin.points)} for plugin in plugins]}
        self.assertEqual(json.loads(text), facts)
        self.assertEqual(text, json.dumps(facts, separators=(",", ":")))

    def test_entry_states_the_declarations_of_the_classes(self):
        entry = self.entry
        self.assertEqual((entry.magic, entry.pointer_bits, entry.n_plugins), (MAGIC, 64, 2))
        rack, order = (entry.plugins[i].contents for i in range(2))
        self.assertEqual(rack.name, b"acme.Rack")
        self.assertEqual(rack.about, b'Keeps a "rack" below its power.')
        self.assertEqual(texts(rack.points), ["berth.pre_filter/1", "berth.filter/1"])
        self.assertEqual(texts(rack.services), ["berth.strings/1"])
        self.assertEqual(texts(rack.kinds), [])
        schema = json.loads(rack.args_schema)
        self.assertEqual(list(schema["properties"]), ["watts", "label", "ignored"])
        self.assertEqual(schema["properties"]["watts"]["maximum"], 100000)
        self.assertEqual(texts(order.points), ["berth.queue_sort/1"])
        self.assertIsNone(order.args_schema)

    def test_has_no_static_constructors(self):
        # Static constructors of the plugin have these names; start-up code of the compiler has no
        # symbol.
        symbols = run("nm", self.library)
        self.assertNotRegex(symbols, r"_GLOBAL__sub_I|__cxx_global_var_init")
        sections = run("readelf", "-SW", self.library)
        for array in ("init_array", "fini_array"):
            found = re.search(rf"\.{array}\s+{array.upper()}\s+\S+ \S+ (\S+)", sections)
            self.assertTrue(found is None or int(found.group(1), 16) <= 8, sections)

    def test_methods_may_be_in_another_file_than_the_entry(self):
        build(os.path.join(self.folder.name, "libtwo_files.so"), "two_files/entry.cc",
              "two_files/pre_filter.cc")

    def test_has_no_unique_symbol(self):
        self.assertNotIn("UNIQUE", run("readelf", "-sW", self.library))


def installed():
    if shutil.which(COMPILER[0]) is None:
        return False
    probe = subprocess.run([*COMPILER, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"],
                           input="#include <string>", capture_output=True, text=True, check=False)
    return probe.returncode == 0


if __name__ == "__main__":
    if not installed():
        print(f"{' '.join(COMPILER)}: not installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
