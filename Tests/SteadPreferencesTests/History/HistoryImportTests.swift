import Foundation
import SteadFiles
import Testing
@testable import SteadPreferences

/// An array in JSON, as apps have it under a key, becomes a history.
struct TakeOverTests {
  let home: HistoryHome

  init() throws { home = try HistoryHome() }

  private func array(_ prompts: [Prompt], iso8601: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    if iso8601 { encoder.dateEncodingStrategy = .iso8601 }
    return String(decoding: try encoder.encode(prompts), as: UTF8.self)
  }

  @Test(arguments: [false, true])
  func `takes over either kind of dates`(iso8601: Bool) throws {
    let prompts = (0..<20).map {
      Prompt(
        id: $0, text: "a, [b] {\"c\"} \\ é\n\"], [{",
        date: Date(timeIntervalSince1970: Double($0) * 1e7))
    }
    try home.writeArray(try array(prompts, iso8601: iso8601))
    let history = try home.history()
    #expect(history.items == prompts)
    #expect(!home.hasArray)
    #expect(home.errors.codes.isEmpty)
    #expect(try home.foreign().items == prompts)
  }

  @Test func `keeps each element's own bytes`() throws {
    let elements = [
      #"{"text":"b","id":2,"date":0.50,"extra":[1, 2]}"#, #"{"id" : 1,"text":"a","date":0}"#,
    ]
    try home.writeArray("\u{FEFF} [ " + elements.joined(separator: " ,\n ") + " ]\n")
    let records = try home.history().records()
    #expect(records.map { String(decoding: $0.bytes, as: UTF8.self) } == elements)
    #expect(records.map(\.version) == [1, 1])
  }

  @Test func `an empty array is no entry`() throws {
    try home.writeArray(" [ ] ")
    #expect(try home.history().isEmpty)
    #expect(!home.hasArray)
    #expect(home.errors.codes.isEmpty)
  }

  @Test func `drops nothing for the limit`() throws {
    try home.writeArray(try array((0..<10).map(prompt)))
    let history = try home.history(limit: 4)
    #expect(history.ids == Array(0..<10))
    try history.prepend(99)
    #expect(history.ids == [99, 0, 1, 2])
  }

