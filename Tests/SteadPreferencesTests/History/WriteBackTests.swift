import Foundation
import Testing

@testable import SteadPreferences

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

  @Test func eitherKindOfDatesCanBeRead() throws {
    let history = try home.history()
    let prompts = (1...3).map { Prompt(id: $0, text: "t", date: Date(timeIntervalSince1970: 1e9)) }
    try history.prepend(contentsOf: prompts)
    #expect(try history.writeBack() == 0)
    #expect(try decoded(.deferredToDate) == prompts)
    try history.writeBack(dates: .iso8601)
    #expect(try decoded(.iso8601) == prompts)
    #expect(history.items == prompts)
  }

  @Test func openingLeavesWhatWasWrittenBack() throws {
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
  @Test func anArrayOfBeforeIsStillKnown() throws {
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

  @Test func whatAnOlderVersionAddsIsTakenOverFirst() throws {
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

  @Test func whatDoesNotDecodeIsWrittenAsItIs() throws {
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
  @Test func readOnlyPreferencesRefuseBesideAnArray() throws {
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

  @Test func doesNotOverwriteWhatIsNoArray() throws {
    let history = try home.history()
    try history.prepend(1)
    try home.preferences.setPropertyList(.string("mine"), forKey: "prompts")
    let error = #expect(throws: PreferencesError.self) { try history.writeBack() }
    #expect(error?.code == .doesNotDecode)
    #expect(home.preferences.string(forKey: "prompts") == "mine")
  }
}
