"""Checks that the top level of the tree contains only the allowed files and folders."""

import tree

ALLOWED = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE",
           "host", "sdk", "plugins", "profiles", "examples", "findings", "tests"}


def main():
    findings = tree.Findings("top level")
    paths = tree.files()
    names = sorted({path.split("/")[0] for path in paths})
    for name in names:
        if name not in ALLOWED and not name.startswith("."):
            findings.add(name, 1, "not allowed at the top level: move it into one of the folders "
                         "that README.md lists, or delete it")
    findings.end(len(names))


if __name__ == "__main__":
    main()
