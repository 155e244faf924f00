#!/usr/bin/env python3
"""Checks that the folders of a target know each other in one direction only, from top to bottom.

The order is that of the rows of ARCHITECTURE.md's tables, whose head is `| folder of TARGET | … |`: a
folder may use the types of the folders in lower rows. Folders that share a row may not use each
other's. A target without folders needs no table.

What counts as a use is said in source_map.py. `Scripts/map` prints the arrows.
"""

import pathlib
import re
import sys

from source_map import arrows_of, folders_of

HEAD = re.compile(r"\|\s*folder of (\w+)\s*\|")
ROW = re.compile(r"\|([^|]+)\|")


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
        for problem in problems_of(path.name, folders, arrows, orders.get(path.name, {})):
            print(problem)
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
