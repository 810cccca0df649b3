"""Writes what is generated from <berth/abi.h>: abi.lock here, BERTH_ABI_DRAFT in the header itself,
and the module `sys` of sdk/rust.

usage: update.py [--check] [--freeze] [--release]
  --check    writes nothing; fails with a list of what is not up to date
  --freeze   ends the draft with the release of this version: from then on only appends are
             accepted
  --release  records that this minor version is released: from then on an append needs the next one

While version 1 is a draft, every change of the header is accepted, and this command prints those
that are not an append. Every change of a declaration changes BERTH_ABI_DRAFT, so that the host
refuses the plugins that were built before.

After the freeze this command refuses changes that are not an append: a change of that kind needs a
new major version. A new struct, member or enumerator is then marked BERTH_SINCE with a minor version
that is newer than the last release.
"""

import argparse
import os
import re
import sys

import header as reader
import lock as locks
import rust

SDK = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(SDK, "include", "berth", "abi.h")
LOCK = os.path.join(SDK, "abi", "abi.lock")
SYS = os.path.join(SDK, "rust", "src", "sys.rs")
MANIFEST = os.path.join(SDK, "rust", "Cargo.toml")
LAYOUT_TEST = os.path.join(SDK, "rust", "src", "sys_layout_test.rs")


def read_text(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def with_draft(header, text, state):
    """Returns the text of the header with the BERTH_ABI_DRAFT that belongs to its declarations, and
    sets it in `header`. The text of a header without that line is returned as it is."""
    header.draft = locks.draft(header, state)
    return re.sub(r"(?m)^#define BERTH_ABI_DRAFT .*$",
                  f"#define BERTH_ABI_DRAFT 0x{header.draft:016x}ull", text)


def generated(header, state, released):
    """Returns {path: text} of every generated file."""
    return {LOCK: locks.render(header, state, released), SYS: rust.render(header),
            LAYOUT_TEST: rust.render_layout_test(header)}


def check(header_path, lock_text, files=True):
    """Returns what is wrong with the header and the generated files, as lines that name the
    place."""
    try:
        header = reader.read(header_path)
    except reader.HeaderError as error:
        return str(error).splitlines()
    lock = locks.parse(lock_text)
    found = locks.breaks(lock, header) + locks.unmarked(lock, header)
    if found and lock.state == locks.FROZEN:
        return found
    if found:
        return found + ["these changes are not appends: while version 1 is a draft, accept them "
                        "with sdk/abi/update.py"]
    if not files:
        return []
    expected = {header_path: with_draft(header, read_text(header_path), lock.state),
                **generated(header, lock.state, lock.released)}
    return rust.missing_features(header, read_text(MANIFEST)) + [
        f"{os.path.relpath(path, os.path.dirname(SDK))}: not up to date: run sdk/abi/update.py"
        for path, text in expected.items() if read_text(path) != text]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--freeze", action="store_true")
    parser.add_argument("--release", action="store_true")
    flags = parser.parse_args()
    if flags.check:
        found = check(HEADER, read_text(LOCK))
        print("\n".join(found) or "up to date")
        sys.exit(1 if found else 0)

    try:
        header = reader.read(HEADER)
    except reader.HeaderError as error:
        sys.exit(f"{HEADER}:\n{error}")
    lock = locks.parse(read_text(LOCK))
    is_new = not lock.major
    found = [] if is_new else locks.breaks(lock, header) + locks.unmarked(lock, header)
    for text in found:
        print(text)
    if found and lock.state == locks.FROZEN:
        sys.exit("refused: version 1 is frozen, and these changes are not appends")
    state = locks.FROZEN if flags.freeze else lock.state
    if flags.release and state == locks.DRAFT:
        sys.exit("--release: version 1 is a draft; --freeze releases it")
    starts = state == locks.FROZEN and lock.state == locks.DRAFT
    released = header.minor if flags.release or starts else lock.released
    written = {HEADER: with_draft(header, read_text(HEADER), state),
               **generated(header, state, released)}
    for path, text in written.items():
        if read_text(path) != text:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            print(f"wrote {os.path.relpath(path)}")


if __name__ == "__main__":
    main()
