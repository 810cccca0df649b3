"""The compilers of Rust that the tests use."""

import shutil


def rust_compilers():
    """Returns Debian's rustc, and the first one in PATH if it is another one. Raises AssertionError
    without any."""
    paths = (shutil.which("rustc", path="/usr/bin"), shutil.which("rustc"))
    found = list(dict.fromkeys(path for path in paths if path))
    if not found:
        raise AssertionError("rustc not found: see .ci/packages.txt")
    return found
