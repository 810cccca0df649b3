"""Reads the declarations of berth/abi.h: names, types, layout and values, as clang reports them."""

import json
import os
import re
import subprocess
import tempfile

CLANG = "clang"
FLAGS = ("-std=c11", "-x", "c")
CXX_FLAGS = ("-std=c++20", "-x", "c++")


class HeaderError(Exception):
    """A header that breaks a rule of its own, with a text that names the member."""


class Member:
    def __init__(self, name, ctype, since, parameters, element="", order=()):
        self.name, self.type, self.since, self.parameters = name, ctype, since, parameters
        self.element = element    # the type of an array's elements; "" for other members
        self.order = list(order)  # see parameter_order
        self.offset = self.size = None


class Struct:
    def __init__(self, name, frozen, members, since=0):
        self.name, self.frozen, self.members, self.since = name, frozen, members, since
        self.size = self.align = None


class Header:
    """The declarations, in the header's order."""

    def __init__(self):
        self.major = self.minor = 0
        self.draft = 0       # BERTH_ABI_DRAFT
        self.structs = {}    # name -> Struct
        self.opaque = []     # names of structs without members
        self.types = {}      # name -> C type, and the order of a function's parameters
        self.constants = {}  # name -> value, of enumerations
        self.constant_since = {}  # name -> minor version, of marked constants
        self.numbers = {}    # name -> value, of macros
        self.strings = {}    # name -> text, of macros
        self.macros = {}     # name -> parameters and body, of all other macros
        self.symbols = {}    # name -> C type
        self.enums = []      # [[(name, value)]], for generators
        self.elements = set()  # names in the comments of arrays: the types of their elements


def read(path):
    """Returns the Header of the file. Raises HeaderError."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    header = Header()
    # The version is needed first: a marked member is available only from its version on.
    minor = re.search(r"(?m)^#define BERTH_ABI_MINOR (\d+)", text)
    flags = (*FLAGS, f"-DBERTH_OPTIONAL_MINOR={minor[1] if minor else 0}")
    functions = _read_declarations(path, text, header, flags)
    _read_macros(path, header, flags)
    _measure(path, header, flags)
    _check(header, functions, _without_noexcept(path, flags))
    return header


def _run(*command, source=None):
    try:
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise HeaderError(f"{command[0]} not found: install the packages of "
                          ".ci/packages.txt") from error
    if done.returncode:
        raise HeaderError(done.stderr)
    return done.stdout


def _text(ctype):
    return ctype.replace("struct ", "").replace("enum ", "")


# ---- Declarations -------------------------------------------------------------------------------

def _read_declarations(path, text, header, flags):
    """Returns the C types of all functions, for _check."""
    raw = text.encode()  # clang counts bytes
    end, functions, plain = 0, [], []
    for node in _syntax(path, flags)["inner"]:
        name = node.get("name", "")
        begin, last = _range(node)
        kind = node["kind"]
        if kind == "EnumDecl" and _is_ours(node):
            if name:
                raise HeaderError(f"enum {name}: an enumeration has no name, because its members "
                                  "and parameters are uint32_t")
            values = _enum_values(node)
            header.constants.update(values)
            header.constant_since.update(_enum_marks(node, raw))
            header.enums.append(values)
        elif not name.startswith("berth_"):
            continue
        elif kind == "RecordDecl" and node.get("tagUsed") == "union":
            raise HeaderError(f"union {name}: expected a struct")
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            frozen = "Frozen." in raw[end:begin].decode()
            after = _since(raw[last:raw.index(b";", last)].decode())
            header.structs[name] = Struct(name, frozen, _members(node, raw, header), after)
            functions += [m.type for m in header.structs[name].members if "(" in m.type]
        elif kind == "RecordDecl":
            header.opaque += [name] if name not in header.opaque else []
        elif kind == "TypedefDecl" and _text(node["type"]["qualType"]) == name:
            plain.append(name)
        elif kind == "TypedefDecl":
            header.types[name] = _text(node["type"]["qualType"])
            functions.append(header.types[name])
            order = parameter_order(raw[begin:last].decode())
            header.types[name] += "; " + ", ".join(order) if order else ""
        elif kind == "VarDecl":
            header.symbols[name] = _text(node["type"]["qualType"])
        else:
            raise HeaderError(f"{name}: a declaration of the kind {kind} is not locked: a library "
                              "exports constants, and everything else is a struct")
        end = max(end, last)
    for name in plain:
        if name not in header.structs and name not in header.opaque:
            raise HeaderError(f"{name}: expected a name also before the braces: struct {name} {{")
    header.opaque = [name for name in header.opaque if name not in header.structs]
    return functions


def _syntax(path, flags):
    """Returns clang's tree of the file."""
    return json.loads(_run(CLANG, *flags, "-Xclang", "-ast-dump=json", "-fsyntax-only", path,
                           "-I", os.path.dirname(os.path.dirname(path))))


