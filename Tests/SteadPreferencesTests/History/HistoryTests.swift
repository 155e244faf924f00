import Foundation
import SteadTestSupport
import Testing

@testable import SteadPreferences

/// What one history does, in one process.
struct HistoryTests {
  let home: HistoryHome
  let history: PayloadHistory<Prompt>

  init() throws {
    home = try HistoryHome()
    history = try home.history(limit: 5)
  }

  @Test func `holds nothing at first`() throws {
    #expect(history.items.isEmpty && history.isEmpty && history.count == 0)
    #expect(history.undecodable.isEmpty)
    #expect(history[id: 1] == nil)
    #expect(home.errors.codes.isEmpty)
  }

  @Test func `has the newest first`() throws {
    try history.prepend(1, 2, 3)
    #expect(history.items == [prompt(3), prompt(2), prompt(1)])
    #expect(history.count == 3 && !history.isEmpty)
  }

  @Test func `puts a collection in front in its order`() throws {
    try history.prepend(1, 2)
    try history.prepend(contentsOf: [prompt(3), prompt(4)])
    #expect(history.ids == [3, 4, 2, 1])
    try history.prepend(contentsOf: [])
    #expect(history.ids == [3, 4, 2, 1])
  }

  @Test func `drops the oldest beyond the limit`() throws {
    for id in 1...12 {
      try history.prepend(prompt(id))
      #expect(history.ids == Array((max(1, id - 4)...id).reversed()))
    }
    #expect(history[id: 7] == nil && history[id: 8] == prompt(8))
  }

  @Test func `of a collection above the limit, the first count`() throws {
    try history.prepend(100)
    try history.prepend(contentsOf: (1...8).map(prompt))
    #expect(history.ids == [1, 2, 3, 4, 5])
  }

  // The limit applied to each change: a payload was dropped for which the next change made room.
  @Test func `the limit applies to what a batch leaves, whatever its order`() throws {
    var random = SplitMix(seed: 7)
    var (expected, next) = ([Int](), 1)
    for _ in 0..<300 {
      try history.batch { batch in
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          let known = expected.randomElement(using: &random)
          if let known, Int.random(in: 0..<5, using: &random) < 2 {
            batch.remove(id: known)
            expected.removeAll { $0 == known }
          } else if Int.random(in: 0..<20, using: &random) == 0 {
            batch.removeAll()
            expected = []
          } else {
            try batch.prepend(prompt(next))
            expected.insert(next, at: 0)
            next += 1
          }
        }
      }
      expected = Array(expected.prefix(5))
      #expect(history.ids == expected)
    }
    #expect(try home.foreign(limit: 5).ids == expected)
  }

  @Test func `updates in place`() throws {
    try history.prepend(1, 2, 3)
    var changed = prompt(2)
    changed.text = "other"
    #expect(try history.update(changed))
    #expect(history.items == [prompt(3), changed, prompt(1)])
    #expect(try !history.update(prompt(9)))
    #expect(try history.update(id: 1) { $0.text += "!" })
    #expect(history[id: 1]?.text == "prompt 1!")
    #expect(try !history.update(id: 9) { $0.text = "" })
    #expect(history.ids == [3, 2, 1])
  }

  @Test func `an update that throws changes nothing`() throws {
    try history.prepend(1)
    #expect(throws: CancellationError.self) {
      try history.update(id: 1) { prompt in
        prompt.text = "other"
        throw CancellationError()
      }
    }
    #expect(history.items == [prompt(1)])
  }

  @Test func `an update may change the identity`() throws {
    try history.prepend(1, 2)
    #expect(try history.update(id: 1) { $0.id = 7 })
    #expect(history.ids == [2, 7])
    #expect(history[id: 1] == nil && history[id: 7]?.text == "prompt 1")
  }

  @Test func `removes by identity`() throws {
    try history.prepend(1, 2, 3)
    #expect(try history.remove(id: 2))
    #expect(try !history.remove(id: 2))
    #expect(history.ids == [3, 1])
    try history.removeAll()
    #expect(history.isEmpty)
    try history.prepend(4)
    #expect(history.ids == [4])
  }

  @Test func `keeps equal identities apart`() throws {
    try history.prepend(1, 2)
    try history.prepend(Prompt(id: 1, text: "again"))
    #expect(history.ids == [1, 2, 1])
    #expect(history[id: 1]?.text == "again")
    #expect(try history.update(Prompt(id: 1, text: "once more")))
    #expect(history.items.map(\.text) == ["once more", "prompt 2", "prompt 1"])
    #expect(try history.remove(id: 1))
    #expect(history.ids == [2])
  }

  @Test func `gives pages`() throws {
    try history.prepend(1, 2, 3, 4, 5)
    #expect(history.page(0, size: 2).map(\.id) == [5, 4])
    #expect(history.page(2, size: 2).map(\.id) == [1])
    #expect(history.page(3, size: 2).isEmpty && history.page(-1, size: 2).isEmpty)
    #expect(history.page(Int.max, size: 2).isEmpty && history.page(0, size: 0).isEmpty)
    #expect(history[1..<3].map(\.id) == [4, 3])
    _ = history.items
    #expect(history.page(1, size: 2).map(\.id) == [3, 2])
    #expect(history[3..<99].map(\.id) == [2, 1])
  }

  @Test func `is there after reopening`() throws {
    try history.prepend(1, 2, 3)
    try history.remove(id: 2)
    try history.flush()
    let other = try home.foreign(limit: 5)
    #expect(other.items == [prompt(3), prompt(1)])
  }

  @Test func `leaves the app's domain alone`() throws {
    try history.prepend(1, 2)
    #expect(home.preferences.persistentDomain(forName: "domain") == nil)
    #expect(try home.directory.names.contains("domain.history.prompts.journal"))
  }

  @Test func `shares entries in memory`() throws {
    let environment = Preferences.Environment.inMemory()
    let one = try PayloadHistory<Prompt>(
      "prompts", in: .inMemory("memory", environment: environment))
    let other = try PayloadHistory<Prompt>(
      "prompts", in: .inMemory("memory", environment: environment))
    try one.prepend(1)
    try other.prepend(2)
    #expect(one.ids == [2, 1] && other.ids == [2, 1])
    let elsewhere = try PayloadHistory<Prompt>("prompts", in: .inMemory())
    #expect(elsewhere.isEmpty)
  }
}
