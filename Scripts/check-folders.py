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

# Arrows that point up, with the reason why they are still there. One that is gone has to be removed
# from here, too.
_OBSERVED = "Preferences is what is observed, and it holds its observers"
_NAMED = "domains are named and placed by constants and types within Preferences, as in UserDefaults"
EXCEPTIONS = {
    ("SteadPreferences", "Observation", "(top)"): _OBSERVED,
    ("SteadPreferences", "Search", "(top)"): _NAMED,
}

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
    excused = {(one, other) for (of, one, other) in EXCEPTIONS if of == target}
    for (one, other), types in sorted(arrows.items()):
        if one not in order or other not in order or order[one] < order[other]:
            continue
        if (one, other) in excused:
            continue
        both = " and is used by it" if (other, one) in arrows else ""
        names = ", ".join(sorted(types))
        yield f"{target}/{one} uses {names} of {other}, which is not below it{both}"
    for one, other in sorted(excused):
        if (one, other) not in arrows or order.get(one, -1) < order.get(other, 0):
            yield f"the exception {target}/{one} -> {other} is no longer needed; remove it"


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
