import Foundation
import Observation
import SteadFiles
import SteadTestSupport
import Synchronization
import Testing
@testable import SteadPreferences

/// Payloads over the limit go to files of their own, which come and go with their entries.
struct LargePayloadTests {
  let home: HistoryHome
  let blobs: BlobStore

  init() throws {
    home = try HistoryHome()
    blobs = BlobStore(directory: home.directory.file("domain.history.prompts.blobs"))
  }

  private func large(_ id: Int) -> Prompt {
    Prompt(id: id, text: "\(id)" + String(repeating: "x", count: 200))
  }

  private func history(limit: Int = 500) throws -> PayloadHistory<Prompt> {
    try home.history(limit: limit, options: .init(largePayload: .external(over: 100)))
  }

  @Test func `a large payload is a file`() throws {
    let history = try history()
    try history.prepend(1)
    #expect(try blobs.references().isEmpty)
    try history.prepend(large(2))
    #expect(try blobs.references().count == 1)
    #expect(history.items == [large(2), prompt(1)])
    let opened = try home.foreign()
    #expect(opened.items == [large(2), prompt(1)])
    #expect(opened.undecodable.isEmpty)
    let value = try home.store.value(forKey: EntryKey.text(2))
    #expect(value == .array([.integer(1), .string(try #require(blobs.references().first))]))
    let bytes = try history.records()[0].bytes
    #expect(try JSONDecoder().decode(Prompt.self, from: bytes) == large(2))
  }

  /// The observer waited for the lock that its own change held.
  @Test(.hangLimit) func `an observer may add another one`() throws {
    let history = try history()
    let added = Mutex(false)
    withObservationTracking {
      _ = history.items
    } onChange: {
      // On the thread that makes the change.
      added.withLock { $0 = (try? history.prepend(self.large(2))) != nil }
    }
    try history.prepend(large(1))
    #expect(added.withLock { $0 })
    #expect(Set(history.items.map(\.id)) == [1, 2])
    #expect(try blobs.references().count == 2)
    #expect(home.errors.codes.isEmpty)
  }

  @Test func `a file goes with the last entry`() throws {
    let history = try history(limit: 3)
    try history.prepend(large(1))
    try history.prepend(large(1))
    try history.prepend(large(2))
    #expect(try blobs.references().count == 2)
    try history.prepend(3)
    #expect(try blobs.references().count == 2)
    try history.prepend(4)
    #expect(try blobs.references().count == 1)
    #expect(history.items == [prompt(4), prompt(3), large(2)])
    try history.update(id: 2) { $0.text = "short" }
    #expect(try blobs.references().isEmpty)
    try history.update(large(3))
    #expect(try blobs.references().count == 1)
    try history.removeAll()
    #expect(try blobs.references().isEmpty)
    #expect(home.errors.codes.isEmpty)
  }

  @Test func `what a batch both adds and removes leaves no file`() throws {
    let history = try history(limit: 2)
    try history.batch { batch in
      for id in 1...6 { try batch.prepend(large(id)) }
      batch.remove(id: 6)
    }
    #expect(history.ids == [5, 4])
    #expect(try blobs.references().count == 2)
  }

  @Test func `a missing or damaged file is reported and the entry kept`() throws {
    try history().prepend(large(1))
    let reference = try #require(blobs.references().first)
    let file = blobs.directory.appending(path: reference)
    let bytes = try Data(contentsOf: file)
    try Data("damaged".utf8).write(to: file)
    let damaged = try home.foreign()
    #expect(damaged.undecodable.map(\.reason) == [.unreadable])
    #expect(damaged.undecodable[0].bytes.isEmpty)
    try FileManager.default.removeItem(at: file)
    try damaged.prepend(2)
    #expect(damaged.undecodable.count == 1)
    #expect(home.errors.codes == [.doesNotDecode])
    try bytes.write(to: file)
    // It is tried again whenever all entries are looked at.
    try home.history().update(prompt(2))
    try home.history().update(Prompt(id: 2, text: "other"))
    #expect(damaged.ids == [2, 1] && damaged.undecodable.isEmpty)
    try home.history().update(prompt(2))
    let preferences = try Preferences(
      domain: "domain", directory: home.directory.url, options: .init(quota: 1 << 20))
    #expect(try PayloadHistory<Prompt>("prompts", in: preferences).items == [prompt(2), large(1)])
  }

