#!/usr/bin/env python3
"""Compares the public API of each product with the list that is kept of it.

    Scripts/check-api.py [--write] [MODULE...]

Reads what `swift build` has built. The lists are Documentation/API/MODULE.txt: a line for each public symbol
with its declaration, in alphabetical order. With --write the lists are written; what changes then is seen in
the review of the commit. Fails when a list and its module differ.
"""

import argparse
import difflib
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTS = ROOT / "Documentation/API"
BUILT = ROOT / ".build/debug"
HANDED_ON = re.compile(r"^@_exported public import (?:\w+ )?(\w+)", re.M)


def modules():
    """The modules of the library products, and those whose types they hand on."""
    description = subprocess.run(
        ["swift", "package", "--traits", "Server", "describe", "--type", "json"], cwd=ROOT, check=True, capture_output=True, text=True)
    products = json.loads(description.stdout[description.stdout.index("{"):])["products"]
    names = {
        module for product in products if "library" in product["type"] for module in product["targets"]
    }
    # Targets in C have no symbols of Swift's.
    names = {module for module in names if any((ROOT / "Sources" / module).rglob("*.swift"))}
    for module in sorted(names):
        for file in (ROOT / "Sources" / module).rglob("*.swift"):
            names.update(
                other for other in HANDED_ON.findall(file.read_text()) if (ROOT / "Sources" / other).is_dir())
    return sorted(names)


def extract(module, place):
    """The symbols of a module and of what it adds to others."""
    maps = [
        flag
        for path in [
            *(each for each in sorted(BUILT.glob("C*.build/module.modulemap"))
              if not each.parent.name.endswith("-tool.build")),
            # What swift-syntax imports, whose modules SteadLint is made with.
            *(ROOT / ".build/checkouts/swift-syntax/Sources").glob("*/include/module.modulemap"),
        ]
        for flag in ("-Xcc", f"-fmodule-map-file={path}")
    ]
    target = f"{platform.machine()}-unknown-linux-gnu"
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, "-I", BUILT / "Modules",
         *maps, "-minimum-access-level", "public", "-skip-inherited-docs", "-skip-synthesized-members",
         "-output-dir", place],
        check=True, cwd=ROOT)
    symbols = []
    for path in sorted(place.glob(f"{module}*.symbols.json")):
        if path.name == f"{module}.symbols.json" or path.name.startswith(f"{module}@"):
            symbols += json.loads(path.read_text())["symbols"]
    return symbols


def line(symbol):
    declaration = "".join(fragment["spelling"] for fragment in symbol.get("declarationFragments", []))
    declaration = re.sub(r"\s+", " ", declaration).strip()
    path = ".".join(symbol["pathComponents"])
    constraints = symbol.get("swiftExtension", {}).get("constraints", [])
    where = ", ".join(
        f"{each['lhs']}{' == ' if each['kind'] == 'sameType' else ': '}{each['rhs']}" for each in constraints)
    kind = symbol["kind"]["identifier"].removeprefix("swift.")
    return f"{path}  [{kind}] {declaration}" + (f"  (where {where})" if where else "")


def listed(module):
    with tempfile.TemporaryDirectory() as place:
        symbols = extract(module, pathlib.Path(place))
    return sorted({line(symbol) for symbol in symbols})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    if not (BUILT / "Modules").is_dir():
        sys.exit("Nothing is built. Run `swift build` first.")
    names = options.modules or modules()
    status = 0
    for module in names:
        path = LISTS / f"{module}.txt"
        found = listed(module)
        if not found:
            # A module that only hands on another one.
            continue
        if options.write:
            LISTS.mkdir(exist_ok=True)
            path.write_text("".join(each + "\n" for each in found))
            print(f"{module}: {len(found)} symbols")
            continue
        kept = path.read_text().splitlines() if path.is_file() else []
        if kept != found:
            status = 1
            print(f"The public API of {module} differs from Documentation/API/{module}.txt:")
            for each in difflib.unified_diff(kept, found, "kept", "found", lineterm="", n=0):
                if not each.startswith(("---", "+++", "@@")):
                    print(f"  {each}")
    if not options.write and not options.modules:
        for path in LISTS.glob("*.txt"):
            if path.stem not in names:
                status = 1
                print(f"{path.relative_to(ROOT)} is of no product.")
    if status:
        print("If that is meant, run `Scripts/check-api.py --write` and commit the lists.")
    sys.exit(status)


if __name__ == "__main__":
    main()
