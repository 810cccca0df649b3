"""Checks that functions have at most 70 lines.

sizes.txt contains the exceptions with their reasons.
"""

import os
import re

import tree

MAX_FUNCTION = 70

# Comments and literals. They are blanked out, because they may contain braces. Newlines are kept,
# so that line numbers do not change.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# Matches a head that opens a scope with functions in it, such as a namespace or class. A macro
# without a semicolon, such as BERTH_PLUGIN(Name), may stand before it.
SCOPE = re.compile(r"^([A-Z_]+\([^()]*\)\s*)?(inline\s+)?namespace\b|^extern\b[^(]*$|"
                   r"^(template\s*<.*>\s*)?(typedef\s+)?(class|struct|union|enum)\b", re.DOTALL)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def functions(text):
    """Yields (first line, last line, head) of every function that is not inside another one.

    `head` is the text before a brace. The brace opens a scope (namespace, class), a function body
    (the head has a parameter list), a part of the head (default argument, member initialiser), or
    data.
    """
    text = DIRECTIVE.sub(blank, NOISE.sub(blank, text))
    head, first, line, depth, inner = "", 0, 1, 0, 0
    for char in text:
        line += char == "\n"
        if depth or inner:  # Inside a body or a brace of the head: find its end.
            step = (char == "{") - (char == "}")
            if inner:
                inner += step
                head += "" if inner else "}"
                continue
            depth += step
            if not depth:
                if "(" in head:
                    yield first, line, " ".join(head.split())
                head = ""
        elif char == "{":
            if head.count("(") > head.count(")") or MEMBER_INIT.search(head):
                inner = 1
            elif SCOPE.match(head.strip()):
                head = ""
            else:
                depth = 1
        elif char in "};" or (char == ":" and head.strip() in ("public", "private", "protected")):
            head = ""
        else:
            first = line if not head.strip() else first
            head += char


# Matches a head up to the brace of a member initialiser in a constructor: `Foo() : a_{1}`.
MEMBER_INIT = re.compile(r"\)\s*(noexcept\s*)?:(?!:).*\w$", re.DOTALL)


def allowed():
    """Returns the exceptions in sizes.txt: {path:function: (allowed lines, line)}."""
    table = {}
    for number, line in tree.lines("tests/lint/sizes.txt"):
        if line.strip() and not line.startswith("#"):
            subject, limit, reason = line.split(None, 2)
            table[subject] = (int(limit), number)
    return table


def name_of(head):
    match = re.search(r"([~\w:]+)\s*\(([^()]*)", head)
    if not match:
        return head[:40]
    is_macro = len(match.group(1)) > 1 and match.group(1).isupper()
    return f"{match.group(1)}({match.group(2)})" if is_macro else match.group(1)


def main():
    findings = tree.Findings("sizes")
    table, used = allowed(), set()

    paths = tree.files("host", "sdk", "plugins", "examples", "tests", ends=tree.CPP)
    for path in paths:
        text = "\n".join(line for _, line in tree.lines(path))
        for first, last, head in functions(text):
            subject, size = f"{path}:{name_of(head)}", last - first + 1
            if size > MAX_FUNCTION:
                used.add(subject)
            limit = table.get(subject, (MAX_FUNCTION, 0))[0]
            if size > limit:
                findings.add(path, first, f"{name_of(head)} has {size} lines, but only {limit} are "
                             "allowed: split it into smaller functions")
    for subject in sorted(set(table) - used):
        findings.add("tests/lint/sizes.txt", table[subject][1],
                     f"{subject} needs no exception any more: delete this line")
    findings.end(len(paths))


if __name__ == "__main__":
    main()
