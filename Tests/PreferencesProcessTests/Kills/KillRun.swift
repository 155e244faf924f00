import Foundation
import Testing

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
