import Foundation
import SteadPreferences
import SteadTransfer
import Testing

/// Files of JSON that other programs have written.
struct JSONFileTests {
  private struct Task: Codable, Sendable {
    var title: String
    var due: Date?
  }

  private let moving: Moving
  private let file: URL

  init() throws {
    moving = try Moving()
    file = moving.home.file("tasks.json")
  }

  @Test func `elements that decode are moved`() throws {
    try write(
      "[\n {\"title\": \"a\"},\n {\"name\":\"b\"},\n {\"title\":\"c\",\"due\":\"2024-02-29T12:00:00Z\"}\n]\n"
    )
    let report = try transfer(removesItems: true, acceptsPartial: true).run()
    #expect((report.read, report.moved, report.removed) == (3, 2, 2))
    #expect(
      report.failures.map(\.description) == [
        "item 1: The field title is missing. Add it in the source, or make the property optional."
      ])
    #expect(try text() == "[{\"name\":\"b\"}]")
    #expect(moving.destination.keys.filter { $0.hasPrefix("task.") } == ["task.a", "task.c"])
  }

  /// It said that a value isn't of the type String, whatever the number of fields.
  @Test func `a value that does not decode is named by its field`() throws {
    try write(
      """
      [{"title":4711}, {"title":"a","due":"4711"}, {"title":null}, {"title":"b"}]
      """)
    let failures = try transfer(acceptsPartial: true).run().failures.map(\.description)
    #expect(failures.count == 3 && failures.allSatisfy { !$0.contains("4711") })
    #expect(
      failures.first?.hasPrefix("item 0: The field title isn't of the type String.") == true)
    #expect(failures.dropFirst().first?.hasPrefix("item 1: The field due ") == true)
    #expect(failures.last?.hasPrefix("item 2: The field title ") == true)
  }

  @Test func `a file that is only read is kept`() throws {
    let json = "[{\"title\":\"a\"},{\"title\":\"b\"}]"
    try write(json)
    #expect(try transfer().run().moved == 2)
    #expect(try transfer().run().alreadyMoved == 2)
    #expect(try text() == json)
  }

  @Test func `the last element leaves an empty array`() throws {
    try write("{\"title\":\"a\"}")
    #expect(try transfer(removesItems: true).run().removed == 1)
    #expect(try text() == "[]")
    #expect(try transfer(removesItems: true).run().outcome == .nothingToDo)
  }

  @Test(arguments: ["[{\"title\":\"a\"}", "{\"title\":", "[1,]", "title: a"])
  func `what is no JSON is left alone`(json: String) throws {
    try write(json)
    let error = try #require(throws: TransferError.self) {
      try transfer(removesItems: true, acceptsPartial: true).run()
    }
    #expect(error.code == .unreadable)
    #expect(!error.description.contains("title"))
    #expect(try text() == json)
  }

  @Test func `what another program adds meanwhile stays`() throws {
    try write("[{\"title\":\"a\"}]")
    try transfer(removesItems: true).run { progress in
      if progress.phase == .removing, progress.completed == 0 {
        try write("[{\"title\":\"new\"},{\"title\":\"a\"}]")
      }
    }
    #expect(try text() == "[{\"title\":\"new\"}]")
  }

  private func transfer(
    removesItems: Bool = false, acceptsPartial: Bool = false
  ) -> Transfer<Task, PreferenceEntry> {
    Transfer(
      "tasks", from: .json(file, of: Task.self, removesItems: removesItems),
      to: .preferences(moving.destination),
      options: .init(acceptsPartial: acceptsPartial)
    ) { try PreferenceEntry(key: "task.\($0.title)", encoding: $0) }
  }

  private func write(_ text: String) throws { try Data(text.utf8).write(to: file) }
  private func text() throws -> String {
    String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }
}
