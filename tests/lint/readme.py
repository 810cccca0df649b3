"""Checks that the READMEs name the existing plugins, extension points, headers and numbers, and that
the samples of sdk/testing.md and sdk/services.md, and of a section of sdk/README.md, are compiled."""

import os
import re
import textwrap

import tree

# The tables of extension points leave these out.
EVERYWHERE = {"EnqueueExtensions", "Entity", "AttemptFailed", "Changes", "HandOver"}
# The pages all of whose samples are compiled, and the files with the samples.
GUIDES = {"sdk/testing.md": "tests/sdk/testing_guide_test.cc",
          "sdk/services.md": "tests/sdk/services_guide_test.cc"}
# The sections of other pages all of whose samples are compiled.
SECTIONS = {("sdk/README.md", "## Reload"): "tests/sdk/reload_guide_test.cc"}
RUNNING = re.compile(r"\{\{(\d+), (\d+)\}, (\d+)\}")
RECORDED = re.compile(r"constexpr size_t kCases = (\d+);")
CASES = re.compile(r"^\| (\d+\.\d+)\.\d+ \| (\d+) \| (\d+) \|$", re.MULTILINE)


def find_cases(test, readme):
    """Returns the tuples (version, running, recorded) of the test and those of the README."""
    recorded = RECORDED.search(test)
    counts = [(f"{major}.{minor}", running, recorded[1])
              for major, minor, running in RUNNING.findall(test)] if recorded else []
    return counts, CASES.findall(readme)


def points_of(text):
    """Returns the points in a plugin's README, without those that the tables leave out."""
    found = re.search(r"^Extension points: ([^.]*)\.", text, re.MULTILINE)
    return [point for point in found[1].split(", ") if point not in EVERYWHERE] if found else None


def rows_of(text):
    """Yields the line number and the cells of each table row, with link targets for links."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            yield number, [re.sub(r"\[[^]]*\]\(([^)]*)\)", r"\1", cell) for cell in cells]


def check_table(text, plugins):
    """Returns [(line, error)] for a table with plugins in the first column and their points in the
    second. `plugins` maps the first column to the points."""
    errors = []
    for number, cells in rows_of(text):
        points = plugins.get(cells[0])
        if points is not None and cells[1] != ", ".join(points):
            errors.append((number, f"the points of {cells[0]}: expected {', '.join(points)}, found "
                           f"{cells[1]}"))
    return errors


def missing_headers(text, names):
    """Returns the headers that the SDK's README does not name."""
    return [name for name in names
            if f"(include/berth/{name})" not in text and f"<berth/{name}>" not in text]


def samples_of(text):
    """Yields the line number and the lines of each C++ sample, without common indentation."""
    lines, begin = text.split("\n"), None
    for number, line in enumerate(lines, 1):
        if line == "```cpp":
            begin = number
        elif line == "```" and begin is not None:
            yield begin, textwrap.dedent("\n".join(lines[begin:number - 1])).split("\n")
            begin = None


def section_of(text, heading):
    """Returns the text with empty lines in place of everything outside the section."""
    lines, is_inside = [], False
    for line in text.split("\n"):
        if line.startswith("## "):
            is_inside = line == heading
        lines.append(line if is_inside else "")
    return "\n".join(lines)


def missing_samples(text, source):
    """Returns the line numbers of the samples that are not consecutive lines of `source`."""
    lines = source.split("\n")

    def is_in_source(sample):
        return any(textwrap.dedent("\n".join(lines[at:at + len(sample)])) == "\n".join(sample)
                   for at, line in enumerate(lines) if line.strip() == sample[0].strip())

    return [number for number, sample in samples_of(text) if not is_in_source(sample)]


def layers_of(text):
    """Returns the section [layers] of host/layers.txt."""
    return text.partition("\n[layers]\n")[2].partition("\n\n")[0]


def read(path):
    with open(os.path.join(tree.ROOT, path), encoding="utf-8") as file:
        return file.read()


def main():
    findings = tree.Findings("readme")
    table, profiles, sdk = (read(path) for path in
                            ("plugins/README.md", "profiles/README.md", "sdk/README.md"))
    counts, stated = find_cases(read("tests/conformance/conformance_test.cc"), table)
    if not counts or counts != stated:
        findings.add("plugins/README.md", 1, "the conformance cases (version, running, recorded): "
                     f"expected {counts} as in conformance_test.cc, found {stated}")

    by_folder, by_name = {}, {}
    for path in tree.files("plugins", ends="/README.md"):
        if path == "plugins/README.md":
            continue
        text = read(path)
        by_folder[path.split("/")[1]] = by_name[text.split("\n")[0].strip("# ")] = points_of(text)
    listed = {cells[0] for _, cells in rows_of(table)}
    for folder in sorted(set(by_folder) - listed):
        findings.add("plugins/README.md", 1, f"the table of plugins lacks {folder}")
    for path, text, plugins in (("plugins/README.md", table, by_folder),
                                ("profiles/README.md", profiles, by_name)):
        for number, what in check_table(text, plugins):
            findings.add(path, number, what)
    for number, cells in rows_of(profiles):
        if cells[-1] in ("yes", "no") and (cells[-1] == "yes") != (cells[0] in by_name):
            findings.add("profiles/README.md", number,
                         f"{cells[0]}: the column \"in Berth\" is wrong")

    host = read("host/README.md")
    if f"```\n{layers_of(read('host/layers.txt'))}\n```\n" not in host:
        findings.add("host/README.md", 1, "does not show [layers] of host/layers.txt: copy it from there")

    headers = [os.path.basename(path) for path in tree.files("sdk/include/berth", ends=".h")
               if os.path.dirname(path) == "sdk/include/berth"]
    for name in missing_headers(sdk, headers):
        findings.add("sdk/README.md", 1, f"does not name the header {name}")

    guides = [(path, read(path), test) for path, test in GUIDES.items()]
    for (path, heading), test in SECTIONS.items():
        guides.append((path, section_of(read(path), heading), test))
    for path, guide, test in guides:
        for number in missing_samples(guide, read(test)):
            findings.add(path, number, f"the sample is not in {test}: copy it from there")
        if not any(samples_of(guide)):
            findings.add(path, 1, "found no sample")
    findings.end(len(by_folder) and len(headers))


if __name__ == "__main__":
    main()
