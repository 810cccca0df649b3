"""Measures how much each header of host/ hides, and reports what is shallow.

A deep type does much behind few declarations. Comments never count, so that a contract costs
nothing. The rules:

  members   A type has at most 25 public members.
  ratio     Behind each public function or type of a header stand at least 2 lines of code, if it
            has 8 of them or more. Members that are data do not count.
  shorter   A .cc file of less than 20 lines of code has more of them than its header.
  forward   At most half of the functions of a type only call the function of the same name of a
            member, if it has 4 functions or more.
  lonely    A header of less than 30 lines of code, with those of its .cc file, is included by more
            than one file: otherwise it belongs into the file that includes it.
  unused    A header is included by a file that is not a test.

depth.txt holds the exceptions with their reasons. `depth.py --report` prints a table of the rooms.
"""

import collections
import re
import sys

import layering
import sizes
import tree

MAX_MEMBERS = 25
MIN_RATIO, MIN_DECLARATIONS = 2, 8
MIN_FORWARDERS = 4
MAX_SHORT = 20
MAX_LONELY = 30

TYPE = re.compile(r"(?:template\s*<.*?>\s*)?(class|struct)\s+(?:\[\[\w+\]\]\s*)?(\w+)\b", re.DOTALL)
NAMESPACE = re.compile(r"(inline\s+)?namespace\b|extern\s*$")
# Declarations that are no part of an interface.
SILENT = re.compile(r"(friend|using|static_assert|typedef)\b|.*=\s*delete$|(virtual\s+)?~", re.DOTALL)
NO_BODY = re.compile(r"(template\s*<.*>\s*)?(class|struct|enum)(\s+class)?\s+\w+$", re.DOTALL)
FORWARD = re.compile(r"(?:return\s+)?\w+(?:\.|->|\(\)->|\(\)\.)(\w+)\([^;]*\);")


def clean(text):
    """Returns `text` with spaces in place of comments, literals and directives."""
    return sizes.DIRECTIVE.sub(sizes.blank, sizes.NOISE.sub(sizes.blank, text))


def code_lines(text):
    return sum(1 for line in text.split("\n") if line.strip())


def declarations(text):
    """Yields (head, body) of each declaration of a scope; the body of one without braces is None.

    An access specifier is yielded like a declaration. Braces inside a head, such as those of a
    default member initialiser, are left out.
    """
    head, body, depth, parens, keep = "", "", 0, 0, False
    for char in text:
        if depth:
            depth += (char == "{") - (char == "}")
            if depth:
                body += char
            elif keep:
                yield head.strip(), body
                head = ""
        elif char == "{":
            keep = parens == 0 and not sizes.MEMBER_INIT.search(head) and (
                "(" in head or bool(sizes.SCOPE.match(head.strip())))
            depth, body = 1, ""
        elif char == ";" and parens == 0:
            if head.strip():
                yield head.strip(), None
            head = ""
        elif char == ":" and head.strip() in ("public", "private", "protected"):
            yield head.strip(), None
            head = ""
        else:
            parens += (char == "(") - (char == ")")
            head += char


def is_silent(head, body):
    return bool(SILENT.match(head)) or (body is None and bool(NO_BODY.match(head)))


class Type:
    """A class or struct with a body."""

    def __init__(self, name, is_public, body):
        self.name, self.public, self.functions, self.forwarders, self.nested = name, [], 0, 0, []
        self.has_pure = False
        for head, inner in declarations(body):
            if head in ("public", "private", "protected"):
                is_public = head == "public"
                continue
            match = TYPE.match(head) if inner is not None else None
            if match:
                self.nested.append((is_public, Type(f"{name}::{match[2]}", match[1] == "struct", inner)))
            elif "(" in head and not is_silent(head, inner):
                self.functions += 1
                self.forwarders += inner is not None and is_forward(head, inner)
                self.has_pure = self.has_pure or head.endswith("= 0")
            is_type = inner is not None and sizes.SCOPE.match(head)
            if is_public and not is_type and not is_silent(head, inner):
                self.public.append(head)

    def all(self):
        yield self
        for _, nested in self.nested:
            yield from nested.all()

    def declaration_count(self):
        """Returns the number of public functions and types, this type included."""
        inner = sum(nested.declaration_count() for is_public, nested in self.nested if is_public)
        return 1 + inner + sum("(" in head for head in self.public)


def is_forward(head, body):
    """Is `body` only a call of the function of the same name of another object?"""
    match = FORWARD.fullmatch(" ".join(body.split()))
    return bool(match) and match[1] == sizes.name_of(head)


def types_in(text):
    """Returns the types that the clean text of a header defines, without nested ones."""
    found = []
    for head, body in declarations(text):
        match = TYPE.match(head)
        if body is not None and NAMESPACE.match(head):
            found += types_in(body)
        elif body is not None and match:
            found.append(Type(match[2], match[1] == "struct", body))
    return found


def free_declarations(text):
    """Returns the number of functions and constants that the clean text of a header declares."""
    count = 0
    for head, body in declarations(text):
        if body is not None and NAMESPACE.match(head):
            count += free_declarations(body)
        elif not is_silent(head, body) and not (body is not None and TYPE.match(head)):
            count += 1
    return count


