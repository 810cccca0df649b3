"""Reads the declarations of berth/abi.h: names, types, layout and values, as clang reports them."""

import json
import os
import re
import subprocess
import tempfile

CLANG = "clang"
FLAGS = ("-std=c11", "-x", "c")


class HeaderError(Exception):
    """A header that breaks a rule of its own, with a text that names the member."""


class Member:
    def __init__(self, name, ctype, since, parameters):
        self.name, self.type, self.since, self.parameters = name, ctype, since, parameters
        self.offset = self.size = None


class Struct:
    def __init__(self, name, frozen, members):
        self.name, self.frozen, self.members = name, frozen, members
        self.size = self.align = None


class Header:
    """The declarations, in the header's order."""

    def __init__(self):
        self.major = self.minor = 0
        self.structs = {}    # name -> Struct
        self.opaque = []     # names of structs without members
        self.types = {}      # name -> C type
        self.constants = {}  # name -> value, of enumerations
        self.numbers = {}    # name -> value, of macros
        self.strings = {}    # name -> text, of macros
        self.macros = {}     # name -> parameters, of all other macros
        self.symbols = {}    # name -> C type
        self.enums = []      # [[(name, value)]], for generators


def read(path):
    """Returns the Header of the file. Raises HeaderError."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    header = Header()
    functions = _read_declarations(path, text, header)
    _read_macros(path, header)
    _measure(path, header)
    _check(header, functions)
    return header


def _run(*command, source=None):
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise HeaderError(done.stderr)
    return done.stdout


def _text(ctype):
    return ctype.replace("struct ", "").replace("enum ", "")


# ---- Declarations -------------------------------------------------------------------------------

def _read_declarations(path, text, header):
    """Returns the C types of all functions, for _check."""
    raw = text.encode()  # clang counts bytes
    tree = json.loads(_run(CLANG, *FLAGS, "-Xclang", "-ast-dump=json", "-fsyntax-only", path,
                           "-I", os.path.dirname(os.path.dirname(path))))
    end, functions = 0, []
    for node in tree["inner"]:
        name = node.get("name", "")
        begin, last = _range(node)
        kind = node["kind"]
        if kind == "EnumDecl" and not name:
            values = _enum_values(node)
            if values and values[0][0].startswith("BERTH_"):
                header.constants.update(values)
                header.enums.append(values)
        elif not name.startswith("berth_"):
            continue
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            frozen = "Frozen." in raw[end:begin].decode()
            header.structs[name] = Struct(name, frozen, _members(node, raw))
            functions += [m.type for m in header.structs[name].members if "(" in m.type]
        elif kind == "RecordDecl" and name not in header.opaque:
            header.opaque.append(name)
        elif kind == "TypedefDecl" and _text(node["type"]["qualType"]) != name:
            header.types[name] = _text(node["type"]["qualType"])
            functions.append(header.types[name])
        elif kind == "VarDecl":
            header.symbols[name] = _text(node["type"]["qualType"])
        end = max(end, last)
    header.opaque = [name for name in header.opaque if name not in header.structs]
    return functions


def _range(node):
    """Returns the offsets of the first and last byte; (0, 0) for what the file only includes."""
    begin, end = node["range"]["begin"], node["range"]["end"]
    if "includedFrom" in node["loc"] or "offset" not in begin or "offset" not in end:
        return 0, 0
    return begin["offset"], end["offset"] + end["tokLen"]


def _enum_values(node):
    values, following = [], 0
    for constant in node["inner"]:
        stated = [inner["value"] for inner in constant.get("inner", ()) if "value" in inner]
        value = int(stated[0]) if stated else following
        values.append((constant["name"], value))
        following = value + 1
    return values


def _members(node, raw):
    members = []
    for field in node["inner"]:
        if field["kind"] != "FieldDecl":
            continue
        begin, last = _offsets(field["range"])
        declared = raw[begin:raw.index(b";", last)].decode()
        since = re.search(r"BERTH_SINCE\((\d+)\)", declared)
        members.append(Member(field["name"], _text(field["type"]["qualType"]),
                              int(since[1]) if since else 0, parameter_names(declared)))
    return members


def _offsets(range_):
    """Returns the offsets of a member's first and last token, in the file that uses a macro."""
    begin, end = range_["begin"], range_["end"]
    begin, end = begin.get("expansionLoc", begin), end.get("expansionLoc", end)
    return begin["offset"], end["offset"]


