#!/usr/bin/env python3
"""Checks that a noun has a file of its own: `Type.swift`, or `Type+Topic.swift` for a part of it.

`check-nouns.py TARGET…` prints, for the Swift files of each target,

- a type at the top level that lies in a file of another name, unless it is private, and
- a file of 15 lines or fewer, which belongs to the file of a noun.
"""

import pathlib
import re
import sys

from swift_text import blanked

LINE_LIMIT = 15

IMPORT = re.compile(r"^[^\n]*\bimport\s[^\n]*$", re.M)
# Not a typealias, which is another name for a type.
DECLARATION = re.compile(
    r"^(?P<before>[^\n]*?)\b(?:actor|class|enum|protocol|struct)\s+"
    r"(?!func\b|init\b|let\b|subscript\b|var\b)`?(?P<name>\w+)", re.M)
PRIVATE = re.compile(r"\b(?:private|fileprivate)\b(?!\s*\()")


def outside_braces(code):
    """The code with everything in braces as spaces, so that what is left is at the top level."""
    depth, kept = 0, []
    for character in code:
        if character == "}":
            depth -= 1
        kept.append(character if depth == 0 or character == "\n" else " ")
        if character == "{":
            depth += 1
    return "".join(kept)


def types_of(text):
    """The line and the name of each type at the top level that is not private."""
    code = outside_braces(IMPORT.sub("", blanked(text)))
    for found in DECLARATION.finditer(code):
        if not PRIVATE.search(found.group("before")):
            yield code.count("\n", 0, found.start("name")) + 1, found.group("name")


def problems_of(file):
    text = file.read_text(encoding="utf-8")
    noun = file.stem.split("+")[0]
    for line, name in types_of(text):
        if name != noun:
            yield line, f"{name} lies in a file of another name"
    length = text.count("\n")
    if length <= LINE_LIMIT:
        yield 1, f"{length} lines; it belongs to the file of a noun"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    count = 0
    for target in sys.argv[1:]:
        directory = root / "Sources" / target
        if not directory.is_dir():
            print(f"There is no target {target} in Sources")
            return 1
        for file in sorted(directory.rglob("*.swift")):
            for line, problem in problems_of(file):
                print(f"{file.relative_to(root).as_posix()}:{line}: {problem}")
                count += 1
    return 1 if count or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
