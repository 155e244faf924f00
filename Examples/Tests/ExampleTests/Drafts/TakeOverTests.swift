import DraftsKit
import ExampleTestSupport
import Foundation
import SteadPreferences
import Testing

/// The first version of the app, on Foundation, then the second, each as a program of its own.
@Suite struct TakeOverTests {
  private let workshop: Workshop
  private let drafts: String

  init() throws {
    workshop = try Workshop()
    drafts = try Workshop.program("drafts")
  }

  /// The first version of the app keeps texts.
  private func write(_ texts: [String]) throws {
    let end = try workshop.run(
      [Workshop.program("drafts-before")],
      input: texts.map { $0 + "\n" }.joined(),
      environment: ["XDG_CONFIG_HOME": workshop.directory.path])
    try #require(end.status == 0, "\(end.errors)")
    try #require(workshop.has("\(DraftBox.domain).plist"))
  }

  /// What both versions of the app see, without moving anything.
  private func places() throws -> (preferences: [String], records: [String]) {
    let preferences = try Preferences(domain: DraftBox.domain, directory: workshop.directory)
    return (
      preferences.stringArray(forKey: DraftBox.key) ?? [],
      try DraftBox(directory: workshop.directory).newestFirst()
    )
  }

  @Test func `drafts are moved once and listed newest first`() throws {
    let texts = ["one", "zwei: Grüße", "one", "四 📷", "five"]
    try write(texts)
    let first = try workshop.succeed(drafts, workshop.directory.path)
    #expect(first.contains("Moved 5 drafts"))
    #expect(first.contains("  1. five\n  2. 四 📷\n  3. one\n  4. zwei: Grüße\n  5. one\n"))
    let second = try workshop.succeed(drafts, workshop.directory.path)
    #expect(second.contains("Moved 0 drafts"))
    #expect(try places() == ([], texts.reversed()))
  }

  /// On Apple's systems `@AppStorage` takes no arrays; apps make them `RawRepresentable` by their JSON.
  @Test func `drafts that AppStorage has kept are moved`() throws {
    let list = try PropertyListSerialization.data(
      fromPropertyList: [DraftBox.key: #"["one","zwei \"2\""]"#], format: .binary, options: 0)
    try list.write(to: workshop.file("\(DraftBox.domain).plist"))
    let output = try workshop.succeed(drafts, workshop.directory.path)
    #expect(output.contains("Moved 2 drafts"))
    #expect(output.contains("  1. zwei \"2\"\n  2. one\n"))
  }

  @Test func `drafts are added and deleted`() throws {
    try write(["one", "two"])
    try workshop.succeed(drafts, workshop.directory.path, "add", "three")
    let left = try workshop.succeed(drafts, workshop.directory.path, "delete", "2")
    #expect(left.contains("2 drafts, the newest first:\n  1. three\n  2. one\n"))
    let end = try workshop.run([drafts, workshop.directory.path, "delete", "9"])
    #expect(end.status == 2)
    #expect(try places().records == ["three", "one"])
  }

  @Test func `without a first version, there is nothing to move`() throws {
    let output = try workshop.succeed(drafts, workshop.directory.path)
    #expect(output == "Moved 0 drafts from preferences to records.\nThere are no drafts.\n")
  }

  @Test func `the sample is what the first version writes`() throws {
    let output = try workshop.succeed(drafts)
    #expect(output.contains("Moved 8 drafts"))
    #expect(output.contains("Second start, and draft 2 deleted:\nMoved 0 drafts"))
    #expect(output.contains("7 drafts, the newest first:"))
  }

  /// The program is killed at points that no test chooses, and started again each time.
  @Test func `a kill in the middle loses and doubles nothing`() throws {
    let texts = (0..<60).map { "draft \($0 % 50)" }
    try write(texts)
    var kills = 0
    // Longer and longer, until one run comes to its end.
    for attempt in 1...100 {
      // At least a tenth of a millisecond: `timeout` takes zero for no limit.
      let time = Double.random(in: 0.0001...0.004) * Double(attempt)
      let end = try workshop.run(
        ["timeout", "-s", "KILL", String(format: "%.4f", time), drafts, workshop.directory.path])
      let (preferences, records) = try places()
      #expect(Counts(records).union(Counts(preferences)) == Counts(texts))
      guard end.status != 0 else { break }
      kills += 1
    }
    #expect(kills > 0)
    try workshop.succeed(drafts, workshop.directory.path)
    #expect(try places() == ([], texts.reversed()))
  }
}

/// How often each text is there.
private struct Counts: Equatable {
  private var counts: [String: Int]

  init(_ texts: [String]) { counts = texts.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

  /// While both places hold what is being moved, each text counts where it is there most often.
  func union(_ other: Counts) -> Counts {
    var result = self
    result.counts.merge(other.counts, uniquingKeysWith: max)
    return result
  }
}