def inline_lines(text):
    """Returns the number of lines of code inside the functions that a header defines."""
    count = 0
    for head, body in declarations(text):
        if body is None:
            continue
        if NAMESPACE.match(head) or TYPE.match(head):
            count += inline_lines(body)
        elif "(" in head:
            count += max(1, code_lines(body))
    return count


class Header:
    """A header with its .cc file, if there is one."""

    def __init__(self, path, text, source):
        self.path, self.lines, self.source_lines = path, code_lines(text), code_lines(source)
        self.types = [each for outer in types_in(text) for each in outer.all()]
        self.hidden = inline_lines(text) + self.source_lines
        self.declarations = free_declarations(text) + sum(
            outer.declaration_count() for outer in types_in(text))
        self.is_interface = any(each.has_pure for each in self.types)


def is_test(path):
    return layering.is_test(path) or path.endswith(("_testing.h", "_testing.cc", "_test.h"))


def check(header, users):
    """Yields (rule, subject, number, what) of each finding in a header that `users` include."""
    for each in header.types:
        if len(each.public) > MAX_MEMBERS:
            yield ("members", each.name, len(each.public),
                   f"{each.name} has {len(each.public)} public members")
        if each.functions >= MIN_FORWARDERS and 2 * each.forwarders > each.functions:
            yield ("forward", each.name, each.forwarders,
                   f"{each.forwarders} of the {each.functions} functions of {each.name} only forward")
    if (header.declarations >= MIN_DECLARATIONS and not header.is_interface and header.hidden
            and header.hidden < MIN_RATIO * header.declarations):
        yield ("ratio", header.path, header.declarations, f"{header.hidden} lines of code stand behind "
               f"{header.declarations} public declarations")
    if 0 < header.source_lines < min(header.lines, MAX_SHORT):
        yield ("shorter", header.path, header.lines, f"the .cc file has {header.source_lines} lines of "
               f"code, the header {header.lines}")
    if not users:
        yield "unused", header.path, 0, "no file that is not a test includes this header"
    elif len(users) == 1 and header.lines + header.source_lines < MAX_LONELY:
        yield ("lonely", header.path, header.lines + header.source_lines,
               f"only {next(iter(users))} includes this small header: move its contents there")


def read_headers():
    """Returns [(Header, files that include it)], without tests and their headers."""
    texts = {path: "\n".join(line for _, line in tree.lines(path))
             for path in tree.files("host", ends=tree.CPP)}
    users = collections.defaultdict(set)
    for path, _, _, _, name in layering.includes(texts):
        if not is_test(path) and path != name[:-2] + ".cc":
            users[name].add(path)
    return [(Header(path, clean(text), clean(texts.get(path[:-2] + ".cc", ""))), users[path])
            for path, text in texts.items() if path.endswith(".h") and not is_test(path)]


def allowed():
    """Reads depth.txt: {(rule, subject): (allowed number, line)}."""
    table = {}
    for number, line in tree.lines("tests/lint/depth.txt"):
        if line.strip() and not line.startswith("#"):
            rule, subject, limit, _ = line.split(None, 3)
            table[rule, subject] = (int(limit), number)
    return table


def print_largest(headers):
    largest = sorted(((len(each.public), each.name, header.path) for header, _ in headers
                      for each in header.types), reverse=True)[:5]
    print("public members of the five largest types: " + ", ".join(
        f"{name} {count}" for count, name, _ in largest))


def report(headers):
    """Prints the types, public declarations and lines of code of each room."""
    print(f"{'room':28}{'headers':>8}{'types':>7}{'public':>8}{'hidden':>8}{'ratio':>7}")
    rooms = collections.defaultdict(list)
    for header, _ in headers:
        rooms[layering.room_of(header.path)].append(header)
        rooms["all"].append(header)
    for room, members in sorted(rooms.items(), key=lambda item: (item[0] == "all", item[0])):
        public, hidden = sum(h.declarations for h in members), sum(h.hidden for h in members)
        print(f"{room:28}{len(members):8}{sum(len(h.types) for h in members):7}{public:8}{hidden:8}"
              f"{hidden / max(public, 1):7.1f}")
    print_largest(headers)


def main():
    headers = read_headers()
    if "--report" in sys.argv[1:]:
        return report(headers)
    findings, table, used = tree.Findings("depth"), allowed(), set()
    for header, users in headers:
        for rule, subject, number, what in check(header, users):
            used.add((rule, subject))
            limit, line = table.get((rule, subject), (-1, 0))
            if number < limit:
                findings.add("tests/lint/depth.txt", line, f"{subject} has {number} now: lower its number")
            if number > limit:
                findings.add(header.path, 1, f"{rule}: {what}; see tests/lint/depth.py, or give a "
                             "reason in tests/lint/depth.txt")
    for key in sorted(set(table) - used):
        findings.add("tests/lint/depth.txt", table[key][1],
                     f"{' '.join(key)} needs no exception any more: delete this line")
    print_largest(headers)
    return findings.end(len(headers))


if __name__ == "__main__":
    main()
