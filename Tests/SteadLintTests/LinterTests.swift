import Foundation
import SteadLint
import SteadTestSupport
import Testing

/// Levels, comments, baselines, the cache and cancellation.
struct LinterTests {
  private let directory: TemporaryDirectory
  private var folder: URL { directory.url }

  init() throws { directory = try TemporaryDirectory() }

  private func write(_ source: String, to name: String = "A.swift") throws {
    try Data(source.utf8).write(to: folder.appending(path: name))
  }

  private func ids(_ linter: Linter) throws -> [String] { try linter.run().findings.map(\.ruleID) }

  private static let secret = #"func a() { UserDefaults.standard.set(x, forKey: "password") }"#

  @Test func `a comment with a reason disables a rule`() throws {
    try write(Self.secret + " // stead:disable P01 a demo\n")
    let report = try Linter(root: folder).run()
    #expect(report.findings.isEmpty)
    #expect(report.suppressedCount == 1)
    try write("// stead:disable:next secret-in-preferences,P09 a demo\n" + Self.secret)
    #expect(try ids(Linter(root: folder)).isEmpty)
  }

  @Test func `a comment without a reason disables nothing`() throws {
    try write(Self.secret + " // stead:disable P01\n")
    #expect(try ids(Linter(root: folder)) == ["P01", "L01"])
  }

  @Test func `a comment of another rule or line disables nothing`() throws {
    try write("// stead:disable P01 above\n" + Self.secret + " // stead:disable P02 another\n")
    #expect(try ids(Linter(root: folder)) == ["P01"])
  }

  @Test func `a baseline hides what it knows and no more`() throws {
    try write(Self.secret)
    var linter = Linter(root: folder)
    linter.rules = ["P01"]
    let file = folder.appending(path: "baseline.json")
    try Baseline(linter.run()).write(to: file)
    linter.baseline = try Baseline(contentsOf: file)
    try write("\n\n" + Self.secret)
    #expect(try linter.run().knownCount == 1)
    #expect(try ids(linter).isEmpty)
    try write(Self.secret + "\n" + Self.secret)
    #expect(try ids(linter) == ["P01"])
  }

  @Test(arguments: ["", "{}", "[]", #"{"version": 9, "findings": {}}"#])
  func `what isn't a baseline is refused`(content: String) throws {
    try write(content, to: "b.json")
    #expect(throws: LintError.self) { try Baseline(contentsOf: folder.appending(path: "b.json")) }
  }

  @Test func `a cache spares what didn't change`() throws {
    try write(Self.secret)
    try write("struct B {}", to: "B.swift")
    var linter = Linter(root: folder)
    linter.cacheFile = folder.appending(path: "cache")
    let first = try linter.run()
    #expect(first.parsedCount == 2)
    let second = try linter.run()
    #expect(second.parsedCount == 0)
    #expect(second.findings == first.findings)
    try write("struct B { var a = 1 }", to: "B.swift")
    #expect(try linter.run().parsedCount == 1)
    try write("not a cache", to: "cache")
    #expect(try linter.run().findings == first.findings)
  }

  /// What a run with other limits had refused or accepted came from the cache.
  @Test(arguments: ["size", "nesting", "chain"])
  func `a cache knows the limits`(limit: String) throws {
    try write("func a() { if b { if c { d?.e?.f?.g() } } }")
    var linter = Linter(root: folder)
    linter.cacheFile = folder.appending(path: "cache")
    #expect(try ids(linter).isEmpty)
    switch limit {
    case "size": linter.limits.fileSize = 1
    case "nesting": linter.limits.nesting = 1
    default: linter.limits.chain = 1
    }
    #expect(try ids(linter) == ["L02"])
    linter.limits = .init()
    #expect(try ids(linter).isEmpty)
    #expect(try linter.run().parsedCount == 0)
  }

  @Test func `rules are chosen`() throws {
    try write(Self.secret + "\nfunc b() { try? modelContext.save() }")
    var linter = Linter(root: folder)
    #expect(try ids(linter) == ["P01", "P22"])
    linter.rules = ["P22"]
    #expect(try ids(linter) == ["P22"])
  }

  @Test func `a run is cancelled`() async throws {
    try write(Self.secret)
    let linter = Linter(root: folder)
    #expect(throws: LintError.self) { try linter.run(isCancelled: { true }) }
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await linter.run()
    }
    await #expect(throws: LintError.self) { try await task.value }
  }

  @Test func `a folder that isn't there is an error`() {
    #expect(throws: LintError.self) { try Linter(root: folder.appending(path: "none")).run() }
  }

  @Test func `replacements count instead of files`() throws {
    try write(Self.secret)
    var linter = Linter(root: folder)
    linter.replacements = ["A.swift": nil, "B.swift": Self.secret]
    #expect(try linter.run().findings.map(\.place.path) == ["B.swift"])
  }

  @Test func `the same files give the same report`() throws {
    for number in 0..<30 {
      try write(Self.secret + "\nstruct A\(number) {}", to: "\(number).swift")
    }
    let first = try Linter(root: folder).run().formatted(as: .json)
    for _ in 0..<5 { #expect(try Linter(root: folder).run().formatted(as: .json) == first) }
  }
}
