import Foundation
import Observation
import SteadFiles
import Testing

@testable import SteadPreferences

/// Who is told of what becomes of a history. A notice that never comes is waited for in vain.
@Suite(.hangLimit)
struct HistoryObservationTests {
  let home: HistoryHome
  let history: PayloadHistory<Prompt>

  init() throws {
    home = try HistoryHome()
    history = try home.history(limit: 3)
  }

  private func track(_ read: () -> Void) -> (log: Log<Void>, told: AsyncStream<Void>) {
    let log = Log<Void>()
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking(read) {
      log.add(())
      tell.yield()
    }
    return (log, told)
  }

  @Test func `tracking fires for each kind of read`() throws {
    let reads: [(PayloadHistory<Prompt>) -> Void] = [
      { _ = $0.items }, { _ = $0.count }, { _ = $0.isEmpty }, { _ = $0[id: 1] }, { _ = $0[0..<2] },
      { _ = $0.page(0, size: 2) }, { _ = $0.undecodable }, { _ = $0.filter { $0.id > 1 } },
      { _ = $0.advice },
    ]
    let logs = reads.map { read in track { read(history) }.log }
    #expect(logs.map(\.all.count) == Array(repeating: 0, count: reads.count))
    try history.prepend(1)
    #expect(logs.map(\.all.count) == Array(repeating: 1, count: reads.count))
    try history.prepend(2)
    #expect(logs.map(\.all.count) == Array(repeating: 1, count: reads.count))
  }

  @Test func `a batch is one notice`() throws {
    let log = Log<[Int]>()
    withObservationTracking {
      _ = history.items
    } onChange: {
      log.add(history.ids)
    }
    try history.batch { batch in
      for id in 1...3 { try batch.prepend(prompt(id)) }
      batch.remove(id: 2)
    }
    #expect(log.all == [[3, 1]])
  }

  @Test func `what changes nothing is not told`() throws {
    try history.prepend(1)
    let log = track { _ = history.items }.log
    try history.update(prompt(1))
    try history.remove(id: 9)
    try history.batch { _ in }
    // A batch whose changes undo each other was told as an update to what the entry was, and written.
    let stored = try home.store.contents().count
    let header = try home.store.value(forKey: HistoryHeader.key)
    try history.batch { batch in
      try batch.update(Prompt(id: 1, text: "other"))
      try batch.update(prompt(1))
      try batch.prepend(prompt(2))
      batch.remove(id: 2)
    }
    #expect(log.all.isEmpty)
    #expect(history.ids == [1])
    #expect(try home.store.contents().count == stored)
    #expect(try home.store.value(forKey: HistoryHeader.key) == header)
    try history.update(Prompt(id: 1, text: "other"))
    #expect(log.all.count == 1)
  }

  @Test func `tracking fires for others`() async throws {
    let others = [try home.foreign(), try home.history()]
    for (number, other) in others.enumerated() {
      let told = track { _ = history.items }.told
      try other.prepend(number)
      for await _ in told { break }
      #expect(history.ids.first == number)
    }
  }

  @Test func `changes say what came and went`() async throws {
    var changes = history.changes.makeAsyncIterator()
    try history.prepend(1)
    var change = try #require(await changes.next())
    #expect(change.inserted == [prompt(1)] && change.updated.isEmpty && change.removed.isEmpty)
    #expect(change.isOwn)
    try history.prepend(contentsOf: [prompt(3), prompt(2)])
    change = try #require(await changes.next())
    #expect(change.inserted == [prompt(3), prompt(2)])
    try history.prepend(4)
    change = try #require(await changes.next())
    #expect(change.inserted == [prompt(4)] && change.removed == [prompt(1)])
    let other = Prompt(id: 2, text: "other")
    try history.update(other)
    change = try #require(await changes.next())
    #expect(change.updated == [other] && change.inserted.isEmpty && change.removed.isEmpty)
    try history.removeAll()
    change = try #require(await changes.next())
    #expect(change.removed == [prompt(4), prompt(3), other])
  }

