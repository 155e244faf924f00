import Foundation
import Testing

/// Kills writers of one domain, again and again, and looks after each kill at what is left.
struct KillRun {
  private struct Writer {
    var model: WriterModel
    var worker: Worker?
  }

  private(set) var changesDone = 0
  private(set) var killsInChanges = 0
  private(set) var killsInSynchronize = 0
  private(set) var killsInOpening = 0
  private(set) var journals: Set<UInt64> = []

  private let workload: String
  private let seed: UInt64
  private let directory: TemporaryDirectory
  private var random: SplitMix
  private var writers: [Writer]

  init(_ workload: String, writers: Int, seed: UInt64) throws {
    self.workload = workload
    self.seed = seed
    directory = try TemporaryDirectory(inMemory: true)
    random = SplitMix(seed: seed)
    self.writers = (0..<writers).map { Writer(model: WriterModel("w\($0)")) }
  }

  /// Starts a writer, lets it work for a moment and kills it.
  mutating func kill() throws {
    for index in writers.indices where writers[index].worker == nil { try start(index) }
    let index = Int.random(in: writers.indices, using: &random)
    guard let worker = writers[index].worker else { return }
    var goal = Int.random(in: 0...50, using: &random)
    while goal > 0 {
      guard let line = worker.line() else { return fail("\(index) ended by itself", worker) }
      take(line, from: index)
      if line.hasPrefix("e") { goal -= 1 }
    }
    end(index)
    let model = writers[index].model
    if model.isChanging { killsInChanges += 1 }
    if model.isSynchronizing { killsInSynchronize += 1 }
    // The others wait when nobody reads what they say.
    for other in writers.indices where other != index {
      for line in writers[other].worker?.linesAtHand() ?? [] { take(line, from: other) }
    }
    noteJournal()
    checkPropertyList()
  }

  /// Ends all writers and looks once more, from a process that has just been started.
  mutating func finish() throws {
    for index in writers.indices where writers[index].worker != nil { end(index) }
    let contents = try Worker.contents(directory.url)
    for index in writers.indices { check(contents, of: index) }
    changesDone = writers.reduce(0) { $0 + $1.model.doneCount }
    // Half-made journals and property lists are not left behind for ever.
    let names = try directory.names
    #expect(names.count <= 6, "\(names)")
  }

  private mutating func start(_ index: Int) throws {
    let arguments = ["step", writers[index].model.name, "\(seed)", workload]
    // Some are killed while they open the domain, which is when the last one's death is repaired.
    while Int.random(in: 0..<12, using: &random) == 0 {
      let worker = try Worker(directory.url, arguments)
      spin(upTo: 400_000)
      worker.end()
      if let contents = worker.dump() {
        check(contents, of: index)
        for line in worker.rest() { take(line, from: index) }
      } else {
        killsInOpening += 1
      }
    }
    let worker = try Worker(directory.url, arguments)
    guard let contents = worker.dump() else { return fail("\(index) could not open", worker) }
    check(contents, of: index)
    writers[index].worker = worker
  }

  private mutating func end(_ index: Int) {
    guard let worker = writers[index].worker else { return }
    spin(upTo: 20_000)
    worker.end()
    writers[index].worker = nil
    for line in worker.rest() { take(line, from: index) }
  }

  private mutating func take(_ line: String, from index: Int) {
    if !writers[index].model.take(line) { fail("\(index) said: \(line)") }
  }

  private mutating func check(_ contents: [String: String], of index: Int) {
    let own = contents.filter { $0.key.hasPrefix("\(writers[index].model.name).") }
    if let difference = writers[index].model.check(own) { fail(difference) }
  }

  private func fail(_ what: String, _ worker: Worker? = nil) {
    let end = worker.map { " \($0.rest()) \($0.finish())" } ?? ""
    Issue.record("\(workload), seed \(seed): \(what)\(end)")
  }

  /// Another moment each time, without waiting for a clock.
  private mutating func spin(upTo limit: Int) {
    for _ in 0..<Int.random(in: 0..<limit, using: &random) { _ = random.next() }
  }

  /// Whoever reads the property list file finds a whole one, at any moment.
  private func checkPropertyList() {
    guard let data = try? Data(contentsOf: directory.file("domain.plist")) else { return }
    let fields = try? PropertyListSerialization.propertyList(from: data, format: nil)
    if !(fields is [String: Any]) { fail("the property list does not parse") }
  }

  private mutating func noteJournal() {
    var status = stat()
    guard stat(directory.file("domain.journal").filePath, &status) == 0 else { return }
    journals.insert(UInt64(status.st_ino))
  }
}
