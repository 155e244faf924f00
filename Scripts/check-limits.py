#!/usr/bin/env python3
"""Checks that each constant of Documentation/Limits.md, `Type.name = value`, is in the sources with that value."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Documentation/Limits.md"


def sources_of(type_name):
    """The sources that declare or extend a type, by the names of their files or by their text."""
    declared = re.compile(rf"\b(struct|class|enum|actor|extension|protocol) ([\w.]+\.)?{type_name}\b")
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        text = path.read_text(encoding="utf-8")
        if path.stem.split("+")[0] == type_name or declared.search(text):
            yield text


wrong, count = [], 0
for type_name, name, value in re.findall(r"`(\w+)\.(\w+) = ([^`]+)`", PAGE.read_text(encoding="utf-8")):
    count += 1
    constant = re.compile(
        rf"\b(?:let|var) {name}\b(?:: [\w.]+)? (?:= {re.escape(value)}$|\{{ {re.escape(value)} \}}$)", re.M)
    if not any(constant.search(text) for text in sources_of(type_name)):
        wrong.append(f"{type_name}.{name} = {value}")
for line in wrong:
    print(f"{PAGE.relative_to(ROOT)}: the sources do not have {line}")
sys.exit(1 if wrong or not count else 0)
