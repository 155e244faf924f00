import Foundation
import SteadTestSupport
import Testing

@testable import SteadLint

/// What a run keeps for the next one.
@Suite(.ownThread) final class LintCacheTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "cache-" + UUID().uuidString)
  private var cache: URL { folder.appending(path: "cache") }

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Every kind of fact is in the samples of some rule.
    let count = Effort.isLong ? Int.max : 4
    for samples in RuleSamples.all {
      let sources = samples.flagged.prefix(count) + samples.silent.prefix(count)
      for (index, sample) in sources.enumerated() {
        for (path, content) in RuleSamples.files(of: RuleSamples.versions(of: sample).now) {
          let file = folder.appending(path: "\(samples.rule)/\(index)/\(path)")
          try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
          try Data(content.utf8).write(to: file)
        }
      }
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var linter: Linter {
    var linter = Linter(root: folder)
    linter.cacheFile = cache
    return linter
  }

  @Test func `a run from the cache finds the same`() throws {
    let first = try linter.survey()
    let second = try linter.survey()
    #expect(first.report.parsedCount == first.report.fileCount)
    #expect(second.report.parsedCount == 0)
    #expect(first.report.findings.count > 50)
    #expect(second.report.findings == first.report.findings)
    #expect(second.report.payloads == first.report.payloads)
    #expect(second.items == first.items)
  }

  /// Encoding all facts takes longer than everything else in a run that finds nothing changed.
  @Test func `a cache is written only after a change`() throws {
    func identity() throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: cache.path)
      return try #require(attributes[.systemFileNumber] as? Int)
    }
    _ = try linter.run()
    let first = try identity()
    // A replaced file gets another number only while the first one exists.
    let link = folder.appending(path: "link")
    try FileManager.default.linkItem(at: cache, to: link)
    _ = try linter.run()
    #expect(try identity() == first)
    let file = folder.appending(path: "P01/0/App.swift")
    try FileManager.default.removeItem(at: file)
    _ = try linter.run()
    #expect(try identity() != first)
    try Data("let a = 1".utf8).write(to: file)
    #expect(try linter.run().parsedCount == 1)
    #expect(try linter.run().parsedCount == 0)
  }

  /// A file that couldn't be read for a moment lost its record, and each run meanwhile wrote the whole cache again.
  @Test func `a file that can't be read leaves the cache as it is`() throws {
    let first = try linter.run()
    let whole = try Data(contentsOf: cache)
    let file = folder.appending(path: "P01/0/App.swift")
    let source = try Data(contentsOf: file)
    let found = try FileList(
      root: folder, excluding: linter.excludedFolders, limit: .max)
    let index = try #require(found.sources.firstIndex { $0.path == "P01/0/App.swift" })
    // It goes after the folder was listed. Permissions would hold back no superuser.
    let broken = try linter.run(progress: { progress in
      if progress.completed == index { try? FileManager.default.removeItem(at: file) }
    })
    let problems = broken.findings.filter { $0.ruleID == "L02" }
    #expect(problems.map(\.place.path) == ["P01/0/App.swift"])
    #expect(broken.parsedCount == 1)
    #expect(try Data(contentsOf: cache) == whole)
    try source.write(to: file)
    let mended = try linter.run()
    #expect(mended.parsedCount == 0)
    #expect(mended.findings == first.findings)
  }

  /// Another file changes in the same run, so the cache is written.
  @Test func `a file that can't be read keeps its record beside a change`() throws {
    _ = try linter.run()
    let file = folder.appending(path: "P01/0/App.swift")
    let source = try Data(contentsOf: file)
    try Data("let a = 1".utf8).write(to: folder.appending(path: "P01/1/App.swift"))
    let found = try FileList(
      root: folder, excluding: linter.excludedFolders, limit: .max)
    let index = try #require(found.sources.firstIndex { $0.path == "P01/0/App.swift" })
    let broken = try linter.run(progress: { progress in
      if progress.completed == index { try? FileManager.default.removeItem(at: file) }
    })
    #expect(broken.parsedCount == 2)
    try source.write(to: file)
    #expect(try linter.run().parsedCount == 0)
  }

  /// A damaged record is read from its file again, and no damage ends the run or changes what is found.
  @Test func `damage is found and mended`() throws {
    let first = try linter.run()
    let whole = try Data(contentsOf: cache)
    var random = SplitMix(seed: 7)
    for _ in 0..<Effort.times(3, long: 60) {
      var damaged = whole
      switch Int.random(in: 0..<3, using: &random) {
      case 0: damaged = damaged.prefix(Int.random(in: 0..<whole.count, using: &random))
      case 1:
        let index = Int.random(in: 0..<whole.count, using: &random)
        damaged[index] ^= UInt8.random(in: 1...255, using: &random)
      default:
        let start = Int.random(in: 0..<whole.count, using: &random)
        damaged.replaceSubrange(
          start..<min(whole.count, start + 9), with: repeatElement(0xff, count: 9))
      }
      try damaged.write(to: cache)
      let report = try linter.run()
      #expect(report.findings == first.findings)
      #expect(report.parsedCount > 0)
    }
  }

}

/// The packed form in which a cache keeps its records.
struct PackedCodingTests {
  /// Bytes whose check is right and whose content isn't end in an error.
  @Test func `packed bytes that are no record are refused`() throws {
    let bytes = try PackedWriter.bytes(of: ["a", "b"])
    #expect(try PackedReader.value([String].self, of: bytes[...]) == ["a", "b"])
    for count in 0..<bytes.count {
      #expect(throws: (any Error).self) {
        try PackedReader.value([String].self, of: bytes.prefix(count))
      }
    }
    var random = SplitMix(seed: 11)
    for _ in 0..<2_000 {
      let bytes = (0..<40).map { _ in UInt8.random(in: 0...8, using: &random) }
      _ = try? PackedReader.value(FileRecord.self, of: bytes[...])
    }
  }

  @Test(arguments: [0, 1, -1, 63, 64, -64, -65, 8_192, .max, .min])
  func `numbers come back`(number: Int) throws {
    let bytes = try PackedWriter.bytes(of: [number])
    #expect(try PackedReader.value([Int].self, of: bytes[...]) == [number])
  }

  @Test func `what has no packed form is refused`() {
    #expect(throws: EncodingError.self) { try PackedWriter.bytes(of: [1.5]) }
    #expect(throws: EncodingError.self) { try PackedWriter.bytes(of: [UInt8(1)]) }
  }
}
