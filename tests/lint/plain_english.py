"""Sentences in comments that a reader would have to decode: the ones that can be found by pattern.

A comment names its subject and stands alone; code returns, receives and records, it does not tell,
hear or know. .github/CONTRIBUTING.md has the rules.
"""

import re

import tree

COMMENT = {
    (".h", ".cc", ".c", ".rs", ".go"): re.compile(r"^\s*(?://[/!]?|/?\*+)\s?(.*?)(?:\*/)?\s*$"),
    (".py", ".sh", ".toml", ".cmake", "CMakeLists.txt"): re.compile(r"^\s*#(?!!)\s?(.*)$"),
}
# A comment behind code. Two spaces precede it, unlike most "//" in a string.
TRAILING = re.compile(r"^.*\S\s\s+// (.*)$")
# How a sentence must not begin: with a clause whose noun is elsewhere, or as an answer to another.
OPENING = re.compile(
    r"(Who(ever)?\b|Whom\b|Of (both|it|one|them|all|a|an|the|what)\b|The same( for| of| as|\.|:|,|;)"
    r"|So (do|does|is|are|it|must|may)\b|Nor\b|None of\b|Neither of\b|What (it|is|was|a|an|has|"
    r"comes|came|they|such|others|we)\b|Which of\b|As (it|they) (is|are) (here|there)\b"
    r"|All below|As above|As below|Nobody\b|Somebody\b|Those (that|who|of)\b|Others:)")
# What code cannot do, and pictures in place of the field's terms.
PHRASE = re.compile(
    r"\b(nobody's business|says so|said so|is told|are told|was told|told to|hears of|hear of|"
    r"whoever|nobody|somebody|gets to know|is heard|knows of it|wants to know|lets go|let go|"
    r"what (has )?become of|came to nothing|says (yes|no)|at the .* door)\b", re.IGNORECASE)
SENTENCE_END = re.compile(r"(?<=[.:;?])\s+(?=[A-Z`\"])")


def pattern_for(path):
    for ends, pattern in COMMENT.items():
        if path.endswith(ends):
            return pattern
    return None


def blocks(numbered_lines, pattern):
    """Yields (first line, text) of each comment: lines that follow each other, joined. A comment
    behind code stands alone.
    """
    first, words = 0, []
    for number, line in numbered_lines:
        match = pattern.match(line)
        text = match.group(1).strip() if match else ""
        if not text:
            if words:
                yield first, " ".join(words)
            first, words = 0, []
            trailing = TRAILING.match(line)
            if trailing and not match:
                yield number, trailing.group(1)
            continue
        first = first or number
        words.append(text)
    if words:
        yield first, " ".join(words)


def check_sentence(sentence):
    """None, or what a reader would stumble over."""
    match = OPENING.match(sentence)
    if match:
        return f"'{match.group()} ...' has its subject elsewhere: name it"
    match = PHRASE.search(sentence)
    return f"'{match.group()}': write what the code does" if match else None


def check_text(numbered_lines, pattern):
    """[(line, what to do)]"""
    wrong = []
    for first, text in blocks(numbered_lines, pattern):
        for sentence in SENTENCE_END.split(text):
            problem = check_sentence(sentence)
            if problem:
                wrong.append((first, problem))
    return wrong


def main():
    findings = tree.Findings("plain_english")
    looked_at = 0
    for path in tree.files():
        pattern = pattern_for(path)
        if pattern is None or path.startswith("tests/lint/"):
            continue
        looked_at += 1
        for number, problem in check_text(tree.lines(path), pattern):
            findings.add(path, number, problem)
    findings.end(looked_at)


if __name__ == "__main__":
    main()