  /// A process was killed after it had written a file, and before the entry.
  @Test func `an opening sweeps what nothing refers to`() throws {
    try history().prepend(large(1))
    let kept = try blobs.references()
    _ = try blobs.write(Data("nobody's".utf8))
    _ = try home.foreign()
    #expect(try blobs.references() == kept)
  }

  /// A process was killed while it wrote a file, and nothing else is left to sweep.
  @Test func `an opening sweeps a part of a file`() throws {
    try history().prepend(large(1))
    let kept = try blobs.references()
    let part = "." + String(repeating: "a", count: 64) + ".stead-0"
    try Data("half".utf8).write(to: blobs.directory.appending(path: part))
    _ = try home.foreign()
    let names = try FileManager.default.contentsOfDirectory(atPath: blobs.directory.filePath)
    #expect(Set(names) == kept)
  }

  @Test func `refuses large payloads when asked to`() throws {
    let history = try home.history(options: .init(largePayload: .refused(over: 100)))
    try history.prepend(1)
    for change in [
      { try history.prepend(large(2)) },
      { try history.prepend(contentsOf: [prompt(3), large(2)]) },
      { _ = try history.update(id: 1) { $0.text = large(1).text } },
      {
        try history.batch { batch in
          try batch.prepend(prompt(4)); try batch.prepend(large(2))
        }
      },
    ] as [() throws -> Void] {
      let error = #expect(throws: PreferencesError.self) { try change() }
      #expect(error?.code == .tooLarge)
      #expect(error.map { !$0.description.contains("xxx") } == true)
    }
    #expect(history.items == [prompt(1)])
    #expect(try blobs.references().isEmpty)
  }

  @Test func `a take-over drops no large payload`() throws {
    let array = try JSONEncoder().encode([large(1), large(2)])
    try home.writeArray(String(decoding: array, as: UTF8.self))
    let history = try home.history(options: .init(largePayload: .refused(over: 100)))
    #expect(history.items == [large(1), large(2)])
  }

  @Test func `in memory, large payloads stay with the others`() throws {
    let history = try PayloadHistory<Prompt>(
      "prompts", in: .inMemory(), options: .init(largePayload: .external(over: 100)))
    try history.prepend(large(1))
    #expect(history.items == [large(1)])
    #expect(history.undecodable.isEmpty)
  }

  @Test func `finds large payloads by their bytes`() throws {
    let history = try history()
    try history.prepend(large(1))
    let record = try #require(history.records().first)
    try history.removeRecords([(record.sequence, record.bytes + Data([0]))])
    #expect(history.count == 1)
    try history.removeRecords([(record.sequence, record.bytes)])
    #expect(history.isEmpty)
    #expect(try blobs.references().isEmpty)
  }
}

/// A symbolic link had the name of a large payload's file. A change of the history replaced what it led to.
struct PlantedPayloadTests {
  @Test(arguments: PlantedEntry.allCases, [false, true])
  func `a payload is written to no other place`(entry: PlantedEntry, isRepair: Bool) throws {
    let home = try HistoryHome()
    let target = try PlantedTarget()
    let directory = home.directory.file("domain.history.prompts.blobs")
    let large = Prompt(id: 1, text: String(repeating: "x", count: 200))
    let options = PayloadHistoryOptions<Prompt>(largePayload: .external(over: 100))
    // The name is the digest of the payload, and so is known beforehand.
    let history = try home.history(options: options)
    try history.prepend(large)
    let name = try #require(BlobStore(directory: directory).references().first)
    if !isRepair { try history.removeAll() }
    try target.plant(entry, at: directory.file(name))

    if entry == .directory {
      #expect(throws: (any Error).self) { try history.prepend(large) }
    } else {
      try history.prepend(large)
      #expect(try home.foreign().items == Array(repeating: large, count: isRepair ? 2 : 1))
      #expect(try home.foreign().undecodable.isEmpty)
    }
    #expect(try target.isUntouched)
  }
}
