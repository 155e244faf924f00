/// A sticker whose unique key has two parts.
@Model final class Sticker {
  #Unique<Sticker>([\.group, \.text])
  var group: Int
  var text: String
  var value: Int
  init(group: Int, text: String, value: Int) {
    (self.group, self.text, self.value) = (group, text, value)
  }
}

/// Texts that look alike and differ in their bytes, as file names of macOS and typed text do, were one key within a save
/// and two keys in the store: of two new objects one was lost.
@Suite("Unique texts that are canonically equivalent") struct CanonicalKeyTests {
  private static let texts = [
    "\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{1EA5}", "a\u{302}\u{301}", "e", "E",
  ]

  /// The bytes, since Swift's strings are equal.
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func isBefore(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.lexicographicallyPrecedes(other)
  }

  @Test(arguments: StorePlace.allCases)
  func `new objects with such texts are several, in one save as in several`(
    _ place: StorePlace
  ) throws {
    for savesEach in [false, true] {
      let store = try TestStore(place, Account.self)
      let context = store.context()
      for (number, text) in Self.texts.enumerated() {
        context.insert(Account(email: text, login: "\(number)"))
        if savesEach { try context.save() }
      }
      try context.save()
      let found = try store.reopened().all(Account.self)
      #expect(found.count == Self.texts.count)
      #expect(
        found.map { bytes($0.email) }.sorted(by: isBefore)
          == Self.texts.map(bytes).sorted(by: isBefore))
    }
  }

  /// Was refused in one save and allowed in two.
  @Test(arguments: StorePlace.allCases)
  func `changed objects may have such texts`(_ place: StorePlace) throws {
    for savesEach in [false, true] {
      let store = try TestStore(place, Account.self)
      let context = store.context()
      let accounts = Self.texts.indices.map { Account(email: "\($0)", login: "\($0)") }
      for account in accounts { context.insert(account) }
      try context.save()
      for (account, text) in zip(accounts, Self.texts) {
        account.email = text
        if savesEach { try context.save() }
      }
      try context.save()
      #expect(try store.reopened().count(Account.self) == Self.texts.count)
    }
  }

  /// Random objects with keys of two parts, saved at random moments, against a dictionary by the texts' bytes.
  @Test(arguments: 0..<2) func `random keys lead to the row of their bytes`(seed: UInt64)
    async throws
  {
    struct Key: Hashable {
      let group: Int
      let text: [UInt8]
    }
    for round in 0..<UInt64(Effort.times(20)) {
      var random = SplitMix(seed: seed &* 1_000 &+ round)
      let store = try TestStore(.memory, Sticker.self)
      let context = store.context()
      var expected: [Key: Int] = [:]
      for value in 0..<20 {
        let text = try #require(Self.texts.randomElement(using: &random))
        let group = Int.random(in: 0..<2, using: &random)
        context.insert(Sticker(group: group, text: text, value: value))
        expected[Key(group: group, text: bytes(text))] = value
        if Int.random(in: 0..<5, using: &random) == 0 { try context.save() }
      }
      try context.save()
      let found = try store.context().all(Sticker.self).map {
        (Key(group: $0.group, text: bytes($0.text)), $0.value)
      }
      #expect(
        Dictionary(found) { one, _ in one } == expected && found.count == expected.count,
        "seed \(seed), round \(round)")
      await Task.yield()
    }
  }
}
