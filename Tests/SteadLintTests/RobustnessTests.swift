import Foundation
import SteadLint
import SteadTestSupport
import Testing

/// Input that isn't Swift, or more than a parser has room for, is reported and ends nothing.
@Suite(.ownThread) struct RobustnessTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func findings(in source: String) throws -> [Finding] {
    try Linter(root: Self.package).run(sources: ["A.swift": source]).findings
  }

  @Test(arguments: ["(", "[", "{", "f(", "[[", "{ {", "if a { ", "((("])
  func `nested brackets are refused`(opening: String) throws {
    let source = String(repeating: opening, count: 1_000_000 / opening.count)
    var linter = Linter(root: Self.package)
    linter.limits.fileSize = 6_000_000
    let found = try linter.run(sources: ["A.swift": source]).findings
    #expect(found.map(\.ruleID) == ["L02"])
  }

  @Test(arguments: [
    "a?.b", "!", "-", "a+", "else if a {} ", "\\", "@a ", "#if a\n", "try ", "await ", "<",
  ])
  func `long chains end nothing`(link: String) throws {
    _ = try findings(in: "let x = " + String(repeating: link, count: 20_000 / link.count))
    _ = try findings(in: String(repeating: link, count: 1_500))
  }

  /// The name was looked up as its own value without end.
  @Test(arguments: [
    "guard let store = self.store else { return }; store.synchronize(); f()",
    "if let a = b { if let b = a { a.synchronize() } }",
    "if let a = x.b, let b = y.c, let c = z.a { c.synchronize() }",
  ])
  func `a name that is bound to itself ends nothing`(body: String) throws {
    _ = try findings(in: "import UIKit\nextension Foo { func f() { \(body) } }")
  }

  @Test func `a file above the limit is reported`() throws {
    #expect(
      try findings(in: String(repeating: "let a = 1\n", count: 500_000)).map(\.ruleID) == ["L02"])
  }

  @Test func `bytes that aren't text are reported`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data([0xff, 0xfe, 0x00, 0xc3, 0x28]).write(to: folder.appending(path: "A.swift"))
    #expect(try Linter(root: folder).run().findings.map(\.ruleID) == ["L02"])
  }

  @Test func `a file that doesn't parse is reported`() throws {
    let found = try findings(in: "struct A {\n  var odd:\n}\n")
    #expect(found.map(\.ruleID) == ["L02"])
    #expect(found.first?.place.line == 3 || found.first?.place.line == 2)
  }

  /// Swift 5 accepts it, and the tree is whole.
  @Test func `a space behind an attribute's name isn't reported`() throws {
    let source = "struct A {\n  @AppStorage (\"apiKey\") var key = \"\"\n}\n"
    #expect(try findings(in: source).map(\.ruleID) == ["P01"])
  }

  /// Every sample, cut off in its middle and elsewhere, at other places in each sample.
  @Test(arguments: RuleSamples.all)
  func `cut samples end nothing`(samples: RuleSamples) throws {
    for (index, sample) in (samples.flagged + samples.silent).enumerated() {
      let bytes = Array(sample.utf8)
      let distance = Effort.isLong ? 17 : 1_020
      for length in stride(from: index * 53 % distance, to: bytes.count, by: distance) {
        _ = try findings(in: String(decoding: bytes[..<length], as: UTF8.self))
      }
    }
  }

  /// Own sources and, in a long run, those of the parser, which have every form of Swift there is.
  @Test func `real sources end nothing`() throws {
    let report = try Linter(root: Self.package.appending(path: "Sources/SteadLint")).run()
    #expect(report.fileCount > 30)
    #expect(!report.findings.contains { $0.ruleID == "L02" })
    let parser = Self.package.appending(path: ".build/checkouts/swift-syntax/Sources/SwiftParser")
    if Effort.isLong, FileManager.default.fileExists(atPath: parser.path) {
      #expect(try Linter(root: parser).run().fileCount > 20)
    }
  }

  /// Cut at every hundredth byte; in a short run at few of them.
  @Test(arguments: [
    "Linter.swift", "CodingReader.swift", "P23PredicateTrap.swift", "LintReport+Formats.swift",
  ])
  func `cut sources end nothing`(name: String) throws {
    let folder = Self.package.appending(path: "Sources/SteadLint")
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
      .compactMap {
        $0 as? URL
      }
    let file = try #require(found?.first { $0.lastPathComponent == name })
    let bytes = Array(try Data(contentsOf: file))
    for length in stride(from: 0, to: bytes.count, by: Effort.isLong ? 100 : 8_000) {
      _ = try findings(in: String(decoding: bytes[..<length], as: UTF8.self))
    }
  }
}
