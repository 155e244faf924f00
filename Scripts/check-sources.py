#!/usr/bin/env python3
"""Checks what the compiler does not: which target imports which, sizes, and calls that end a program.

A line of `// allowed: REASON` above a trap, or at its end, lets it pass.
"""

import pathlib
import re
import sys

from swift_text import blanked

FUNCTION_LIMIT = 70

SYSTEM = {
    "Android", "Combine", "Darwin", "Dispatch", "Foundation", "Glibc", "Musl", "Observation", "Swift",
    "Security", "Synchronization",
}
SYNTAX = {
    "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftIfConfig", "SwiftSyntax", "SwiftSyntaxBuilder",
    "SwiftSyntaxMacros",
}
# The arrows of ARCHITECTURE.md: a target, and what its sources may import besides the system's modules.
ARROWS = {
    "CSteadEncoding": set(),
    "CSteadFiles": set(),
    "CSteadRuntime": set(),
    "CSteadSecrets": set(),
    "OSLog": set(),
    "SteadAdvice": set(),
    "SteadAdviceCommand": {"ArgumentParser", "SteadAdvice", "SteadLint", "SteadLintCommand"},
    "SteadCaches": {"CSteadFiles", "CSteadSQLite", "SteadEncoding", "SteadFiles", "SteadSQLite"},
    "SteadDefault": {"SteadPreferences"},
    "SteadEncoding": {"CSteadEncoding"},
    "SteadFiles": {"CSteadFiles", "SteadEncoding"},
    "SteadFormats": {"SteadEncoding"},
    "SteadLint": {"SwiftParser", "SwiftSyntax"},
    "SteadLintCommand": {"ArgumentParser", "SteadLint"},
    "SteadPreferences": {"SteadEncoding", "SteadFiles", "SteadFormats"},
    "SteadRecords": {"CSteadRuntime", "SteadEncoding", "SteadFiles", "SteadFormats", "SteadSQLite"},
    "SteadRecordsMacros": SYNTAX,
    "SteadSQLite": {"CSteadSQLite"},
    "SteadSecrets": {"Crypto", "CryptoExtras", "CSteadSecrets", "SteadEncoding", "SteadFiles"},
    "SteadSecretsTesting": {"SteadFiles", "SteadSecrets"},
    "SteadSync": {
        "SteadEncoding", "SteadFiles", "SteadFormats", "SteadPreferences", "SteadRecords", "SteadSQLite",
        "SteadSyncProtocol"},
    "SteadSyncProtocol": {"SteadEncoding"},
    "SteadSyncServer": {
        "CServerPostgreSQL", "CServerZlib", "Crypto", "HTTPTypes", "Hummingbird", "Logging", "NIOCore", "NIOPosix",
        "ServiceLifecycle", "SteadSQLite", "SteadSyncProtocol", "UnixSignals"},
    "SteadTransfer": {
        "SteadEncoding", "SteadFiles", "SteadFormats", "SteadPreferences", "SteadRecords", "SteadSQLite",
        "SteadSecrets"},
    "SwiftData": {"SteadRecords"},
    "os": {"OSLog"},
    "stead": {"ArgumentParser", "SteadAdviceCommand", "SteadLintCommand", "SteadSyncServer"},
    "stead-advise": {"ArgumentParser", "SteadAdviceCommand", "SteadLintCommand"},
    "stead-lint": {"ArgumentParser", "SteadLintCommand"},
}
# A folder or a file, and what may be imported there and nowhere else.
FOLDERS = {
    "Sources/SteadCaches/FoundationCompatibility/": {"FoundationNetworking"},
    "Sources/SteadCaches/URLSession/": {"FoundationNetworking"},
    "Sources/SteadFiles/Problem+Log.swift": {"os"},
    "Sources/SteadRecords/Row/": {"CSteadSQLite"},
    "Sources/SteadSync/Transport/": {"FoundationNetworking"},
}

IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+|(?:public|package|internal|fileprivate|private)\s+)*import\s+"
    r"(?:(?:class|enum|func|let|protocol|struct|typealias|var)\s+)?(\w+)")
TRAP = re.compile(r"\btry!|\bas!|\bfatalError\s*\(")
FUNCTION = re.compile(r"(?<![.\w`])(?:func\b|init\b|deinit\b|subscript\b)")
CONTINUES = re.compile(r"\s*(?:\{|->|where\b|throws\b|rethrows\b|async\b)")


def body_start(code, position):
    """Where the body of a function begins, whose keyword ends at a position; None without a body."""
    depth = 0
    while position < len(code):
        character = code[position]
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth == 0 and character == "{":
            return position
        elif depth == 0 and character in "};":
            return None
        elif depth == 0 and character == "\n" and not CONTINUES.match(code, position):
            return None
        position += 1
    return None


def functions(code):
    """The first line and the length of every function with a body, in lines that hold code.

    Lines of a text literal, such as the expansion that a test expects, are not code.
    """
    for found in FUNCTION.finditer(code):
        start = body_start(code, found.end())
        if start is None:
            continue
        depth, end = 0, start
        while end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            if depth == 0:
                break
            end += 1
        first = code.count("\n", 0, found.start()) + 1
        lines = code[found.start():end].splitlines()
        yield first, sum(1 for line in lines if line.strip())


def check_imports(path, code):
    parts = path.split("/")
    if parts[0] != "Sources":
        return
    target = parts[1]
    if target not in ARROWS:
        yield 1, f"the target {target} has no arrows in {pathlib.Path(__file__).name}"
        return
    allowed = SYSTEM | ARROWS[target]
    for folder, modules in FOLDERS.items():
        if path.startswith(folder):
            allowed |= modules
    for number, line in enumerate(code.splitlines(), 1):
        found = IMPORT.match(line)
        if found and found.group(1) not in allowed:
            yield number, f"{target} may not import {found.group(1)} here"


def check_traps(path, text, code):
    if "Tests" in path.split("/"):
        return
    lines = text.splitlines()
    for number, line in enumerate(code.splitlines(), 1):
        found = TRAP.search(line)
        if not found:
            continue
        nearby = lines[max(0, number - 2):number]
        if not any("// allowed: " in one for one in nearby):
            yield number, f"{found.group().strip('( ')} ends the program; throw, or say why it may"


def check_sizes(code):
    for first, count in functions(code):
        if count > FUNCTION_LIMIT:
            yield first, f"a function of {count} lines, more than {FUNCTION_LIMIT}"


OPERATOR = re.compile(r"\bextension\s+PredicateExpressions\.(\w+)\s*:\s*SQLTranslatable\b")
OPERATORS = "Sources/SteadRecords/Query/Operators/"
TABLE = "Sources/SteadRecords/Query/Translation/SQLTranslatable.swift"


def check_table(path, code, table):
    """A conformance that nothing refers to is lost in a program that links a static library."""
    if not path.startswith(OPERATORS):
        return
    for found in OPERATOR.finditer(code):
        if not re.search(rf"\bNode\.{found.group(1)}\b", table):
            yield code.count("\n", 0, found.start()) + 1, f"{found.group(1)} is missing in {TABLE}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    count = 0
    table = (root / TABLE).read_text(encoding="utf-8")
    for file in sorted(root.rglob("*.swift")):
        path = file.relative_to(root).as_posix()
        if any(part.startswith(".") for part in path.split("/")):
            continue
        text = file.read_text(encoding="utf-8")
        code = blanked(text)
        problems = [
            *check_imports(path, code), *check_traps(path, text, code), *check_sizes(code),
            *check_table(path, code, table)]
        for number, problem in problems:
            print(f"{path}:{number}: {problem}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
