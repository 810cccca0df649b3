"""Writes the module `sys` of the Rust crate from a Header."""

import re

TITLE = """\
//! The declarations of <berth/abi.h>, version {major}.{minor}. Written by sdk/abi/update.py: do not
//! edit this file. The comments of <berth/abi.h> are the contract of everything that is declared
//! here.
//!
//! A name that is a keyword of Rust ends with an underscore. Every function pointer is an `Option`,
//! because NULL is a value of every pointer in C. `ZERO` has all bytes zero; a struct that may grow
//! also has `NEW`, which is `ZERO` with its `struct_size`: write
//! `berth_filter {{ filter: Some(filter), ..berth_filter::NEW }}`.
//!
//! What minor version n of the header added is deprecated unless the feature `host_n` of this crate
//! is on: the compiler warns of its use. It does not check that the plugin tests `has!` before.
#![allow(missing_docs, non_camel_case_types, deprecated)]

use std::os::raw::{{c_char, c_void}};
"""

# Rust 1.63 cannot call std::mem::zeroed in a constant.
CONSTANTS = """\
macro_rules! zero {
    ($($name:ident)*) => {$(
        impl $name {
            /// The value whose bytes are all zero.
            // SAFETY: zero is a value of every member: a number, a NULL pointer or None.
            pub const ZERO: Self =
                unsafe { std::mem::transmute([0u8; std::mem::size_of::<Self>()]) };
        }
        // SAFETY: the members are numbers, pointers to data and pointers to functions.
        unsafe impl crate::library::PlainData for $name {}
    )*};
}
macro_rules! new {
    ($($name:ident)*) => {$(
        impl $name {
            /// `ZERO` with the struct's size.
            pub const NEW: Self =
                Self { struct_size: std::mem::size_of::<Self>() as u32, ..Self::ZERO };
        }
    )*};
}

/// The table of an extension point.
///
/// # Safety
/// <berth/abi.h> declares this struct for the extension point ID.
pub unsafe trait PointTable {
    const ID: &'static str;
}
macro_rules! point {
    ($($name:ident: $id:ident)*) => {$(
        unsafe impl PointTable for $name {
            const ID: &'static str = $id;
        }
    )*};
}
"""

SCALARS = {"void": "c_void", "char": "c_char", "int8_t": "i8", "uint8_t": "u8", "int16_t": "i16",
           "uint16_t": "u16", "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64",
           "uint64_t": "u64", "int": "i32", "double": "f64", "size_t": "usize"}
KEYWORDS = set("""as async await become box break const continue crate do dyn else enum extern false
final fn for if impl in let loop macro match mod move mut override priv pub ref return self static
struct super trait true try type typeof unsafe unsized use virtual where while yield""".split())


def name_of(name):
    return name + "_" if name in KEYWORDS else name


def type_of(ctype, names=()):
    """Returns the Rust type of a C type as clang spells it. `names` are a function's parameters."""
    ctype = ctype.strip()
    function = _split_function(ctype)
    if function:
        returned, parameters = function
        types = [type_of(parameter) for parameter in _split(parameters)]
        if parameters.strip() == "void":
            types = []
        if len(names) == len(types):
            types = [f"{name_of(name)}: {rust}" if name else rust
                     for name, rust in zip(names, types)]
        returns = "" if returned == "void" else f" -> {type_of(returned)}"
        return f"Option<unsafe extern \"C\" fn({', '.join(types)}){returns}>"
    array = re.fullmatch(r"(.*)\[(\d+)\]", ctype)
    if array:
        return f"[{type_of(array[1])}; {array[2]}]"
    match = re.fullmatch(r"(const )?(\w+)((?: ?\*(?: ?const)?)*)", ctype)
    if not match:
        raise ValueError(f"no Rust type for \"{ctype}\"")
    rust, pointee_const = SCALARS.get(match[2], match[2]), bool(match[1])
    for star in re.findall(r"\*(?: ?const)?", match[3]):
        rust = f"*{'const' if pointee_const else 'mut'} {rust}"
        pointee_const = star.endswith("const")
    return rust


def _split_function(ctype):
    """Returns (returned type, parameters) of a pointer to a function, else None."""
    at = ctype.find("(*)(")
    return (ctype[:at].strip(), ctype[at + 4:-1]) if at >= 0 else None


def _split(parameters):
    pieces, depth = [""], 0
    for char in parameters:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += char
    return pieces


