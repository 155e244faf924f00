import Foundation
import Testing

/// Kills writers of one domain, again and again, and looks after each kill at what is left.
struct KillRun {
  private(set) var writers: KilledWriters
  private(set) var journals: Set<UInt64> = []

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
  mutating func kill() throws {
    try writers.kill()
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
    var status = stat()
    guard stat(directory.file("domain.journal").filePath, &status) == 0 else { return }
    journals.insert(UInt64(status.st_ino))
  }
}
