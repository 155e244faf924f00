/// A set of a model's properties, by their index: a bit set.
///
/// One word holds the first 63 properties, so sets of most models need no allocation. For a model with more, the word's
/// last bit says that `high` is not empty. So two sets are disjoint if their words are, but for that bit.
@usableFromInline struct PropertySet: Hashable, Sendable {
  /// How many properties the first word holds.
  @usableFromInline static let wordLimit = 63

  /// Bit i for property i; bit 63 when `high` is not empty.
  @usableFromInline var low: UInt64
  /// Bit i of word k for property 63 + 64 k + i; the last word is not 0.
  @usableFromInline var high: [UInt64]

  @inlinable init(low: UInt64 = 0, high: [UInt64] = []) {
    self.low = low
    self.high = high
  }

  init(_ indices: some Sequence<Int>) {
    self.init()
    for index in indices { insert(index) }
  }

  /// The bit of a property in the first word.
  ///
  /// For property 63 and all after it, this is bit 63, which says only that `high` has more.
  @inlinable static func bit(_ index: Int) -> UInt64 { 1 << UInt64(min(index, wordLimit)) }

  var isEmpty: Bool { low == 0 }

  /// Whether the set has a property. Costs one test for the first 63, and an array access beyond.
  func contains(_ index: Int) -> Bool {
    if index < Self.wordLimit { return low & (1 << UInt64(index)) != 0 }
    let (word, bit) = (index - Self.wordLimit).quotientAndRemainder(dividingBy: 64)
    return word < high.count && high[word] & (1 << UInt64(bit)) != 0
  }

  /// Adds a property; allocates only for one beyond the first 63.
  mutating func insert(_ index: Int) {
    low |= Self.bit(index)
    guard index >= Self.wordLimit else { return }
    let (word, bit) = (index - Self.wordLimit).quotientAndRemainder(dividingBy: 64)
    // Words are added only for a property that is then set, which keeps the last word from being 0:
    // equal sets then have equal words, as `Hashable` needs.
    while high.count <= word { high.append(0) }
    high[word] |= 1 << UInt64(bit)
  }

  /// Whether the sets have no property in common.
  func isDisjoint(with other: PropertySet) -> Bool {
    // Bit 63 of both words only means that both have further words.
    let both = low & other.low
    if both == 0 { return true }
    if both != 1 << UInt64(Self.wordLimit) { return false }
    return !zip(high, other.high).contains { $0 & $1 != 0 }
  }

  /// The properties of this set that the other one lacks.
  func subtracting(_ other: PropertySet) -> PropertySet {
    if other.isEmpty || isDisjoint(with: other) { return self }
    // Built by insertion, and not by masking the words: `high` must lose its trailing zeros, and
    // `low` its last bit with them.
    var result = PropertySet()
    for index in 0..<(Self.wordLimit + 64 * high.count)
    where contains(index) && !other.contains(index) {
      result.insert(index)
    }
    return result
  }

  /// The properties that at least one of the sets has.
  func union(_ other: PropertySet) -> PropertySet {
    var result = PropertySet(low: low | other.low, high: high)
    while result.high.count < other.high.count { result.high.append(0) }
    for (word, bits) in other.high.enumerated() { result.high[word] |= bits }
    return result
  }
}
