"""The READMEs name the plugins, extension points, headers and numbers that there are."""

import os
import re

import tree

# Every plugin may have them; the tables leave them out.
EVERYWHERE = {"EnqueueExtensions", "Changes"}
RUNNING = re.compile(r"constexpr size_t kRunning = (\d+);")
RECORDED = re.compile(r"waiting \+ kRunning, (\d+)U\)")
CASES = re.compile(r"(\d+) of the (\d+) recorded cases")


def find_cases(test, readme):
    """(what the test says, what the README says): (running, recorded), None where it does not."""
    running, recorded = RUNNING.search(test), RECORDED.search(test)
    said = CASES.search(readme)
    counts = (running[1], recorded[1]) if running and recorded else None
    return counts, said.groups() if said else None


def points_of(text):
    """The points of a plugin's own README, without those that the tables leave out."""
    said = re.search(r"^Extension points: ([^.]*)\.", text, re.MULTILINE)
    return [point for point in said[1].split(", ") if point not in EVERYWHERE] if said else None


def rows_of(text):
    """Line and cells of each table row; of a link its target."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            yield number, [re.sub(r"\[[^]]*\]\(([^)]*)\)", r"\1", cell) for cell in cells]


def check_table(text, plugins):
    """[(line, what is wrong)], of a table with a plugin in the first column, its points in the
    second; `plugins` maps that to its points."""
    wrong = []
    for number, cells in rows_of(text):
        points = plugins.get(cells[0])
        if points is not None and cells[1] != ", ".join(points):
            wrong.append((number, f"{cells[0]} has the points {', '.join(points)}, not {cells[1]}"))
    return wrong


def missing_headers(text, names):
    """The headers that the SDK's README names nowhere."""
    return [name for name in names
            if f"(include/berth/{name})" not in text and f"<berth/{name}>" not in text]


def read(path):
    with open(os.path.join(tree.ROOT, path), encoding="utf-8") as file:
        return file.read()


def main():
    findings = tree.Findings("readme")
    readme, profiles, sdk = (read(path) for path in
                             ("README.md", "profiles/README.md", "sdk/README.md"))
    counts, said = find_cases(read("tests/conformance/conformance_test.cc"), readme)
    if counts is None or counts != said:
        findings.add("README.md", 1, f"conformance_test.cc has {counts} cases (running, recorded), "
                     f"the text {said}: write what the test has")

    by_folder, by_name = {}, {}
    for path in tree.files("plugins", ends="/README.md"):
        text = read(path)
        by_folder[os.path.dirname(path)] = by_name[text.split("\n")[0].strip("# ")] = points_of(text)
    listed = {cells[0] for _, cells in rows_of(readme)}
    for folder in sorted(set(by_folder) - listed):
        findings.add("README.md", 1, f"the table of plugins lacks {folder}")
    for path, text, plugins in (("README.md", readme, by_folder),
                                ("profiles/README.md", profiles, by_name)):
        for number, what in check_table(text, plugins):
            findings.add(path, number, what)
    for number, cells in rows_of(profiles):
        if cells[-1] in ("yes", "no") and (cells[-1] == "yes") != (cells[0] in by_name):
            findings.add("profiles/README.md", number, f"{cells[0]}: \"here\" is not right")

    headers = [os.path.basename(path) for path in tree.files("sdk/include/berth", ends=".h")
               if os.path.dirname(path) == "sdk/include/berth"]
    for name in missing_headers(sdk, headers):
        findings.add("sdk/README.md", 1, f"says nothing of {name}")
    findings.end(len(by_folder) and len(headers))


if __name__ == "__main__":
    main()