def parameter_names(declared):
    """Returns the names of the parameters of `code (*name)(type a, type b)`; [] for other text."""
    declared = re.sub(r"/\*.*?\*/", "", declared, flags=re.DOTALL)
    match = re.match(r"[^()]*\(\*\w+\)\s*\(", declared)
    if not match:
        return []
    names, depth, piece = [], 1, ""
    for char in declared[match.end():]:
        depth += (char == "(") - (char == ")")
        if depth == 0 or (char == "," and depth == 1):
            function = re.search(r"\(\*(\w+)\)", piece)
            words = re.findall(r"\w+", re.sub(r"\[.*?\]", "", piece))
            names.append(function[1] if function else words[-1] if words else "")
            piece = ""
        else:
            piece += char
        if depth == 0:
            break
    return [] if names == ["void"] else names


# ---- Macros -------------------------------------------------------------------------------------

DEFINE = re.compile(r"#define (BERTH_\w+)(\([^)]*\))? ?(.*)")
# Macros that an author sets, and the include guard.
NOT_LOCKED = {"BERTH_ABI_H_", "BERTH_MIN_HOST_MINOR", "BERTH_OPTIONAL_MINOR"}
NUMBER = re.compile(r"\(?-?(0x[0-9a-fA-F]+|\d+)[uUlL]*\)?")


def _read_macros(path, header):
    # -dD keeps the order of the file, -dM does not.
    for line in _run(CLANG, *FLAGS, "-E", "-dD", path).splitlines():
        match = DEFINE.fullmatch(line)
        if not match or match[1] in NOT_LOCKED:
            continue
        name, parameters, body = match.groups()
        number = NUMBER.fullmatch(body)
        if name == "BERTH_ABI_MAJOR":
            header.major = int(body)
        elif name == "BERTH_ABI_MINOR":
            header.minor = int(body)
        elif parameters is None and number:
            header.numbers[name] = int(number[1], 0)
        elif parameters is None and re.fullmatch(r'"[^"\\]*"', body):
            header.strings[name] = body[1:-1]
        else:
            header.macros[name] = parameters or ""


# ---- Layout -------------------------------------------------------------------------------------

def _measure(path, header):
    """Fills in offsets and sizes, from a program that prints them."""
    lines = []
    for struct in header.structs.values():
        lines.append(f"sizeof({struct.name}), _Alignof({struct.name}),")
        lines += [f"offsetof({struct.name}, {member.name}), "
                  f"sizeof((({struct.name}*)0)->{member.name}),"
                  for member in struct.members]
    source = "\n".join([f'#include "{os.path.abspath(path)}"', "#include <stdio.h>",
                        "static const size_t kValues[] = {", *lines, "};",
                        "int main(void) {",
                        "  for (size_t i = 0; i < sizeof kValues / sizeof kValues[0]; ++i)",
                        '    printf("%zu\\n", kValues[i]);', "}"])
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "layout")
        # The program mentions every member, those that are newer than the default too.
        _run(CLANG, *FLAGS, f"-DBERTH_OPTIONAL_MINOR={header.minor}", "-o", program, "-",
             source=source)
        values = map(int, _run(program).split())
    for struct in header.structs.values():
        struct.size, struct.align = next(values), next(values)
        for member in struct.members:
            member.offset, member.size = next(values), next(values)


def _check(header, functions):
    """Checks what the header promises about itself. Raises HeaderError with all errors."""
    errors = []
    for struct in header.structs.values():
        end = 0
        for member in struct.members:
            if member.offset != end:
                errors.append(f"{struct.name}.{member.name}: the compiler leaves "
                              f"{member.offset - end} bytes free before it: add a `reserved` "
                              "member of that size")
            if member.since > header.minor:
                errors.append(f"{struct.name}.{member.name}: BERTH_SINCE({member.since}) is newer "
                              f"than BERTH_ABI_MINOR {header.minor}")
            end = member.offset + member.size
        if end != struct.size:
            errors.append(f"{struct.name}.{struct.members[-1].name}: the compiler leaves "
                          f"{struct.size - end} bytes free after it: add a `reserved` member of "
                          "that size")
    for name, where in sorted(_used_by_value(header, functions).items()):
        if not header.structs[name].frozen:
            errors.append(f"{name}: is passed or stored by value ({where}), so that it can never "
                          "grow: add \"Frozen.\" to the comment above it")
    if errors:
        raise HeaderError("\n".join(errors))


def _used_by_value(header, functions):
    """Returns {struct: where} for the structs that another struct or a function holds by value."""
    used = {}
    for struct in header.structs.values():
        for member in struct.members:
            if member.type in header.structs:
                used.setdefault(member.type, f"{struct.name}.{member.name}")
    for function in functions:
        for word in re.findall(r"(?:^|[(,] ?)(?:const )?(berth_\w+)(?= ?[(),])", function):
            if word in header.structs:
                used.setdefault(word, function)
    return used
