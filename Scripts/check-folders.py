#!/usr/bin/env python3
"""Checks that the folders of a target know each other in one direction only, from top to bottom.

The order is that of the rows of ARCHITECTURE.md's tables, whose head is `| folder of TARGET | … |`: a
folder may use the types of the folders in lower rows. Folders that share a row may not use each
other's. A target without folders needs no table.

A file uses a type when its code has the type's name. Types are known by their declarations at the top
level; a name that two folders declare, or that the file's own folder declares within a type, counts
for neither. Members and free functions are not looked at.

`check-folders.py --all` prints all arrows with the types that make them.
"""

import collections
import pathlib
import re
import sys

from swift_text import blanked

TOP = "(top)"

HEAD = re.compile(r"\|\s*folder of (\w+)\s*\|")
ROW = re.compile(r"\|([^|]+)\|")
DECLARATION = re.compile(
    r"\b(?:actor|class|enum|protocol|struct|typealias)\s+(?!func\b|var\b|let\b|subscript\b)(\w+)")
IMPORT = re.compile(r"^[^\n]*\bimport\s[^\n]*$", re.M)
# A name after a full stop belongs to the type in front of it.
NAME = re.compile(r"(?<![\w.])_?[A-Z]\w*")


def declared_order(text):
    """The folders of each target: a level for each, counted from the top."""
    orders, current = {}, None
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            current = orders.setdefault(head.group(1), {})
        elif not line.startswith("|"):
            current = None
        elif current is not None and (row := ROW.match(line)) and not line.startswith("|--"):
            level = len(set(current.values()))
            for folder in row.group(1).split(","):
                current[folder.strip()] = level
    return orders


class Folder:
    """The Swift files of a folder and those below it, or of a target's own directory."""

    def __init__(self):
        self.types = set()
        self.nested = set()
        self.names = collections.Counter()

    def add(self, text):
        code = IMPORT.sub("", blanked(text))
        depth, position = 0, 0
        for found in DECLARATION.finditer(code):
            between = code[position:found.start()]
            depth += between.count("{") - between.count("}")
            position = found.start()
            (self.types if depth == 0 else self.nested).add(found.group(1))
        self.names.update(set(NAME.findall(code)))


def folders_of(target):
    folders = collections.defaultdict(Folder)
    for file in sorted(target.rglob("*.swift")):
        parts = file.relative_to(target).parts
        folders[parts[0] if len(parts) > 1 else TOP].add(file.read_text(encoding="utf-8"))
    return dict(folders)


def arrows_of(folders):
    """The types of another folder that each folder uses."""
    owners = collections.defaultdict(set)
    for name, folder in folders.items():
        for type_name in folder.types:
            owners[type_name].add(name)
    arrows = collections.defaultdict(set)
    for name, folder in folders.items():
        for used in folder.names:
            owner = owners.get(used, set())
            if len(owner) == 1 and name not in owner and used not in folder.nested:
                arrows[name, next(iter(owner))].add(used)
    return dict(arrows)


def problems_of(target, folders, arrows, order):
    for name in sorted(folders.keys() - order.keys()):
        yield f"{target}/{name} is in no row of ARCHITECTURE.md's table of {target}"
    for name in sorted(order.keys() - folders.keys()):
        yield f"{target}/{name} is in ARCHITECTURE.md, and has no Swift file"
    for (one, other), types in sorted(arrows.items()):
        if one not in order or other not in order or order[one] < order[other]:
            continue
        both = " and is used by it" if (other, one) in arrows else ""
        names = ", ".join(sorted(types))
        yield f"{target}/{one} uses {names} of {other}, which is not below it{both}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    orders = declared_order((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    count = 0
    for path in sorted((root / "Sources").iterdir()):
        folders = folders_of(path)
        if len(folders) < 2 and path.name not in orders:
            continue
        arrows = arrows_of(folders)
        if "--all" in sys.argv:
            for (one, other), types in sorted(arrows.items()):
                print(f"{path.name}: {one} -> {other}: {', '.join(sorted(types))}")
        for problem in problems_of(path.name, folders, arrows, orders.get(path.name, {})):
            print(problem)
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
