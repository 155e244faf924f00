#!/usr/bin/env python3
"""Compiles the libraries as a release build does, and throws the result away.

The tests are built without optimization, so that nothing else would notice when the optimizer refuses a source, or
ends in one. It takes the arguments of the debug build, whose modules and macros it uses, and builds no package
that this one depends on.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Arguments of a debug build that a release build does not have, and how many values follow each.
DEBUG_ONLY = {
    "-Onone": 0, "-enable-testing": 0, "-incremental": 0, "-enable-batch-mode": 0, "-DDEBUG": 0, "-g": 0,
    "-serialize-diagnostics": 0, "-parseable-output": 0, "-emit-dependencies": 0, "-emit-module": 0, "-c": 0,
    "-emit-objc-header": 0, "-emit-objc-header-path": 1, "-emit-module-path": 1, "-output-file-map": 1,
    "-index-store-path": 1,
}
# What follows these is another tool's argument.
PASSED_ON = {"-Xcc", "-Xfrontend", "-Xlinker"}


def commands():
    """The arguments of each library's compilation, by the name of its module."""
    found = {}
    text = (ROOT / ".build/debug.yaml").read_text()
    for match in re.finditer(r"^ *args: (\[.*\])$", text, re.MULTILINE):
        arguments = json.loads(match.group(1))
        if "-module-name" not in arguments or not arguments[0].endswith("swiftc"):
            continue
        name = arguments[arguments.index("-module-name") + 1]
        if (ROOT / "Sources" / name).is_dir():
            found[name] = arguments
    return found


def libraries():
    """The libraries with Swift sources, each with those that it depends on, directly or not."""
    description = json.loads(
        subprocess.run(
            ["swift", "package", "--traits", "Server", "describe", "--type", "json"], cwd=ROOT, check=True, stdout=subprocess.PIPE
        ).stdout)
    targets = {target["name"]: target for target in description["targets"]}

    def reached(name):
        names = {name}
        for dependency in targets.get(name, {}).get("target_dependencies", []):
            names |= reached(dependency)
        return names

    names = {
        name for name, target in targets.items()
        if target["path"].startswith("Sources/") and target["type"] == "library"
        and target["module_type"] == "SwiftTarget"
    }
    return {name: (reached(name) - {name}) & names for name in names}


def released(arguments, place):
    """The arguments of a release build that leaves all that it makes in a directory."""
    result, skipped = [], 0
    for argument in arguments:
        if result and result[-1] in PASSED_ON:
            result.append(argument)
        elif skipped:
            skipped -= 1
        elif argument in DEBUG_ONLY:
            skipped = DEBUG_ONLY[argument]
        else:
            result.append(argument)
    name = arguments[arguments.index("-module-name") + 1]
    return [result[0], "-I", str(place), *result[1:], "-O", "-wmo", "-enable-default-cmo", "-c", "-emit-module",
            "-emit-module-path", str(place / f"{name}.swiftmodule"), "-o", str(place / f"{name}.o")]


def main():
    found, needs = commands(), libraries()
    if missing := sorted(set(needs) - set(found)):
        sys.exit(f"The debug build lacks {', '.join(missing)}: run swift build --build-tests.")
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)

        def compiles(name):
            return subprocess.run(released(found[name], place), cwd=ROOT).returncode == 0

        done, running = set(), {}
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            while len(done) < len(needs):
                # Whatever more of the others wait for comes first.
                ready = [name for name in needs if name not in running and needs[name] <= done]
                for name in sorted(ready, key=lambda name: -sum(name in other for other in needs.values())):
                    running[name] = pool.submit(compiles, name)
                left = [future for name, future in running.items() if name not in done]
                concurrent.futures.wait(left, return_when=concurrent.futures.FIRST_COMPLETED)
                for name, future in running.items():
                    if name not in done and future.done():
                        if not future.result():
                            pool.shutdown(cancel_futures=True)
                            sys.exit(f"{name} does not compile with optimization.")
                        done.add(name)


main()
