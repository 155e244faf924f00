import SteadTestSupport
import Testing

@testable import SteadPreferences

struct DomainTableTests {
  /// Random sets and removals, beside a dictionary that does the same.
  @Test(arguments: [1, 7, 400], [0, 12, 60])
  func `holds what a dictionary holds`(keyCount: Int, keyLength: Int) {
    var random = SplitMix(seed: Effort.seed)
    var table = DomainTable()
    var model: [String: PropertyList] = [:]
    for step in 0..<5_000 {
      let number = Int.random(in: 0..<keyCount, using: &random)
      let key = "key \(number) \(String(repeating: "x", count: keyLength))"
      let value: PropertyList? = Bool.random(using: &random) ? .integer(Int64(step)) : nil
      #expect(table.replace(key, with: value) == model[key])
      model[key] = value
      #expect(table.count == model.count)
    }
    for (key, value) in model { #expect(table[key] == value) }
    #expect(table.fields().count == model.count)
    #expect(table["missing"] == nil)
  }

  /// Keys of all lengths, of which some are a part of others, and some differ in one byte.
  @Test func `tells similar keys apart`() {
    var keys = (0...100).map { String(repeating: "a", count: $0) }
    for length in 1...64 {
      for place in 0..<length {
        let letters = (0..<length).map { $0 == place ? "b" : "a" }
        keys.append(letters.joined())
        keys.append(letters.map { $0 == "b" ? "\0" : $0 }.joined())
      }
    }
    var table = DomainTable()
    for (number, key) in keys.enumerated() { table.replace(key, with: .integer(Int64(number))) }
    #expect(table.count == keys.count)
    for (number, key) in keys.enumerated() { #expect(table[key] == .integer(Int64(number))) }
    let fields = Dictionary(table.fields().map { ($0.key, $0.value) }) { first, _ in first }
    for (number, key) in keys.enumerated() { #expect(fields[key] == .integer(Int64(number))) }
    for key in keys where key.utf8.count.isMultiple(of: 3) { table.replace(key, with: nil) }
    for (number, key) in keys.enumerated() {
      #expect(table[key] == (key.utf8.count.isMultiple(of: 3) ? nil : .integer(Int64(number))))
    }
  }

  @Test func `tells spellings apart`() {
    var table = DomainTable()
    table.replace("\u{E9}", with: .integer(1))
    table.replace("e\u{301}", with: .integer(2))
    #expect(table["\u{E9}"] == .integer(1))
    #expect(table["e\u{301}"] == .integer(2))
  }
}