  @Test func `keeps what does not decode`() throws {
    try home.writeArray(
      #"[{"id":1,"text":"a","date":0},{"id":2},nonsense,{"id":3,"text":"c","date":"2026-11-22T10:00:00.5Z"}]"#
    )
    let history = try home.history()
    #expect(history.ids == [1, 3])
    #expect(history.undecodable.map(\.index) == [1, 2])
    #expect(
      history.undecodable.map { String(decoding: $0.bytes, as: UTF8.self) } == [
        #"{"id":2}"#, "nonsense",
      ])
    #expect(history.undecodable.map(\.message) == ["The field text is missing.", "It isn't JSON."])
    #expect(home.errors.codes == [.doesNotDecode])
    #expect(!home.hasArray)
  }

  @Test func `takes only new ones from an array that is written again`() throws {
    try home.writeArray(#"[{"id":2,"text":"b","date":0},{"id":1,"text":"a","date":0},{"id":0}]"#)
    let history = try home.history()
    try history.prepend(5)
    try home.writeArray(
      #"[{"id":7,"text":"g","date":0},{"id":6},{"id":2,"text":"changed","date":0},{"id":0}]"#)
    let again = try home.history()
    #expect(again.ids == [7, 5, 2, 1] && history.ids == [7, 5, 2, 1])
    #expect(again[id: 2]?.text == "b")
    #expect(again.undecodable.map(\.index) == [1, 5])
    #expect(!home.hasArray)
  }

  /// The process was killed between the record of the entries and the removal of the array.
  @Test func `a take-over that was cut off is completed`() throws {
    let text = try array((0..<3).map(prompt))
    try home.writeArray(text)
    var history: PayloadHistory<Prompt>? = try home.history()
    try history?.remove(id: 1)
    history = nil
    try home.writeArray(text)
    #expect(try home.history().ids == [0, 2])
    #expect(!home.hasArray)
  }

  @Test(arguments: ["", "{}", "[1", "[1,]", "[,]", "[{]", "[]]", "[\"a]", "text", "[}]"])
  func `what is no array is kept aside`(text: String) throws {
    try home.writeArray(text)
    let history = try home.history()
    #expect(history.isEmpty && history.undecodable.isEmpty)
    #expect(home.errors.codes == [.doesNotDecode])
    let kept = home.preferences.undecodableKeys(for: "prompts")
    #expect(kept == ["prompts.undecodable"])
    #expect(home.preferences.data(forKey: "prompts.undecodable") == Data(text.utf8))
    #expect(!home.hasArray)
  }

  @Test func `what is no data is left alone`() throws {
    try home.preferences.setPropertyList(.string("[]"), forKey: "prompts")
    let history = try home.history()
    try history.prepend(1)
    #expect(home.preferences.string(forKey: "prompts") == "[]")
    #expect(home.errors.codes == [.doesNotDecode])
  }

  @Test func `read-only preferences take nothing over`() throws {
    try home.history().prepend(1)
    try home.writeArray(try array([prompt(2)]))
    let preferences = try Preferences(
      domain: "domain", directory: home.directory.url, options: .init(isReadOnly: true))
    preferences.onError = home.errors.handler
    let history = try PayloadHistory<Prompt>("prompts", in: preferences)
    #expect(history.ids == [1])
    #expect(home.errors.codes == [.doesNotDecode])
    #expect(home.hasArray)
    #expect(throws: PreferencesError.self) { try history.prepend(3) }
  }
}

/// The entries as an older version of the app reads them.
struct WriteBackTests {
  let home: HistoryHome

  init() throws { home = try HistoryHome() }

  private func decoded(_ dates: JSONDecoder.DateDecodingStrategy) throws -> [Prompt] {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = dates
    let data = try #require(home.preferences.data(forKey: "prompts"))
    return try decoder.decode([Prompt].self, from: data)
  }

  @Test func `either kind of dates can be read`() throws {
    let history = try home.history()
    let prompts = (1...3).map { Prompt(id: $0, text: "t", date: Date(timeIntervalSince1970: 1e9)) }
    try history.prepend(contentsOf: prompts)
    #expect(try history.writeBack() == 0)
    #expect(try decoded(.deferredToDate) == prompts)
    try history.writeBack(dates: .iso8601)
    #expect(try decoded(.iso8601) == prompts)
    #expect(history.items == prompts)
  }

  @Test func `opening leaves what was written back`() throws {
    let history = try home.history()
    try history.prepend(1, 2)
    try history.writeBack()
    try history.remove(id: 1)
    #expect(try home.foreign().ids == [2])
    #expect(home.hasArray)
    try history.writeBack()
    #expect(try decoded(.deferredToDate).map(\.id) == [2])
    #expect(try home.history().ids == [2])
    #expect(home.hasArray)
  }

  /// The process was killed after it had noted the new array, and before that took the old one's place.
  @Test func `an array of before is still known`() throws {
    let history = try home.history()
    try history.prepend(1)
    try history.writeBack()
    let old = try #require(home.preferences.propertyList(forKey: "prompts"))
    try history.prepend(2)
    try history.writeBack()
    try home.preferences.setPropertyList(old, forKey: "prompts")
    #expect(try home.foreign().ids == [2, 1])
    #expect(home.hasArray)
  }

  @Test func `what an older version adds is taken over first`() throws {
    let history = try home.history()
    try history.prepend(1, 2)
    try history.writeBack()
    let older = try decoded(.deferredToDate)
    let changed = try JSONEncoder().encode([prompt(9)] + older)
    try home.writeArray(String(decoding: changed, as: UTF8.self))
    try history.writeBack()
    #expect(history.ids == [9, 2, 1])
    #expect(try decoded(.deferredToDate).map(\.id) == [9, 2, 1])
  }

  @Test func `what does not decode is written as it is`() throws {
    try home.writeArray(#"[{"id":2,"text":"b","date":0},{"id" : 1},nonsense]"#)
    let history = try home.history()
    #expect(try history.writeBack() == 1)
    let text = home.preferences.data(forKey: "prompts").map { String(decoding: $0, as: UTF8.self) }
    #expect(text == #"[{"date":0,"id":2,"text":"b"},{"id" : 1}]"#)
    #expect(history.undecodable.count == 2)
    #expect(try history.writeBack(includingUndecodable: false) == 2)
    #expect(try decoded(.deferredToDate).map(\.id) == [2])
  }

  /// Preferences that may only be read leave an array under the key. Writing back looked for it to be
  /// imported, for ever.
  @Test func `read-only preferences refuse beside an array`() throws {
    try home.history().prepend(1)
    try home.writeArray(#"[{"id":2,"text":"b","date":0}]"#)
    let preferences = try Preferences(
      domain: "domain", directory: home.directory.url, options: .init(isReadOnly: true))
    preferences.onError = home.errors.handler
    let history = try PayloadHistory<Prompt>("prompts", in: preferences)
    let error = #expect(throws: PreferencesError.self) { try history.writeBack() }
    #expect(error?.code == .readOnly)
    #expect(home.hasArray)
  }

  @Test func `does not overwrite what is no array`() throws {
    let history = try home.history()
    try history.prepend(1)
    try home.preferences.setPropertyList(.string("mine"), forKey: "prompts")
    let error = #expect(throws: PreferencesError.self) { try history.writeBack() }
    #expect(error?.code == .doesNotDecode)
    #expect(home.preferences.string(forKey: "prompts") == "mine")
  }
}
