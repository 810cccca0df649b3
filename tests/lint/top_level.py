"""The top level holds what the house has, and nothing else that is visible."""

import tree

ALLOWED = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE",
           "host", "sdk", "plugins", "profiles", "examples", "tests"}


def main():
    findings = tree.Findings("top level")
    paths = tree.files()
    names = sorted({path.split("/")[0] for path in paths})
    for name in names:
        if name not in ALLOWED and not name.startswith("."):
            findings.add(name, 1, "belongs into one of the folders, or to no one: see the map of "
                         "folders in README.md")
    findings.end(len(names))


if __name__ == "__main__":
    main()
