#!/usr/bin/env python3
"""Compares pages with the sources: each constant of Documentation/Limits.md, `Type.name = value`, and each message in
the tables of Documentation/Troubleshooting.md, in which "…" stands for anything."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {
    path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "Sources").rglob("*.swift"))
}


def sources_of(type_name):
    """The sources that declare or extend a type, by the names of their files or by their text."""
    declared = re.compile(rf"\b(struct|class|enum|actor|extension|protocol) ([\w.]+\.)?{type_name}\b")
    return [text for path, text in SOURCES.items()
            if path.stem.split("+")[0] == type_name or declared.search(text)]


def constants():
    page = (ROOT / "Documentation/Limits.md").read_text(encoding="utf-8")
    for type_name, name, value in re.findall(r"`(?:\w+\.)*(\w+)\.(\w+) = ([^`]+)`", page):
        constant = re.compile(
            rf"\b(?:let|var) {name}\b(?:: [\w.]+)? (?:= {re.escape(value)}$|\{{ {re.escape(value)} \}}$)", re.M)
        found = any(constant.search(text) for text in sources_of(type_name))
        yield f"Limits.md: the sources do not have {type_name}.{name} = {value}", found


def messages():
    # A literal that goes on after a `+` is one text.
    texts = [re.sub(r'"\s*\+\s*"', "", text) for text in SOURCES.values()]
    page = (ROOT / "Documentation/Troubleshooting.md").read_text(encoding="utf-8")
    rows = "".join(re.findall(r"^\| code \| message \| do \|\n((?:\|.*\n)+)", page, re.M))
    for code, message in re.findall(r"^\| `(\w+)` \| ([^|]*[^| ]) \| [^|]*\|$", rows, re.M):
        # Not where the table ends a text by a full stop or a colon of its own.
        pieces = [piece.strip(" .") for piece in message.split("…")]
        pieces = [piece for piece in pieces if len(piece) > 4]
        found = any(all(piece in text for piece in pieces) for text in texts)
        yield f"Troubleshooting.md: no source has this message of {code}: {message}", found or not pieces


results = [*constants(), *messages()]
wrong = [sentence for sentence, found in results if not found]
print("\n".join([*wrong, f"{len(results)} constants and messages, {len(wrong)} are not in the sources"]))
sys.exit(1 if wrong or not results else 0)
