import Foundation
import SteadFormats
import Testing

@testable import SteadPreferences

/// Entries that do not decode are neither lost, nor counted, nor in the way of the others.
struct UndecodableEntryTests {
  let home: HistoryHome

  init() throws { home = try HistoryHome() }

  private func put(_ value: PropertyList, at sequence: UInt64) throws {
    try home.store.set(value, forKey: EntryKey.text(sequence))
  }

  @Test func `the limit drops none`() throws {
    let history = try home.history(limit: 3)
    try history.prepend(1, 2)
    try home.foreign().prepend(contentsOf: [])
    try put(.array([.integer(1), .data(Data("[]".utf8))]), at: 1)
    let again = try home.foreign(limit: 3)
    for id in 3...9 {
      try again.prepend(prompt(id))
      #expect(again.undecodable.map { $0.sequence } == [1])
    }
    #expect(again.ids == [9, 8, 7])
    #expect(again.undecodable.map(\.index) == [3])
  }

  @Test func `other values are kept`() throws {
    try put(.string("made by hand"), at: 1)
    try put(.array([.integer(1), .integer(2)]), at: 2)
    try put(.array([.string("1"), .data(Data())]), at: 3)
    try home.store.set(.bool(true), forKey: "something else")
    let history = try home.history(limit: 1)
    #expect(home.errors.codes == [.doesNotDecode])
    #expect(history.undecodable.map(\.reason) == [.notAnEntry, .notAnEntry, .notAnEntry])
    #expect(history.undecodable.map(\.index) == [0, 1, 2])
    try history.prepend(1, 2)
    #expect(history.ids == [2])
    #expect(try home.store.value(forKey: EntryKey.text(1)) == .string("made by hand"))
    let bytes = try #require(history.undecodable.last?.bytes)
    let list = try PropertyListSerialization.propertyList(from: bytes, format: nil)
    #expect(list as? [String: String] == ["value": "made by hand"])
    #expect(try history.discardUndecodable(history.undecodable) == 3)
    #expect(try home.foreign().undecodable.isEmpty)
    #expect(try home.store.value(forKey: "something else") == .bool(true))
  }

  @Test func `discarding leaves what has changed`() throws {
    try put(.array([.integer(1), .data(Data("1".utf8))]), at: 1)
    let history = try home.history()
    let listed = history.undecodable
    let other = try Preferences(
      domain: "domain.history.prompts", directory: home.directory.url, options: .init(format: .xml))
    try other.setPropertyList(
      .array([.integer(1), .data(Data("2".utf8))]), forKey: EntryKey.text(1))
    #expect(try history.discardUndecodable(listed) == 0)
    #expect(history.undecodable.map(\.bytes) == [Data("2".utf8)])
  }

  @Test func `entries go on after the highest number`() throws {
    try put(.array([.integer(1), .data(Data("{}".utf8))]), at: 41)
    try put(.string("beyond all numbers"), at: .max)
    let history = try home.history()
    try history.prepend(1)
    #expect(try history.records().map(\.sequence) == [42, 41])
  }

  /// Somebody edits the property list of the history by hand while it is open.
  @Test func `takes in what was edited by hand`() throws {
    let history = try home.history()
    try history.prepend(1, 2, 3)
    let store = try home.store
    let value = try #require(store.value(forKey: EntryKey.text(2)))
    try store.apply([
      DomainEdit(key: EntryKey.text(2), value: nil),
      DomainEdit(key: EntryKey.text(1), value: value),
    ])
    try store.checkpoint()
    let file = home.directory.file("domain.history.prompts.plist")
    var fields = try PropertyList.fields(of: Data(contentsOf: file))
    fields = PropertyList.Fields(fields.filter { $0.key != EntryKey.text(3) })
    try BinaryPropertyList.encode(fields).write(to: file)
    #expect(store.refresh())
    #expect(history.ids == [2])
    try history.prepend(4)
    #expect(try home.foreign().ids == [4, 2])
  }

  /// The next change ended the program by an overflow.
  @Test(arguments: 0..<3)
  func `counts that were edited by hand are counted again`(index: Int) throws {
    do {
      let history = try home.history()
      try history.prepend(1, 2)
    }
    var counts: [Int64] = [2, 0, 2]
    counts[index] = .max
    try home.store.apply([
      DomainEdit(
        key: HistoryHeader.key,
        value: .array(
          [Int64(HistoryHeader.format), counts[0], 3, counts[1], counts[2]].map { .integer($0) }))
    ])
    let history = try home.history()
    try history.prepend(3)
    #expect(history.ids.sorted() == [1, 2, 3])
    #expect(try home.foreign().ids.sorted() == [1, 2, 3])
  }

  @Test func `no text holds a value`() throws {
    try put(
      .array([.integer(1), .data(Data(#"{"id":"secret","text":"t","date":0}"#.utf8))]), at: 1)
    try put(
      .array([.integer(1), .data(Data(#"{"id":1,"text":"t","date":"secret"}"#.utf8))]), at: 2)
    let history = try home.history()
    #expect(
      history.undecodable.map(\.message) == [
        "The field date has a value that its type does not allow.",
        "The field id has another type.",
      ])
    let report = try #require(home.preferences.lastError)
    #expect(!report.description.contains("secret"))
    #expect(report.message.hasSuffix(" The newest of them: \(history.undecodable[0].message)"))
  }
}