def _is_ours(enum):
    return any(constant["name"].startswith("BERTH_") for constant in enum.get("inner", ())
               if constant["kind"] == "EnumConstantDecl")


def _since(declared):
    """Returns the minor version of the mark in a declaration; 0 without a mark."""
    since = re.search(r"BERTH_SINCE\((\d+)\)", declared)
    return int(since[1]) if since else 0


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


def _enum_marks(node, raw):
    """Returns {name: minor version} of the marked constants: `NAME BERTH_SINCE(1) = 5`."""
    constants = [inner for inner in node["inner"] if inner["kind"] == "EnumConstantDecl"]
    begins = [_offsets(constant["range"])[0] for constant in constants]
    marks = {}
    for constant, begin, end in zip(constants, begins, [*begins[1:], _range(node)[1]]):
        declared = re.sub(r"/\*.*?\*/", "", raw[begin:end].decode(), flags=re.DOTALL)
        if since := _since(declared):
            marks[constant["name"]] = since
    return marks


def _members(node, raw, header):
    """Returns the members of a struct. Adds what the comments of arrays name to header.elements."""
    members, at = [], _range(node)[0]
    for field in node["inner"]:
        if field["kind"] != "FieldDecl":
            continue
        begin, last = _offsets(field["range"])
        end = raw.index(b";", last)
        declared = raw[begin:end].decode()
        # The comment is above the member, or behind it on the same line.
        behind = re.match(rb";[ \t]*(/\*.*?\*/)?", raw[end:], re.DOTALL)
        around = raw[at:end + behind.end()].decode()
        element = ""
        if re.search(r"\bberth_array\b", declared):
            comments = "".join(re.findall(r"/\*.*?\*/", around, re.DOTALL))
            header.elements.update(re.findall(r"\bberth_\w+", comments))
            named = re.search(r"\b(berth_\w+|u?int(8|16|32|64)_t|double|char)\b", comments)
            element = named[0] if named else ""
        members.append(Member(field["name"], _text(field["type"]["qualType"]), _since(declared),
                              parameter_names(declared), element, parameter_order(declared)))
        at = end + behind.end()
    return members


def _offsets(range_):
    """Returns the offsets of a member's first and last token, in the file that uses a macro."""
    begin, end = range_["begin"], range_["end"]
    begin, end = begin.get("expansionLoc", begin), end.get("expansionLoc", end)
    return begin["offset"], end["offset"]


def _parameters(declared):
    """Returns the text of each parameter of `code (*name)(type a, type b)`; [] for other text."""
    declared = re.sub(r"/\*.*?\*/", "", declared, flags=re.DOTALL)
    match = re.match(r"[^()]*\(\*\w+\)\s*\(", declared)
    if not match:
        return []
    pieces, depth, piece = [], 1, ""
    for char in declared[match.end():]:
        depth += (char == "(") - (char == ")")
        if depth == 0 or (char == "," and depth == 1):
            pieces.append(piece.strip())
            piece = ""
        else:
            piece += char
        if depth == 0:
            break
    return [] if pieces == ["void"] else pieces


def _parameter_name(parameter):
    function = re.search(r"\(\*(\w+)\)", parameter)
    words = re.findall(r"\w+", re.sub(r"\[.*?\]", "", parameter))
    return function[1] if function else words[-1] if words else ""


def parameter_names(declared):
    """Returns the names of the parameters of `code (*name)(type a, type b)`; [] for other text."""
    return [_parameter_name(parameter) for parameter in _parameters(declared)]


