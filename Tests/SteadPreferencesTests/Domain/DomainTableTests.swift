import Testing

@testable import SteadPreferences

struct DomainTableTests {
  /// Random sets and removals, beside a dictionary that does the same.
  @Test(arguments: [1, 7, 400])
  func holdsWhatADictionaryHolds(keyCount: Int) {
    var random = SystemRandomNumberGenerator()
    var table = DomainTable()
    var model: [String: PropertyList] = [:]
    for step in 0..<5_000 {
      let key = "key \(Int.random(in: 0..<keyCount, using: &random))"
      let value: PropertyList? = Bool.random() ? .integer(Int64(step)) : nil
      #expect(table.replace(key, with: value) == model[key])
      model[key] = value
      #expect(table.count == model.count)
    }
    for (key, value) in model { #expect(table[key] == value) }
    #expect(table.fields().count == model.count)
    #expect(table["missing"] == nil)
  }

  @Test func tellsSpellingsApart() {
    var table = DomainTable()
    table.replace("\u{E9}", with: .integer(1))
    table.replace("e\u{301}", with: .integer(2))
    #expect(table["\u{E9}"] == .integer(1))
    #expect(table["e\u{301}"] == .integer(2))
  }
}
