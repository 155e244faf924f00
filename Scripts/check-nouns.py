#!/usr/bin/env python3
"""Checks that a noun has a file of its own: `Type.swift`, or `Type+Topic.swift` for a part of it.

`check-nouns.py TARGET…` prints, for the Swift files of each target,

- a type at the top level that lies in a file of another name, unless it is private, or small and used in
  fewer than three other files. A type `_Name`, public for expansions of macros alone, lies in `Name.swift`;
- a file of 15 lines or fewer, unless it is that of a noun which at least two other files use: it belongs
  to the file of a noun.

A type is small when its declaration and its extensions in the file, with their comments, have 15 lines or
fewer. Files that may be as short as they are: the module's page (`Target.swift`), what a target hands on
of another one (`OtherTarget.swift`, which holds imports alone), the two of a platform pair
(`Type+Topic.swift` and `Type+Topic+Apple.swift`), and the operators of predicates, of which each has a file
(rule 10 of STYLE.md).
"""

import collections
import pathlib
import re
import sys

from swift_text import blanked

LINE_LIMIT = 15
# In how many other files a small type is used that has a file of its own nevertheless.
WIDE_USE = 3
# In how many other files the noun of a short file is used; a noun of one other file belongs there.
SHARED_USE = 2
PLATFORMS = ("Android", "Apple", "Linux", "POSIX", "Windows")
OPERATORS = "SteadRecords/Query/Operators"

IMPORT = re.compile(r"^[^\n]*\bimport\s[^\n]*$", re.M)
# Not a typealias, which is another name for a type.
DECLARATION = re.compile(
    r"^(?P<before>[^\n]*?)\b(?:actor|class|enum|protocol|struct)\s+"
    r"(?!func\b|init\b|let\b|subscript\b|var\b)`?(?P<name>\w+)", re.M)
EXTENSION = re.compile(r"^[^\n]*?\bextension\s+(?P<name>\w+)(?P<rest>[^{\n]*)", re.M)
PRIVATE = re.compile(r"\b(?:private|fileprivate)\b(?!\s*\()")
COMMENT = re.compile(r"\s*(?://|@\w|#if\b)")
WORD = re.compile(r"\w+")


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


class File:
    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.lines = text.splitlines()
        self.code = IMPORT.sub("", blanked(text))
        self.top = outside_braces(self.code)
        self.words = set(WORD.findall(self.code))
        self.noun = path.stem.split("+")[0]

    def types(self):
        """The position and the name of each type at the top level that is not private."""
        for found in DECLARATION.finditer(self.top):
            if not PRIVATE.search(found.group("before")):
                yield found.start("name"), found.group("name")

    def length(self, name):
        """The lines of a type's declaration, and of its extensions and those that make others conform."""
        starts = [start for start, found in self.types() if found == name]
        for found in EXTENSION.finditer(self.top):
            if name == found.group("name") or name in WORD.findall(found.group("rest")):
                starts.append(found.start("name"))
        return sum(self.length_from(start) for start in starts)

    def length_from(self, start):
        """The lines from the comment above a declaration to its last brace."""
        first = last = self.line(start)
        while first > 1 and COMMENT.match(self.lines[first - 2]):
            first -= 1
        depth = 0
        for position in range(start, len(self.code)):
            depth += {"{": 1, "}": -1}.get(self.code[position], 0)
            if self.code[position] == "}" and depth == 0:
                last = self.line(position)
                break
        return last - first + 1

    def line(self, position):
        return self.code.count("\n", 0, position) + 1


def is_exempt(file, target):
    """Whether a file may be as short as it is."""
    path = file.path
    if path == target / f"{target.name}.swift":
        return True
    if (target.parent / path.stem).is_dir() and not file.code.strip():
        return True
    if path.parent == target.parent / OPERATORS and path.stem.endswith("+SQL"):
        return True
    stem, _, last = path.stem.rpartition("+")
    if last in PLATFORMS and stem:
        return True
    return any(path.with_name(f"{path.stem}+{platform}.swift").exists() for platform in PLATFORMS)


def problems_of(file, target, uses):
    for start, name in file.types():
        if file.noun in (name, name.removeprefix("_")):
            continue
        others = uses[name] - 1
        length = file.length(name)
        if length > LINE_LIMIT or others >= WIDE_USE:
            yield (
                file.line(start),
                f"{name} lies in a file of another name; {length} lines, other files that use it: {others}")
    length = len(file.lines)
    if length <= LINE_LIMIT and not is_exempt(file, target):
        nouns = [name for _, name in file.types() if file.noun in (name, name.removeprefix("_"))]
        if not nouns or uses[nouns[0]] - 1 < SHARED_USE:
            yield 1, f"{length} lines; it belongs to the file of a noun"


def main():
    sources = pathlib.Path(__file__).resolve().parent.parent / "Sources"
    files = {path: File(path) for path in sorted(sources.rglob("*.swift"))}
    uses = collections.Counter(word for file in files.values() for word in file.words)
    count = 0
    for name in sys.argv[1:]:
        target = sources / name
        if not target.is_dir():
            print(f"There is no target {name} in Sources")
            return 1
        for path, file in files.items():
            if target in path.parents:
                for line, problem in problems_of(file, target, uses):
                    print(f"{path.relative_to(sources.parent).as_posix()}:{line}: {problem}")
                    count += 1
    return 1 if count or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