def parameter_order(declared):
    """Returns the names of the parameters, and those of the callbacks among them, if one of these
    functions has two parameters of one type: the types do not tell which is which. Else []."""
    names, is_needed = [], False

    def add(function, prefix):
        nonlocal is_needed
        types = set()
        for parameter in _parameters(function):
            name = _parameter_name(parameter)
            ctype = re.sub(rf"\b{name}\b|\s", "", parameter) if name else parameter
            is_needed = is_needed or ctype in types
            types.add(ctype)
            names.append(prefix + name)
            add(parameter, f"{prefix}{name}.")

    add(declared, "")
    return names if is_needed else []


# ---- Macros -------------------------------------------------------------------------------------

DEFINE = re.compile(r"#define (BERTH_\w+)(\([^)]*\))? ?(.*)")
# Macros that an author sets, and the include guard.
NOT_LOCKED = {"BERTH_ABI_H_", "BERTH_MIN_HOST_MINOR", "BERTH_OPTIONAL_MINOR"}
# An expression of numbers and of other constants, which clang evaluates.
NUMBER = re.compile(r"(?:0x[0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|BERTH_\w+|[-+*/%~^|&()<> ])+")
# Macros without a value, which only the declarations of the header use.
NO_VALUE = re.compile(r"|__attribute__.*|BERTH_NEWER\(.*\)")
# Their bodies change with the version or the compiler, and reach no library.
BODY_NOT_LOCKED = re.compile(r"BERTH_(?:SINCE|SINCE_\d+|REQUIRES_HOST|NEWER|UNAVAILABLE)")
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]')


def _read_macros(path, header, flags):
    """Values of numbers are those of the text; _measure replaces them by their values."""
    # -dD keeps the order of the file, -dM does not.
    for line in _run(CLANG, *flags, "-E", "-dD", path).splitlines():
        match = DEFINE.fullmatch(line)
        if not match or match[1] in NOT_LOCKED:
            continue
        name, parameters, body = match.groups()
        if name == "BERTH_ABI_MAJOR":
            header.major = int(body)
        elif name == "BERTH_ABI_MINOR":
            header.minor = int(body)
        elif name == "BERTH_ABI_DRAFT":
            header.draft = int(body.rstrip("uUlL"), 0)
        elif parameters is not None or NO_VALUE.fullmatch(body):
            text = "" if BODY_NOT_LOCKED.fullmatch(name) else _compact(body)
            header.macros[name] = (parameters or "") + (f" = {text}" if text else "")
        elif re.fullmatch(r'"[^"\\]*"', body):
            header.strings[name] = body[1:-1]
        elif NUMBER.fullmatch(body):
            header.numbers[name] = body
        else:
            raise HeaderError(f"{name}: expected a number or a text, found {body}")


def _compact(body):
    """Returns the tokens of a macro's body, with a space only where two words meet."""
    out = ""
    for token in TOKEN.findall(body):
        out += " " if out and re.match(r"\w", token) and re.search(r"\w$", out) else ""
        out += token
    return out


# ---- Exceptions ---------------------------------------------------------------------------------

def _without_noexcept(path, flags):
    """Returns the names of the members and types that are functions without noexcept in C++, or
    that take a callback without it. In C the mark BERTH_NOEXCEPT has no effect."""
    found = []

    def visit(nodes, prefix):
        for node in nodes:
            kind, name = node["kind"], node.get("name", "")
            if kind == "LinkageSpecDecl":
                visit(node.get("inner", ()), prefix)
            elif kind == "CXXRecordDecl" and name.startswith("berth_"):
                visit(node.get("inner", ()), f"{name}.")
            elif ((kind == "TypedefDecl" and name.startswith("berth_")) or
                  (kind == "FieldDecl" and prefix)):
                if _may_throw(node["type"]["qualType"]):
                    found.append(prefix + name)

    visit(_syntax(path, (*CXX_FLAGS, *flags[len(FLAGS):]))["inner"], "")
    return found


def _may_throw(ctype):
    """Returns true if a pointer to a function in the type, as clang writes it, lacks noexcept."""
    for match in re.finditer(re.escape("(*)("), ctype):
        at, depth = match.end(), 1
        while depth:
            depth += (ctype[at] == "(") - (ctype[at] == ")")
            at += 1
        if not ctype.startswith(" noexcept", at):
            return True
    return False


