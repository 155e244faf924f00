#!/usr/bin/env python3
"""Checks that each rule of Documentation/SwiftDataSemantics.md has a test that is named after it, and that
each test that names a rule names one of these."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "Documentation/SwiftDataSemantics.md"
TESTS = [ROOT / "Tests/SteadRecordsTests/Semantics", ROOT / "Tests/CustomStoreTests"]

rules = set(re.findall(r"^\| ([A-Z]\d+) \|", PAGE.read_text(), re.M))
tested = {
    rule for folder in TESTS for file in folder.rglob("*.swift")
    for rule in re.findall(r'func `([A-Z]\d+) ', file.read_text())
}
for rule in sorted(rules - tested):
    print(f"{PAGE.relative_to(ROOT)}: no test is named after {rule}")
for rule in sorted(tested - rules):
    print(f"Tests: a test names {rule}, which is no rule")
sys.exit(1 if rules ^ tested else 0)
