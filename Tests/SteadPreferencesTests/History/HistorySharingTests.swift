import Foundation
import SteadFiles
import SteadTestSupport
import Testing
@testable import SteadPreferences

/// Several histories over the same entries, and what a change costs them.
struct HistorySharingTests {
  let home: HistoryHome

  init() throws { home = try HistoryHome() }

  @Test func `each sees what the others do`() throws {
    let (one, other) = (try home.history(limit: 4), try home.foreign(limit: 4))
    var expected: [Int] = []
    var random = SplitMix(seed: 3)
    for id in 0..<400 {
      let writer = Bool.random(using: &random) ? one : other
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<7:
        try writer.prepend(prompt(id))
        expected = Array(([id] + expected).prefix(4))
      case 7:
        if let last = expected.last {
          #expect(try writer.remove(id: last))
          expected.removeLast()
        }
      case 8:
        if let first = expected.first { #expect(try writer.update(Prompt(id: first, text: "new"))) }
      default:
        try writer.batch { batch in
          batch.removeAll()
          try batch.prepend(contentsOf: [prompt(id), prompt(id + 1_000)])
        }
        expected = [id, id + 1_000]
      }
      // Each is behind now and then, by more than one change.
      if id.isMultiple(of: 3) { try #require(one.ids == expected) }
      if id.isMultiple(of: 5) { try #require(other.ids == expected) }
    }
    #expect(one.items == other.items && one.ids == expected)
  }

  @Test func `threads lose nothing`() throws {
    let histories = [try home.history(limit: 5_000), try home.foreign(limit: 5_000)]
    try inThreads(6) { thread in
      for number in 0..<100 {
        try histories[thread % 2].prepend(prompt(thread * 1_000 + number))
        if number % 4 == 0 {
          let isRemoved = try histories[(thread + 1) % 2].remove(id: thread * 1_000 + number)
          #expect(isRemoved)
        }
      }
    }
    for history in histories {
      #expect(history.count == 6 * 75)
      for thread in 0..<6 {
        let own = history.ids.filter { $0 / 1_000 == thread }
        #expect(own == (0..<100).filter { $0 % 4 != 0 }.map { thread * 1_000 + $0 }.reversed())
      }
    }
  }

  @Test func `threads update one after the other`() throws {
    let histories = [try home.history(), try home.foreign()]
    try histories[0].prepend(Prompt(id: 1, text: ""))
    try inThreads(4) { thread in
      for _ in 0..<50 { try histories[thread % 2].update(id: 1) { $0.text += "x" } }
    }
    #expect(histories.map { $0[id: 1]?.text.count } == [200, 200])
  }

  /// A change is one record of the journal, however much it changes.
  @Test func `a change is one record`() throws {
    let history = try home.history(limit: 20_000)
    let watching = try DomainStore(
      "domain.history.prompts", directory: home.directory.url, options: DomainStore.Options())
    var seen: UInt64 = 0
    func records() -> UInt64 {
      let all = watching.withTable { _, externalChanges in externalChanges.records }
      defer { seen = all }
      return all - seen
    }
    let changes: [() throws -> Void] = [
      { try history.prepend(1) }, { try history.prepend(contentsOf: (2..<12).map(prompt)) },
      { try history.update(Prompt(id: 2, text: "other")) }, { try history.remove(id: 3) },
      {
        try history.batch { batch in
          for id in 20..<60 { try batch.prepend(prompt(id)) }
          batch.remove(id: 30)
        }
      },
      { try history.removeAll() },
    ]
    _ = records()
    for change in changes {
      try change()
      #expect(records() == 1)
    }
    try history.remove(id: 99)
    #expect(records() == 0)
  }

  /// Putting one in front is worked out from what is new, not from all that is there.
  @Test func `another process's prepend is taken in by itself`() throws {
    let (one, other) = (try home.history(limit: 50), try home.foreign(limit: 50))
    try one.prepend(contentsOf: (0..<50).map(prompt))
    _ = (one.count, other.count)
    for id in 50..<80 { try one.prepend(prompt(id)) }
    let update = other.cores.current.withLock { state in state.update(in: other.store) }
    guard case .prepended(let gone)? = update?.extent else {
      Issue.record("All entries were looked at.")
      return
    }
    #expect(gone.count == 30 && update?.changed.count == 30)
    #expect(other.ids == one.ids)
    try one.remove(id: 70)
    let more = other.cores.current.withLock { state in state.update(in: other.store) }
    guard case .all(let entries)? = more?.extent else {
      Issue.record("A removal in the middle was taken for a prepend.")
      return
    }
    // What is decoded already is not decoded again.
    #expect(entries.count == 49 && more?.changed.isEmpty == true)
    #expect(other.ids == one.ids)
  }

  /// Its own writes never make a history read its domain anew.
  @Test func `own changes are no news`() throws {
    let history = try home.history(limit: 100)
    for id in 0..<2_000 {
      try history.prepend(Prompt(id: id, text: String(repeating: "x", count: 500)))
      let update = history.cores.current.withLock { state in state.update(in: history.store) }
      try #require(update == nil)
    }
  }
}

/// Changes that depend on what is stored, while a stopped process has the journal locked.
///
/// They are not made. The error said that all values are in the journal.
@Suite(.hangLimit) struct LockedHistoryTests {
  private enum Color: String, Codable { case red }

  @Test func `the error says that the change was not made`() throws {
    let home = try HistoryHome()
    let history = try home.history()
    try history.prepend(1, 2)
    try home.preferences.setPropertyList(.string("blue"), forKey: "color")
    let color = Preferences.Key<Color>("color", default: .red)
    let changes: [(String, () throws -> Void)] = [
      ("prompts", { try history.prepend(prompt(3)) }),
      ("prompts", { try history.prepend(contentsOf: [prompt(3), prompt(4)]) }),
      ("prompts", { try history.update(Prompt(id: 1, text: "new")) }),
      ("prompts", { try history.update(id: 1) { $0.text = "new" } }),
      ("prompts", { try history.remove(id: 1) }), ("prompts", { try history.removeAll() }),
      ("prompts", { try history.batch { $0.remove(id: 2) } }),
      ("domain", { try home.preferences.set(.red, for: color) }),
      ("domain", { _ = try home.preferences.apply([DomainEdit(key: "a", value: .integer(1))]) }),
    ]
    let before = history.items
    for name in ["prompts", "domain"] {
      let store = name == "domain" ? home.preferences.writableDomain : try home.store
      let file = try #require(store.state.withLock { $0.file })
      let path = file.directory.file("\(file.name).journal").filePath
      let holder = try POSIXDisk().open(path, O_RDWR, mode: 0)
      #expect(try POSIXDisk().lock(holder, wait: true, path: path))
      for (place, change) in changes where place == name {
        let error = #expect(throws: PreferencesError.self) { try change() }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("was not made") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("All values") == false)
      }
      unlockAndClose(holder)
    }
    #expect(try history.items == before && home.foreign().items == before)
    #expect(home.preferences.propertyList(forKey: "color") == .string("blue"))
    for (_, change) in changes { try change() }
    #expect(try home.foreign().items.isEmpty && home.preferences.integer(forKey: "a") == 1)
    #expect(home.preferences.string(forKey: "color") == "red")
  }
}
