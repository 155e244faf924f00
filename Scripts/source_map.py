"""Who uses whose types: the folders of a target, and the targets, as text shows them.

A file uses a type when its code has the type's name. Types are known by their declarations at the top
level; a name that two folders declare, or that the file's own folder declares within a type, counts
for neither. Members and free functions are not looked at.
"""

import collections
import re

from swift_text import blanked

TOP = "(top)"

DECLARATION = re.compile(
    r"\b(?:actor|class|enum|protocol|struct|typealias)\s+(?!func\b|var\b|let\b|subscript\b)(\w+)")
IMPORT = re.compile(r"^[^\n]*\bimport\s[^\n]*$", re.M)
# A name after a full stop belongs to the type in front of it.
NAME = re.compile(r"(?<![\w.])_?[A-Z]\w*")


class Folder:
    """The Swift files of a folder and those below it, of a target's own directory, or of a target."""

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
