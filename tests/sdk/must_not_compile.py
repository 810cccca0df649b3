"""Compiles a snippet twice: without -DBAD, which must succeed, and with -DBAD, which must fail.

usage: must_not_compile.py [--link] SNIPPET COMPILER FLAG...
--link also links the snippet, as a plugin is linked.
The first line of a snippet is `// expected: TEXT`. For an error that is not a static_assert it is
`// expected: TEXT OF GCC | TEXT OF CLANG`. The compiler's output must contain one of the texts. GCC
must print no more than 40 lines, so that an author sees the text.
"""
import subprocess
import sys

MOST_LINES = 40


def is_gcc(compiler):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return "Free Software Foundation" in version.stdout


def main(*arguments):
    link = arguments[0] == "--link"
    snippet, compiler, *flags = arguments[1:] if link else arguments
    with open(snippet, encoding="utf-8") as file:
        first = file.readline().rstrip("\n")
    prefix = "// expected: "
    if not first.startswith(prefix):
        sys.exit(f"{snippet}:1: expected `{prefix}TEXT`, found {first!r}")
    expected = first.removeprefix(prefix)
    action = ("-shared", "-Wl,-z,defs", "-o", "/dev/null") if link else ("-fsyntax-only",)

    def compile_it(*more):
        return subprocess.run([compiler, *action, *flags, *more, snippet],
                              capture_output=True, text=True, check=False)

    good = compile_it()
    if good.returncode != 0:
        sys.exit(f"{snippet}: does not compile without -DBAD:\n{good.stderr[:4000]}")
    bad = compile_it("-DBAD")
    if bad.returncode == 0:
        sys.exit(f"{snippet}: compiles with -DBAD; expected {expected!r}")
    # Some compilers print the newlines of a message as \n.
    found = bad.stderr.replace("\\n", "\n")
    if not any(text in found for text in expected.split(" | ")):
        sys.exit(f"{snippet}: expected {expected!r}, found:\n{bad.stderr[:4000]}")
    lines = bad.stderr.count("\n")
    if lines > MOST_LINES and is_gcc(compiler):
        sys.exit(f"{snippet}: expected at most {MOST_LINES} lines, found {lines}:\n{bad.stderr}")


if __name__ == "__main__":
    main(*sys.argv[1:])
