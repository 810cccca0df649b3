"""One class is in one place: the member functions of a class are defined in one .cc file.

A class that is too large for one file is split into classes, not into files. classes.txt holds the
exceptions with their reasons.
"""

import re

import sizes
import tree

MEMBER = re.compile(r"^((?:\w+::)+)~?\w+$")


def class_of(head):
    """The class whose member function `head` defines, or None for a free function."""
    match = MEMBER.match(sizes.name_of(head))
    return match.group(1).removesuffix("::") if match else None


def find_cut(definitions):
    """{class: files} of every class in more than one file; `definitions` yields (class, file)."""
    files = {}
    for name, path in definitions:
        files.setdefault(name, set()).add(path)
    return {name: sorted(paths) for name, paths in files.items() if len(paths) > 1}


def definitions_in(paths):
    for path in paths:
        text = "\n".join(line for _, line in tree.lines(path))
        for _, _, head in sizes.functions(text):
            name = class_of(head)
            if name:
                # Tests in different folders may have classes with the same name.
                yield (name if path.startswith(("host/", "sdk/", "plugins/"))
                       else f"{path.rsplit('/', 1)[0]}/{name}"), path


def allowed():
    """Reads classes.txt: {class: (number of files, line)}."""
    table = {}
    for number, line in tree.lines("tests/lint/classes.txt"):
        if line.strip() and not line.startswith("#"):
            name, count, _ = line.split(None, 2)
            table[name] = (int(count), number)
    return table


def main():
    findings = tree.Findings("classes")
    paths = [path for path in tree.files("host", "plugins", "tests", ends=".cc")
             if not path.endswith("_test.cc")]
    table = allowed()
    cut = find_cut(definitions_in(paths))
    for name, files in sorted(cut.items()):
        if len(files) > table.get(name, (1, 0))[0]:
            findings.add(files[0], 1, f"class {name} is in {len(files)} files ({', '.join(files)}): "
                         "split the class, or give a reason in tests/lint/classes.txt")
    for name in sorted(set(table) - set(cut)):
        findings.add("tests/lint/classes.txt", table[name][1],
                     f"class {name} is in one file now: delete this line")
    findings.end(len(paths))


if __name__ == "__main__":
    main()