  @Test func `a slow consumer gets one change`() async throws {
    try history.prepend(1, 2)
    var changes = history.changes.makeAsyncIterator()
    // Another thread may be the one that tells; whoever began later is told later.
    var later = history.changes.makeAsyncIterator()
    for id in 3...50 { try history.prepend(prompt(id)) }
    try history.update(Prompt(id: 49, text: "other"))
    try history.remove(id: 50)
    var known: [Int: String] = [:]
    while known[49] != "other" || known[50] != nil {
      let change = try #require(await later.next())
      for prompt in change.inserted + change.updated { known[prompt.id] = prompt.text }
      for prompt in change.removed { known[prompt.id] = nil }
    }
    let change = try #require(await changes.next())
    #expect(change.inserted == [Prompt(id: 49, text: "other"), prompt(48)])
    #expect(change.removed == [prompt(2), prompt(1)] && change.updated.isEmpty)
    try history.prepend(60)
    #expect(await changes.next()?.inserted == [prompt(60)])
  }

  @Test func `changes of others are not own`() async throws {
    try history.prepend(1)
    var changes = history.changes.makeAsyncIterator()
    let foreign = try home.foreign(limit: 3)
    try foreign.prepend(2)
    var change = try #require(await changes.next())
    #expect(change.inserted == [prompt(2)] && !change.isOwn)
    try foreign.update(Prompt(id: 1, text: "other"))
    change = try #require(await changes.next())
    #expect(change.updated == [Prompt(id: 1, text: "other")] && !change.isOwn)
    try foreign.remove(id: 2)
    change = try #require(await changes.next())
    #expect(change.removed == [prompt(2)] && !change.isOwn)
  }

  @Test func `changes of this process are own, whatever object made them`() async throws {
    var changes = history.changes.makeAsyncIterator()
    try home.history().prepend(2)
    let change = try #require(await changes.next())
    #expect(change.inserted == [prompt(2)] && change.isOwn)
  }

  @Test func `changes end with the task and with the history`() async throws {
    let changes = history.changes
    let task = Task {
      var count = 0
      for await _ in changes { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value == 0)

    var short: PayloadHistory<Prompt>? = try home.history()
    var iterator = try #require(short).changes.makeAsyncIterator()
    short = nil
    #expect(await iterator.next() == nil)
  }

  /// A handler may do with the history what it likes.
  @Test func `a handler may change the history`() throws {
    let log = Log<[Int]>()
    withObservationTracking {
      _ = history.items
    } onChange: {
      try? history.prepend(2)
      log.add(history.ids)
    }
    try history.prepend(1)
    #expect(log.all == [[2, 1]])
  }

  /// The preferences' handler of errors is told while nobody holds a lock.
  @Test func `the error handler may use the history`() throws {
    let log = Log<Int>()
    home.preferences.onError = { _ in log.add(history.count) }
    // The history holds the preferences, and so this handler.
    defer { home.preferences.onError = nil }
    try history.prepend(1)
    let other = try Preferences(
      domain: "domain.history.prompts", directory: home.directory.url, options: .init(format: .xml))
    try other.setPropertyList(.bool(true), forKey: EntryKey.text(9))
    #expect(history.undecodable.count == 1)
    #expect(log.all == [1])
  }

  /// A payload's own coding may use the history that it is in.
  @Test func `coding may use the history`() throws {
    let foreign = try PayloadHistory<Curious>("curious", in: home.preferences)
    try foreign.prepend(Curious(id: 1))
    let preferences = try Preferences(
      domain: "domain", directory: home.directory.url, options: .init(format: .xml))
    let history = try PayloadHistory<Curious>("curious", in: preferences)
    Curious.history.withLock { $0 = history }
    defer { Curious.history.withLock { $0 = nil } }
    try foreign.prepend(Curious(id: 2))
    #expect(history.items.map(\.id) == [2, 1])
    #expect(Curious.seen.all.contains(1))
  }
}

/// A payload that looks at its history while it is decoded.
private struct Curious: Codable, Identifiable, Sendable {
  static let history = ForkSafeLock<PayloadHistory<Curious>?>(nil)
  static let seen = Log<Int>()
  private static let depth = ForkSafeLock(0)

  var id: Int

  init(id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    let depth = Self.depth.withLock { depth in
      depth += 1
      return depth
    }
    defer { Self.depth.withLock { $0 -= 1 } }
    // It is decoded again for the look in its midst.
    if depth == 1, let history = Self.history.withLock({ $0 }) { Self.seen.add(history.count - 1) }
  }
}