# ---- Layout -------------------------------------------------------------------------------------

def _measure(path, header, flags):
    """Fills in offsets, sizes and the values of numbers, from a program that prints them."""
    lines = [f"(long long)({name})," for name in header.numbers]
    for struct in header.structs.values():
        lines.append(f"sizeof({struct.name}), _Alignof({struct.name}),")
        lines += [f"offsetof({struct.name}, {member.name}), "
                  f"sizeof((({struct.name}*)0)->{member.name}),"
                  for member in struct.members]
    source = "\n".join([f'#include "{os.path.abspath(path)}"', "#include <stdio.h>",
                        "static const long long kValues[] = {", *lines, "};",
                        "int main(void) {",
                        "  for (size_t i = 0; i < sizeof kValues / sizeof kValues[0]; ++i)",
                        '    printf("%lld\\n", kValues[i]);', "}"])
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "layout")
        _run(CLANG, *flags, "-o", program, "-", source=source)
        values = map(int, _run(program).split())
    for name in header.numbers:
        header.numbers[name] = next(values)
    for struct in header.structs.values():
        struct.size, struct.align = next(values), next(values)
        for member in struct.members:
            member.offset, member.size = next(values), next(values)


def _check(header, functions, without_noexcept):
    """Checks the rules that the header states for itself. Raises HeaderError with all errors."""
    errors = [f"{name}: add BERTH_NOEXCEPT behind its parameters, and behind those of each "
              "callback that it takes" for name in without_noexcept]
    for struct in header.structs.values():
        end = 0
        if struct.since > header.minor:
            errors.append(f"{struct.name}: BERTH_SINCE({struct.since}) is newer than "
                          f"BERTH_ABI_MINOR {header.minor}")
        if not struct.frozen and not _can_grow(header, struct):
            errors.append(f"{struct.name}: a reader cannot detect a new member: add a member "
                          "struct_size, or name the struct in the comment of the array whose "
                          "elements it is, or add \"Frozen.\" to the comment above it")
        for member in struct.members:
            if member.offset != end:
                errors.append(f"{struct.name}.{member.name}: the compiler leaves "
                              f"{member.offset - end} bytes free before it: add a `reserved` "
                              "member of that size")
            if "berth_array" in member.type and not member.element:
                errors.append(f"{struct.name}.{member.name}: its comment must name the type of the "
                              "array's elements")
            if member.since > header.minor:
                errors.append(f"{struct.name}.{member.name}: BERTH_SINCE({member.since}) is newer "
                              f"than BERTH_ABI_MINOR {header.minor}")
            end = member.offset + member.size
        if end != struct.size:
            errors.append(f"{struct.name}.{struct.members[-1].name}: the compiler leaves "
                          f"{struct.size - end} bytes free after it: add a `reserved` member of "
                          "that size")
    for name, since in header.constant_since.items():
        if since > header.minor:
            errors.append(f"{name}: BERTH_SINCE({since}) is newer than BERTH_ABI_MINOR "
                          f"{header.minor}")
    for name, where in sorted(_used_by_value(header, functions).items()):
        if not header.structs[name].frozen:
            errors.append(f"{name}: is passed or stored by value ({where}), so that it can never "
                          "grow: add \"Frozen.\" to the comment above it")
    if errors:
        raise HeaderError("\n".join(errors))


def _can_grow(header, struct):
    """Returns true if a reader can test the size: a member of the struct, or an array's stride."""
    return (any(member.name == "struct_size" for member in struct.members) or
            struct.name in header.elements)


def _used_by_value(header, functions):
    """Returns {struct: where} for the structs that another struct or a function holds by value."""
    def named(ctype):
        while ctype in header.types:
            ctype = header.types[ctype]
        return ctype

    used = {}
    for struct in header.structs.values():
        for member in struct.members:
            # "const berth_x[2]"
            name = named(re.sub(r"\b(const|volatile) |\[\d*\]", "", member.type).strip())
            if name in header.structs:
                used.setdefault(name, f"{struct.name}.{member.name}")
    for function in functions:
        for word in re.findall(r"(?:^|[(,] ?)(?:const )?(berth_\w+)(?= ?[(),])", function):
            if named(word) in header.structs:
                used.setdefault(named(word), function)
    return used
