"""Checks the names of GoogleTest's tests: PascalCase, and at most eight words, so that a list of
tests can be read. The name of a fixture ends with `Test`."""

import re

import tree

MOST_WORDS = 8
TEST = re.compile(r"^[ ]*(TYPED_TEST|TEST|TEST_F|TEST_P)\(\s*(\w+)\s*,\s*(\w+)\s*\)",
                  re.MULTILINE)
FIXTURE = re.compile(r"^[ ]*(?:class|struct) (\w+)\s*:\s*public (?:::)?testing::Test(?:WithParam)?\b",
                     re.MULTILINE)
# Extension points count as one word.
POINT = re.compile(r"PreBindPreFlight|Pre(?:Enqueue|Filter|Score|Bind)|Post(?:Filter|Bind)|QueueSort")
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]+|[a-z]+|[A-Z]+|[0-9]+")


def words(name):
    """Returns the words of a name in PascalCase."""
    return WORD.findall(POINT.sub("Point", name))


def problems(text):
    """Returns [(line, problem)] of the tests in the text of a file."""
    found = []

    def check_fixture(line, name):
        if not name.endswith("Test"):
            found.append((line, f"the fixture {name}: name it {name}Test"))

    for match in FIXTURE.finditer(text):
        check_fixture(text.count("\n", 0, match.start()) + 1, match.group(1))
    for match in TEST.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        macro, suite, name = match.groups()
        if macro != "TEST":
            check_fixture(line, suite)
        if "_" in name or not name[0].isupper():
            found.append((line, f"{suite}.{name}: write the name in PascalCase"))
        count = len(words(name))
        if count > MOST_WORDS:
            found.append((line, f"{suite}.{name} has {count} words: use at most {MOST_WORDS}, and "
                                "say the rest in a comment"))
    return found


def main():
    findings = tree.Findings("test_names")
    paths = tree.files(ends=(".cc", ".h"))
    for path in paths:
        text = "\n".join(line for _, line in tree.lines(path))
        for line, problem in problems(text):
            findings.add(path, line, problem)
    findings.end(len(paths))


if __name__ == "__main__":
    main()
