import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// Snapshots were ended by a timer from when they began. One whose reading took longer was kept afterwards, and with it the
/// log, until the next reading.
@Suite struct IdleReaderTests {
  private struct Failure: Error {}

  /// Returns after what was scheduled before, which has the same delay.
  private func outlastTimer() {
    let isOver = DispatchSemaphore(value: 0)
    let delay = Duration.milliseconds(ReaderPool.snapshotTimeout)
    ReaderPool.snapshotEnds.call(after: delay) { isOver.signal() }
    isOver.wait()
  }

  enum Reading: CaseIterable { case newest, shared, twoAtOnce }

  private func read(_ reading: Reading, in store: RecordStore, _ body: () throws -> Void) throws {
    switch reading {
    case .newest: try store.read(.newest) { _, _ in try body() }
    case .shared: try store.read(.shared(atLeast: 0)) { _, _ in try body() }
    case .twoAtOnce:
      try store.read(.newest) { _, _ in try store.read(.newest) { _, _ in try body() } }
    }
  }

  @Test(arguments: Reading.allCases, [false, true])
  func `a reading that took long keeps no log`(reading: Reading, fails: Bool) throws {
    let test = try TestStore(.file, Club.self, Member.self, Skill.self)
    let store = try #require(test.container.stores.first)
    let context = test.context()
    context.insert(Club(name: "first"))
    try context.save()
    try? read(reading, in: store) {
      outlastTimer()
      if fails { throw Failure() }
    }
    context.insert(Club(name: "second"))
    try context.save()
    // Waits for readers, for at most as long.
    let other = try StoreFile(ModelConfiguration(url: test.url)).open(writable: true)
    #expect(try other.checkpoint(.emptying, busyTimeout: 5_000))
  }

  @Test(arguments: [false, true])
  func `a copy of the past keeps no log`(fails: Bool) throws {
    let url = try TestFiles.directory().file("test.store")
    let container = try ModelContainer(
      for: Club.self, configurations: ModelConfiguration(url: url, history: .withOldValues))
    let context = ModelContext(container)
    for name in ["first", "second"] {
      context.insert(Club(name: name))
      try context.save()
    }
    let token = try #require(
      context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first?.token)
    if fails { try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
    let copy = try? container.asOf(token)
    #expect((copy == nil) == fails)
    context.insert(Club(name: "third"))
    try context.save()
    let other = try StoreFile(ModelConfiguration(url: url)).open(writable: true)
    #expect(try other.checkpoint(.emptying, busyTimeout: 5_000))
  }
}
