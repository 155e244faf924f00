import Foundation
import Testing

/// A process may end at any moment. What `set` has returned for is there afterwards; the one change that
/// was under way is there or not; nothing else is touched.
@Suite(.ownThread) struct KillTests {
  @Test(arguments: [
    ("small", 1, 25), ("large", 1, 20), ("checkpoints", 1, 20), ("large", 2, 20),
  ])
  func `loses nothing`(workload: String, writers: Int, kills: Int) throws {
    let seed = Effort.seed
    let kills = Effort.times(kills, long: kills * 20)
    var run = try KillRun(workload, writers: writers, seed: seed)
    for _ in 0..<kills { try run.kill() }
    func isMet() -> Bool {
      run.writers.killsInChanges > 0 && run.writers.killsInOpening > 0
        && (workload != "checkpoints" || run.writers.killsInSynchronize > 0)
    }
    // When a kill comes is chance. More of them may meet what none has met yet.
    for _ in 0..<(kills * 4) where !isMet() && !isThreadSanitized { try run.kill() }
    try run.finish()
    // The kills have met what they were meant to meet.
    #expect(run.writers.changesDone > kills * 10)
    if isThreadSanitized { return }
    #expect(run.writers.killsInChanges > 0)
    #expect(run.writers.killsInOpening > 0)
    if workload == "checkpoints" { #expect(run.writers.killsInSynchronize > 0) }
    if workload == "large" { #expect(run.journals.count > kills / 20) }
  }

  /// A compaction is made beside the one who writes, from a file that grows meanwhile.
  @Test(arguments: [1, 2])
  func `loses nothing while compacting`(writers: Int) throws {
    let kills = Effort.times(12, long: 300)
    let seed = Effort.seed
    var run = try KillRun("compactions", writers: writers, seed: seed)
    for _ in 0..<kills { try run.kill(after: 400, whileCompacting: true) }
    for _ in 0..<(kills * 4) where run.killsInCompaction <= kills / 4 && !isThreadSanitized {
      try run.kill(after: 400, whileCompacting: true)
    }
    try run.finish()
    if isThreadSanitized { return }
    #expect(run.killsInCompaction > kills / 4)
    #expect(run.journals.count > kills / 15)
  }
}

/// Kills writers of one domain, again and again, and looks after each kill at what is left.
struct KillRun {
  private(set) var writers: KilledWriters
  private(set) var journals: Set<UInt64> = []
  /// How often a writer was killed while a new journal or property list took shape, or had no name yet.
  private(set) var killsInCompaction = 0

  private let directory: TemporaryDirectory

  init(_ workload: String, writers: Int, seed: UInt64) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    self.directory = directory
    self.writers = KilledWriters((0..<writers).map { "w\($0)" }, seed: seed) { name in
      try Worker(directory.url, ["step", name, "\(seed)", workload])
    } fail: {
      Issue.record("\(workload), seed \(seed): \($0)")
    }
  }

  /// Starts a writer, lets it work for a moment and kills it.
  ///
  /// - Parameters:
  ///   - limit: The most changes that it has time for.
  ///   - whileCompacting: Waits for a compaction to begin.
  mutating func kill(after limit: Int = 50, whileCompacting: Bool = false) throws {
    let (directory, old) = (directory, Self.drafts(in: directory))
    func isCompacting() -> Bool { !Self.drafts(in: directory).isSubset(of: old) }
    try writers.kill(after: limit) { whileCompacting && isCompacting() }
    if isCompacting() { killsInCompaction += 1 }
    noteJournal()
    checkPropertyList()
  }

  /// Ends all writers and looks once more, from a process that has just been started.
  mutating func finish() throws {
    writers.end()
    writers.check(try Worker.contents(directory.url))
    // Half-made journals and property lists are not left behind for ever.
    let names = try directory.names
    #expect(names.count <= 6, "\(names)")
  }

  /// Whoever reads the property list file finds a whole one, at any moment.
  private func checkPropertyList() {
    guard let data = try? Data(contentsOf: directory.file("domain.plist")) else { return }
    let fields = try? PropertyListSerialization.propertyList(from: data, format: nil)
    if !(fields is [String: Any]) { Issue.record("the property list does not parse") }
  }

  private mutating func noteJournal() {
    if let journal = Self.number(of: directory.file("domain.journal")) { journals.insert(journal) }
  }

  /// The files that take shape, or that the dead have left.
  private static func drafts(in directory: TemporaryDirectory) -> Set<UInt64> {
    let names = (try? directory.names) ?? []
    let drafts = names.filter { $0.contains(".stead-") }
    return Set(drafts.compactMap { number(of: directory.file($0)) })
  }

  private static func number(of file: URL) -> UInt64? {
    var status = stat()
    return lstat(file.filePath, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}

/// A process is killed while it puts messages in front. What `prepend` has returned for is there, in
/// order; the one that was under way is there or not; and the limit is kept.
@Suite(.ownThread) struct HistoryKillTests {
  private static let limit = 40

  @Test func `loses no message and keeps the order`() throws {
    var random = SplitMix(seed: Effort.seed)
    let directory = try TemporaryDirectory(inMemory: true)
    var (expected, next, killsWithin, done) = ([Int](), 0, 0, 0)
    for kill in 0..<Effort.times(50, long: 2_000) {
      let worker = try Worker(directory.url, ["history-prepend", "\(Self.limit)", "w", "\(next)"])
      var goal = Int.random(in: 0...60, using: &random)
      var begun: Int?
      while goal > 0, let line = worker.line() {
        take(line, &expected, &begun)
        if line.hasPrefix("e") { goal -= 1 }
      }
      if kill.isMultiple(of: 2) { spin(for: Double.random(in: 0..<0.02, using: &random)) }
      worker.end()
      for line in worker.rest() { take(line, &expected, &begun) }
      next = (begun ?? expected.first ?? -1) + 1
      done = max(done, next)
      if begun != nil { killsWithin += 1 }

      let found = try Self.found(directory)
      let without = Array(expected.prefix(Self.limit))
      let with = Array(([begun].compactMap(\.self) + expected).prefix(Self.limit))
      #expect(found == without || found == with, "\(found.prefix(5)), not \(with.prefix(5))")
      expected = found
    }
    #expect(done > Effort.times(500))
    if !isThreadSanitized { #expect(killsWithin > 0) }
    // Nothing is left of files that nothing refers to.
    let blobs = directory.file("domain.history.messages.blobs")
    let names = try FileManager.default.contentsOfDirectory(atPath: blobs.filePath)
    #expect(names.count == expected.count { $0 % 16 == 7 })
  }

  private func take(_ line: String, _ expected: inout [Int], _ begun: inout Int?) {
    let parts = line.split(separator: " ").map(String.init)
    switch (parts.first, parts.last.flatMap(Int.init)) {
    case ("b"?, let number?): begun = number
    case ("e"?, let number?):
      expected.insert(number, at: 0)
      begun = nil
    case ("ready"?, _): break
    default: Issue.record("\(line)")
    }
  }

  private static func found(_ directory: TemporaryDirectory) throws -> [Int] {
    try Worker.messages(directory.url, limit: limit).map { id in
      try #require(Int(id.split(separator: ".")[1]))
    }
  }
}

extension WorkerProcess {
  /// The messages of a history, the newest first, as a process sees them that has just been started.
  static func messages(_ directory: URL, limit: Int = 500) throws -> [String] {
    let worker = try Worker(directory, ["history-dump", "\(limit)"])
    var lines = worker.rest()
    #expect(worker.finish() == 0)
    #expect(lines.popLast() == ".")
    for line in lines where line.hasPrefix("error") { Issue.record("\(line)") }
    return lines
  }
}

/// Works for a time, so that a kill comes at any moment of another process.
func spin(for seconds: Double) {
  let start = ContinuousClock.now
  while start.duration(to: .now) < .seconds(seconds) {}
}
