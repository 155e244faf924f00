import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// A history that has outgrown preferences.
struct HistorySourceTests {
  private struct Prompt: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var text: String
  }

  private let moving: Moving

  init() throws { moving = try Moving() }

  @Test func `entries are items, the newest first`() throws {
    let history = try PayloadHistory<Prompt>("prompts", in: moving.source)
    for number in 0..<3 { try history.prepend(Prompt(id: number, text: "prompt \(number)")) }
    let items = try HistorySource(history).read { _ in }
    #expect(items.map(\.name) == ["prompts[0]", "prompts[1]", "prompts[2]"])
    #expect(try items.map { try $0.value.get().id } == [2, 1, 0])
    let report = try transfer(history).run()
    #expect((report.moved, report.removed) == (3, 3))
    #expect(history.isEmpty)
    #expect(try moving.moved() == ["prompt 0", "prompt 1", "prompt 2"])
    #expect(try transfer(history).run().outcome == .nothingToDo)
  }

  /// Entries have numbers of their own, so a payload that equals one which was moved is new.
  @Test func `an equal entry is new`() throws {
    let history = try PayloadHistory<Prompt>("prompts", in: moving.source)
    try history.prepend(Prompt(id: 1, text: "again"))
    try transfer(history).run()
    try history.prepend(Prompt(id: 1, text: "again"))
    #expect(try transfer(history).run().moved == 1)
    #expect(try moving.moved() == ["again", "again"])
    #expect(history.isEmpty)
  }

  @Test func `entries that do not decode stay`() throws {
    let json = #"[{"id":2,"text":"two"},{"id":"?"},{"id":0,"text":"zero"}]"#
    moving.source.set(Data(json.utf8), forKey: "prompts")
    let history = try PayloadHistory<Prompt>("prompts", in: moving.source)
    let error = try #require(throws: TransferError.self) { try transfer(history).run() }
    #expect(error.code == .notConverted)
    #expect(error.failures.map(\.item) == ["prompts[1]"])
    let report = try transfer(history, .init(acceptsPartial: true)).run()
    #expect((report.moved, report.left) == (2, 1))
    #expect(history.undecodable.map(\.bytes) == [Data(#"{"id":"?"}"#.utf8)])
    #expect(history.isEmpty)
  }

  /// With numbers there is no doubt about what is left of a run that was cut off.
  @Test func `what is left after a kill is removed`() throws {
    struct Stop: Error {}
    let history = try PayloadHistory<Prompt>("prompts", in: moving.source)
    for number in 0..<3 { try history.prepend(Prompt(id: number, text: "prompt \(number)")) }
    #expect(throws: Stop.self) {
      try transfer(history).run { if $0.phase == .removing { throw Stop() } }
    }
    try history.remove(id: 1)
    let preview = try transfer(history).preview()
    #expect((preview.completed, preview.alreadyMoved, preview.removed) == (3, 0, 2))
    let report = try transfer(history).run()
    #expect((report.completed, report.removed, report.left) == (3, 2, 0))
    #expect(history.isEmpty)
    #expect(try moving.moved() == ["prompt 0", "prompt 1", "prompt 2"])
  }

  @Test func `what is changed meanwhile stays`() throws {
    let history = try PayloadHistory<Prompt>("prompts", in: moving.source)
    for number in 0..<3 { try history.prepend(Prompt(id: number, text: "prompt \(number)")) }
    let other = try PayloadHistory<Prompt>("prompts", in: moving.source)
    let report = try transfer(history).run { progress in
      guard progress.phase == .removing, progress.completed == 0 else { return }
      try other.prepend(Prompt(id: 3, text: "new"))
      try other.update(Prompt(id: 1, text: "edited"))
      try other.remove(id: 0)
    }
    #expect((report.moved, report.removed, report.changedMeanwhile) == (3, 1, 2))
    #expect(history.items.map(\.text) == ["new", "edited"])
  }

  private func transfer(
    _ history: PayloadHistory<Prompt>, _ options: TransferOptions = .init()
  ) -> Transfer<Prompt, PreferenceEntry> {
    Transfer(
      "prompts", from: .history(history), to: .preferences(moving.destination),
      options: options
    ) { PreferenceEntry(key: "draft.\(UUID().uuidString)", value: .string($0.text)) }
  }
}