def render(header):
    """Returns the text of sys.rs."""
    out = [TITLE.format(major=header.major, minor=header.minor)]
    for name, ctype in header.types.items():
        out.append(f"pub type {name} = {type_of(ctype)};")
    out += ["", f"pub const BERTH_ABI_MAJOR: u16 = {header.major};",
            f"pub const BERTH_ABI_MINOR: u16 = {header.minor};",
            f"pub const BERTH_ABI_DRAFT: u64 = 0x{header.draft:016x};"]
    out += [f"pub const {name}: {number_type(value)} = "
            f"{hex(value) if value > 0xffff else value};" for name, value in header.numbers.items()]
    out += [f"pub const {name}: &str = \"{text}\";" for name, text in header.strings.items()]
    for values in header.enums:
        is_code = any(name == "BERTH_SUCCESS" for name, _ in values)
        rust = "berth_code" if is_code else "i32" if min(v for _, v in values) < 0 else "u32"
        out.append("")
        for name, value in values:
            out += _mark(header.constant_since.get(name), "`abi_minor` of the host")
            out.append(f"pub const {name}: {rust} = {value};")
    for name in header.opaque:
        out += ["", "#[repr(C)]", f"pub struct {name} {{", "    _opaque: [u8; 0],", "}"]
    for struct in header.structs.values():
        copy = "#[derive(Clone, Copy)]\n" if struct.frozen else ""
        out += ["", *_mark(struct.since, "`abi_minor` of the host"), f"{copy}#[repr(C)]",
                f"pub struct {struct.name} {{"]
        for member in struct.members:
            out += ["    " + line for line in _mark(member.since, "`has!`")]
            out.append(f"    pub {name_of(member.name)}: "
                       f"{type_of(member.type, member.parameters)},")
        out.append("}")
    grows = [name for name, struct in header.structs.items()
             if struct.members[0].name == "struct_size"]
    out += ["", CONSTANTS, _call("zero", header.structs), _call("new", grows),
            _call("point", [f"{name}: {point}" for point, name in tables(header).items()])]
    return "\n".join(out)


def _mark(since, test):
    """Returns the lines before a declaration that a minor version added; `test` tells whether a
    host has it."""
    if not since:
        return []
    return [f"/// Minor version {since} added it: test {test} before its use.",
            f"#[cfg_attr(not(feature = \"host_{since}\"), deprecated(note = \"requires a host of "
            f"minor version {since}: turn on the feature `host_{since}` of the crate, and set "
            f"MIN_HOST_MINOR to {since} or test {test} before its use\"))]"]


def missing_features(header, manifest):
    """Returns what Cargo.toml lacks: a feature for each minor version, which implies the feature of
    the version before."""
    expected = [f"host_{minor} = [" + (f'"host_{minor - 1}"' if minor > 1 else "") + "]"
                for minor in range(1, header.minor + 1)]
    lines = manifest.splitlines()
    return [f"sdk/rust/Cargo.toml: expected the feature {line}" for line in expected
            if line not in lines]


def number_type(value):
    """Returns the Rust type of a macro's value."""
    return (("i32" if value >= -1 << 31 else "i64") if value < 0 else
            "u32" if value < 1 << 32 else "u64")


def tables(header):
    """Returns {BERTH_POINT_X: berth_x} for the extension points of the header."""
    found = {}
    for point in header.strings:
        if not point.startswith("BERTH_POINT_"):
            continue
        name = "berth_" + point.removeprefix("BERTH_POINT_").lower()
        if name not in header.structs:
            raise ValueError(f"{point}: the struct of this extension point must be named {name}")
        found[point] = name
    return found


def _call(macro, names):
    return "\n".join([f"{macro}! {{"] + [f"    {name}" for name in names] + ["}", ""])


def render_layout_test(header):
    """Returns a test that compares Rust's layout with that of clang."""
    out = ["// The layout that clang gives <berth/abi.h>. Written by sdk/abi/update.py: do not",
           "// edit this file.", "#![allow(deprecated)]", "use super::sys::*;", "",
           "macro_rules! check {",
           "    ($name:ident, $size:expr, $align:expr, [$($member:ident: $offset:expr,)*]) => {{",
           "        assert_eq!(std::mem::size_of::<$name>(), $size, stringify!($name));",
           "        assert_eq!(std::mem::align_of::<$name>(), $align, stringify!($name));",
           "        let place = $name::ZERO;",
           "        let start = &place as *const $name as usize;",
           "        $(",
           "            let offset = std::ptr::addr_of!(place.$member) as usize - start;",
           "            let name = concat!(stringify!($name), \".\", stringify!($member));",
           "            assert_eq!(offset, $offset, \"{}\", name);",
           "        )*", "    }};", "}", "", "#[test]", "fn structs_have_the_layout_of_c() {"]
    for struct in header.structs.values():
        out += [f"    check!({struct.name}, {struct.size}, {struct.align}, ["]
        out += [f"        {name_of(member.name)}: {member.offset}," for member in struct.members]
        out.append("    ]);")
    return "\n".join(out + ["}", ""])
