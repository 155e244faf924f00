import Foundation
import Testing

@testable import SteadPreferences

/// Payloads whose fields change from one version of a program to the next.
struct HistoryVersionTests {
  struct First: Codable, Identifiable, Sendable, Equatable {
    var id: Int
    var text: String
    var cost: Decimal = 0
  }

  struct Third: Codable, Identifiable, Sendable, Equatable {
    var id: Int
    var prompt: String
    var cost: Decimal
    var model: String
  }

  let home: HistoryHome

  init() throws { home = try HistoryHome() }

  private func first() throws -> PayloadHistory<First> {
    try PayloadHistory("prompts", in: home.preferences)
  }

  private func third(
    _ upgrades: [PayloadUpgrade<Third>], version: Int = 3, limit: Int = 500
  ) throws -> PayloadHistory<Third> {
    try PayloadHistory(
      "prompts", limit: limit, in: home.preferences,
      options: .init(version: version, upgrades: upgrades))
  }

  private let steps: [PayloadUpgrade<Third>] = [
    PayloadUpgrade(from: 1) { json in json["prompt"] = json.removeValue(forKey: "text") },
    PayloadUpgrade(from: 2) { json in json["model"] = "base" },
  ]

  @Test func `upgrades step by step and leaves the entry`() throws {
    let cost = try #require(Decimal(string: "12345678901234567.123456789"))
    try first().prepend(First(id: 1, text: "a \"quoted\" é\u{1}\n", cost: cost))
    let history = try third(steps)
    let upgraded = Third(id: 1, prompt: "a \"quoted\" é\u{1}\n", cost: cost, model: "base")
    #expect(history.items == [upgraded])
    #expect(try history.records().map(\.version) == [1])
    #expect(try history.update(upgraded))
    #expect(try history.records().map(\.version) == [3])
    #expect(try third([]).items == [upgraded])
  }

  @Test func `upgrades by the old type`() throws {
    try first().prepend(First(id: 1, text: "a"))
    let history = try third([
      PayloadUpgrade(from: 1, First.self) {
        Third(id: $0.id, prompt: $0.text, cost: $0.cost, model: "old")
      }
    ])
    #expect(history.items == [Third(id: 1, prompt: "a", cost: 0, model: "old")])
  }

  @Test func `upgrades by the old type after a step`() throws {
    try home.store.apply([
      DomainEdit(
        key: "0000000000000001",
        value: .array([.integer(1), .data(Data(#"{"name":"a","id":1,"cost":1}"#.utf8))]))
    ])
    let history = try third([
      PayloadUpgrade(from: 1) { json in json["text"] = json.removeValue(forKey: "name") },
      PayloadUpgrade(from: 2, First.self) {
        Third(id: $0.id, prompt: $0.text, cost: $0.cost, model: "two")
      },
    ])
    #expect(history.items == [Third(id: 1, prompt: "a", cost: 1, model: "two")])
  }

  @Test func `without an upgrade, entries are kept`() throws {
    try first().prepend(First(id: 1, text: "a"))
    let history = try third([])
    #expect(history.isEmpty)
    #expect(history.undecodable.map(\.reason) == [.doesNotDecode])
    #expect(history.undecodable.map(\.version) == [1])
    #expect(history.undecodable[0].message == "The field prompt is missing.")
    #expect(try third(steps).items.map(\.prompt) == ["a"])
  }

  @Test func `an upgrade that throws leaves the entry`() throws {
    try first().prepend(First(id: 1, text: "a"))
    try first().prepend(First(id: 2, text: "b"))
    let history = try third([
      PayloadUpgrade(from: 1) { json in
        if json["id"] == 1 { throw CancellationError() }
        json["prompt"] = json["text"]
        json["model"] = "base"
      }
    ])
    #expect(history.items.map(\.id) == [2])
    #expect(history.undecodable.map(\.reason) == [.upgradeFailed])
    #expect(history.undecodable[0].cause is CancellationError)
  }

  @Test func `a newer version's entries are kept and not counted`() throws {
    let new = try third([], version: 3)
    for id in 1...4 { try new.prepend(Third(id: id, prompt: "p", cost: 0, model: "m")) }
    let old = try PayloadHistory<First>("prompts", limit: 2, in: home.preferences)
    #expect(old.undecodable.map(\.reason) == Array(repeating: .newerVersion, count: 4))
    for id in 5...8 { try old.prepend(First(id: id, text: "t")) }
    #expect(old.items.map(\.id) == [8, 7])
    #expect(new.items.map(\.id) == [4, 3, 2, 1])
    try old.removeAll()
    #expect(new.items.map(\.id) == [4, 3, 2, 1])
    #expect(try old.discardUndecodable(old.undecodable.prefix(1)) == 1)
    #expect(new.items.map(\.id) == [3, 2, 1])
    try old.removeAll(includingUndecodable: true)
    #expect(new.isEmpty && old.undecodable.isEmpty)
  }

  @Test(arguments: [
    PayloadHistoryOptions<Third>(version: 0),
    .init(version: 2, takenOverVersion: 3),
    .init(version: 2, takenOverVersion: 0),
    .init(version: 2, upgrades: [PayloadUpgrade(from: 2) { _ in }]),
    .init(
      version: 3, upgrades: [PayloadUpgrade(from: 1) { _ in }, PayloadUpgrade(from: 1) { _ in }]),
  ])
  func `refuses options that contradict themselves`(options: PayloadHistoryOptions<Third>) throws {
    let error = #expect(throws: PreferencesError.self) {
      _ = try PayloadHistory<Third>("prompts", in: home.preferences, options: options)
    }
    #expect(error?.code == .invalidOptions)
  }

  @Test func `refuses a limit of nothing and an empty key`() throws {
    for (key, limit) in [("prompts", 0), ("", 5)] {
      let error = #expect(throws: PreferencesError.self) {
        _ = try PayloadHistory<Third>(key, limit: limit, in: home.preferences)
      }
      #expect(error?.code == .invalidOptions)
    }
  }

  /// A history of a library that is newer than this one is not touched.
  @Test func `refuses a newer format`() throws {
    try first().prepend(First(id: 1, text: "a"))
    try home.store.set(.array([.integer(2), .string("new")]), forKey: HistoryHeader.key)
    let error = #expect(throws: PreferencesError.self) { _ = try first() }
    #expect(error?.code == .newerVersion)
  }

  @Test func `an open history stops writing when the format becomes newer`() throws {
    let history = try first()
    try history.prepend(First(id: 1, text: "a"))
    try home.store.set(.array([.integer(2), .integer(9)]), forKey: HistoryHeader.key)
    let error = #expect(throws: PreferencesError.self) {
      try history.prepend(First(id: 2, text: "b"))
    }
    #expect(error?.code == .newerVersion)
  }
}
