#!/usr/bin/env python3
"""Links a program with an archive of the libraries, and lets it evaluate one predicate of each kind. The package must
have been built.

From an archive a linker takes only the object files that something refers to. Without those that hold nothing but
conformances, predicates would be evaluated in memory, which nothing but their cost would show. Fails when a predicate
has no SQL, finds something else than in memory, or when a problem is reported.
"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = (
    "CSteadEncoding", "CSteadFiles", "CSteadSQLite", "CSteadRuntime", "SteadEncoding", "SteadFiles", "SteadFormats", "SteadSQLite",
    "SteadRecords", "SwiftData")
PROGRAM = """
import SwiftData
import SteadFiles
import Foundation

enum Kind: String, Codable { case near, far }

@Model class Place {
  var name = ""
  var rank: Int?
  var height = 0.0
  var kind = Kind.near
  var visited = Date(timeIntervalSinceReferenceDate: 0)
  var tags: [String] = []
  @Relationship(inverse: \\Place.around) var parts: [Place] = []
  var around: Place?
  init(name: String, rank: Int? = nil) { self.name = name; self.rank = rank }
}

@available(macOS 26, *)
@Model final class Harbour: Place {
  var depth = 0
  init(name: String, depth: Int) { self.depth = depth; super.init(name: name) }
}

var failures = 0
@MainActor func fail(_ text: String) {
  print(text)
  failures += 1
}
Stead.onProblem = { problem in
  print("problem: \\(problem)")
  exit(1)
}

let container = try ModelContainer(
  for: Place.self, Harbour.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
let context = ModelContext(container)
let town = Place(name: "Ærø town", rank: 3)
let tower = Place(name: "tower")
tower.height = 12.5
tower.tags = ["old"]
tower.kind = .far
tower.visited = Date(timeIntervalSinceReferenceDate: 99)
let port = Harbour(name: "Port", depth: 4)
for place in [town, tower, port] { context.insert(place) }
tower.around = town
try context.save()

let (ids, far, text, inner) = (
  [town.persistentModelID], Kind.far, "tow", #Predicate<Place> { $0.rank == nil }
)
let predicates: [(String, Predicate<Place>)] = [
  ("equality", #Predicate { $0.name == "tower" }),
  ("comparison", #Predicate { $0.height > 1 && $0.height <= 12.5 && !($0.height == 3) }),
  ("nil", #Predicate { $0.rank == nil }),
  ("coalescing", #Predicate { ($0.rank ?? 7) + 1 < 5 }),
  ("optional chain", #Predicate { $0.around?.rank == 3 }),
  ("arithmetic", #Predicate { $0.height * 2 - 1 > 3 }),
  ("conditional", #Predicate { ($0.height > 3 ? "a" : "b") == "a" }),
  ("contains", #Predicate { $0.name.contains(text) }),
  ("prefix", #Predicate { $0.name.starts(with: "to") }),
  ("localized", #Predicate { $0.name.localizedStandardContains("AERO") || $0.name.localizedStandardContains("TOW") }),
  ("range", #Predicate { (1.0...20.0).contains($0.height) }),
  ("date", #Predicate { $0.visited < Date(timeIntervalSinceReferenceDate: 9) }),
  ("raw value", #Predicate { $0.kind == far }),
  ("collection", #Predicate { $0.tags.contains("old") }),
  ("count", #Predicate { $0.parts.count == 1 }),
  ("closure", #Predicate { $0.parts.contains { $0.height > 3 } }),
  ("all", #Predicate { $0.parts.allSatisfy { $0.rank == 3 } }),
  ("filter", #Predicate { $0.parts.filter { $0.height > 3 }.count > 0 }),
  ("identifiers", #Predicate { ids.contains($0.persistentModelID) }),
  ("another predicate", #Predicate { inner.evaluate($0) }),
  ("class", #Predicate { $0 is Harbour }),
  ("field of a subclass", #Predicate { ($0 as? Harbour)?.depth == 4 }),
]
let all = try context.fetch(FetchDescriptor<Place>())
for (name, predicate) in predicates {
  let descriptor = FetchDescriptor<Place>(predicate: predicate)
  let found = Set(try context.fetch(descriptor).map(\\.name))
  let expected = Set(try all.filter { try predicate.evaluate($0) }.map(\\.name))
  if found != expected { fail("\\(name): finds \\(found), not \\(expected)") }
  if found.isEmpty || found.count == all.count {
    fail("\\(name): finds \\(found), which shows nothing")
  }
  let sql = try context.sql(for: descriptor)
  if !sql.contains("WHERE") { fail("\\(name): \\(sql)") }
}
print("\\(predicates.count) kinds of predicates, \\(failures) fail")
exit(failures == 0 ? 0 : 1)
"""


def flags(binaries):
    """The compiler's flags for programs that use the package's modules."""
    path = str(ROOT / "Scripts/check-blocks")
    loader = importlib.machinery.SourceFileLoader("check_blocks", path)
    spec = importlib.util.spec_from_loader("check_blocks", loader)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module.flags(binaries)


def objects_of(name, binaries):
    """The object files of a target. A build leaves those of sources that have gone since."""
    sources = {path.name for path in (ROOT / "Sources" / name).rglob("*") if path.is_file()}
    return [str(path) for path in (binaries / f"{name}.build").rglob("*.o") if path.stem in sources]


def main():
    shown = subprocess.run(
        ["swift", "build", "--traits", "Server", "--show-bin-path"], cwd=ROOT, capture_output=True, text=True, check=True)
    binaries = pathlib.Path(shown.stdout.strip())
    with tempfile.TemporaryDirectory() as place:
        archive, program = f"{place}/libStead.a", f"{place}/program"
        objects = [path for name in LIBRARIES for path in objects_of(name, binaries)]
        subprocess.run(["ar", "qcS", archive, *objects], check=True)
        subprocess.run(["ranlib", archive], check=True)
        source = pathlib.Path(place) / "main.swift"
        source.write_text(PROGRAM, encoding="utf-8")
        compiler = [word for word in flags(binaries) if word != "-warnings-as-errors"]
        linked = subprocess.run(
            ["swiftc", *compiler, str(source), archive, "-lsqlite3", "-lz", "-Xlinker", "--gc-sections",
             "-o", program], cwd=ROOT, check=False)
        if linked.returncode != 0:
            return 1
        return subprocess.run([program], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
