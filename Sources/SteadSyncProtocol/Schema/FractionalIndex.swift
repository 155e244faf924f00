/// A position in an ordered list, between two others: a string whose order by bytes is the order of the list.
///
/// The index is a field of the list's elements, so devices that insert or move different elements change different
/// records and both moves stay. Two devices that insert at the same position at once make the same index: sort by
/// index, then by identity.
///
/// Digits are 0 to 9, A to Z and a to z. The first character encodes the length of the integer
/// part: `a` for one digit, `b` for two, up to `z`; `Z` for one digit of a negative number, `Y` for
/// two, down to `A`. Then comes a fraction that doesn't end with 0. Each call costs time in
/// proportion to the index's length. An index grows by a digit for some six insertions at one
/// position. After 2 million insertions at the end it has 5 characters.
///
/// "Ordered lists" under "Helpers that must agree" in Documentation/SyncProtocol.md specifies the form. The
/// representation is known from David Greenspan's "Implementing Fractional Indexing" (2020).
package enum FractionalIndex {
  /// The maximum number of characters of an index.
  package static let lengthLimit = 200
  /// The index of the first element of a list.
  package static let first = "a0"

  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  /// The smallest whole part. It is no index itself, since nothing could be below it.
  private static let smallest = Array("A".utf8) + Array(repeating: UInt8(ascii: "0"), count: 26)

  /// An index between two others, or nil if there is none: the lower isn't below the upper one, or it would be longer
  /// than ``lengthLimit``. Then give the elements that follow new indexes.
  ///
  /// Without a lower one it is before the upper one; without an upper one, after the lower one.
  package static func between(_ lower: String?, _ upper: String?) -> String? {
    let (low, high) = (lower.map { Array($0.utf8) }, upper.map { Array($0.utf8) })
    guard low.map(isIndex) ?? true, high.map(isIndex) ?? true else { return nil }
    let found: [UInt8]?
    switch (low, high) {
    case (nil, nil): return first
    case (nil, let high?): found = before(high)
    case (let low?, nil): found = after(low)
    case (let low?, let high?):
      // Nothing is between equal places, which two devices may make.
      found = low.lexicographicallyPrecedes(high) ? middle(low, high) : nil
    }
    guard let found, found.count <= lengthLimit else { return nil }
    return String(decoding: found, as: UTF8.self)
  }

  /// Whether a string is an index.
  package static func isIndex(_ text: String) -> Bool { isIndex(Array(text.utf8)) }

  /// Whether bytes are an index: the whole part is complete and isn't the smallest, all are digits,
  /// and the fraction doesn't end with 0.
  private static func isIndex(_ bytes: [UInt8]) -> Bool {
    guard bytes.count <= lengthLimit, let whole = wholeLength(bytes), bytes.count >= whole else {
      return false
    }
    return bytes.dropFirst().allSatisfy { value(of: $0) != nil } && bytes != smallest
      && (bytes.count == whole || bytes.last != digits[0])
  }

  /// The value of a digit; nil for another character.
  private static func value(of digit: UInt8) -> Int? { digits.firstIndex(of: digit) }

  /// The characters of the whole part, its length's included.
  private static func wholeLength(_ bytes: [UInt8]) -> Int? {
    switch bytes.first {
    case (let head?) where (0x61...0x7A).contains(head): Int(head) - 0x61 + 2
    case (let head?) where (0x41...0x5A).contains(head): 0x5A - Int(head) + 2
    default: nil
    }
  }
}

// MARK: - Arithmetic

extension FractionalIndex {
  /// The whole part, whose first character is its length, and the fraction.
  private static func parts(_ index: [UInt8]) -> (whole: [UInt8], fraction: [UInt8]) {
    let length = wholeLength(index) ?? 0
    return (Array(index.prefix(length)), Array(index.dropFirst(length)))
  }

  /// An index below another one: the whole part alone, or the next smaller one.
  private static func before(_ high: [UInt8]) -> [UInt8] {
    let (whole, fraction) = parts(high)
    // No whole part is below the smallest one, so the fraction is halved.
    if whole == smallest { return whole + half([], fraction) }
    // A whole part alone is below the same one with a fraction.
    if !fraction.isEmpty { return whole }
    let less = stepped(whole, by: -1) ?? smallest
    // `smallest` alone is no index.
    return less == smallest ? less + half([], nil) : less
  }

  /// An index above another one: the next greater whole part. So appending keeps indexes short.
  private static func after(_ low: [UInt8]) -> [UInt8] {
    let (whole, fraction) = parts(low)
    // Beyond the greatest whole part only a fraction can grow.
    return stepped(whole, by: 1) ?? whole + half(fraction, nil)
  }

  /// An index between two: a whole part if there is one, or else a longer fraction.
  private static func middle(_ low: [UInt8], _ high: [UInt8]) -> [UInt8] {
    let (one, other) = (parts(low), parts(high))
    if one.whole == other.whole { return one.whole + half(one.fraction, other.fraction) }
    // A whole part between the two needs no fraction.
    if let next = stepped(one.whole, by: 1), next.lexicographicallyPrecedes(high) { return next }
    return one.whole + half(one.fraction, nil)
  }

  /// The next whole part, or the one before; nil beyond the last.
  private static func stepped(_ whole: [UInt8], by step: Int) -> [UInt8]? {
    var result = whole
    for index in result.indices.dropFirst().reversed() {
      let digit = (value(of: result[index]) ?? 0) + step
      if digits.indices.contains(digit) {
        result[index] = digits[digit]
        return result
      }
      result[index] = digits[step > 0 ? 0 : digits.count - 1]
    }
    // All digits have wrapped around, as from 99 to 100: the number gets a digit more, or one less.
    let head: UInt8
    // `Z` and `a` are neighbors: one digit below zero, and one digit from zero on.
    switch (whole[0], step) {
    case (0x7A, 1), (0x41, -1): return nil
    case (0x5A, 1): head = 0x61
    case (0x61, -1): head = 0x5A
    default: head = UInt8(Int(whole[0]) + step)
    }
    let fill = step > 0 ? digits[0] : digits[digits.count - 1]
    return [head] + Array(repeating: fill, count: (wholeLength([head]) ?? 1) - 1)
  }

  /// A fraction between two: without a lower one above 0, without an upper one below 1.
  private static func half(_ low: [UInt8], _ high: [UInt8]?) -> [UInt8] {
    var result: [UInt8] = []
    var high = high
    var index = 0
    while true {
      let one = index < low.count ? value(of: low[index]) ?? 0 : 0
      let other = high.map { index < $0.count ? value(of: $0[index]) ?? 0 : 0 } ?? digits.count
      if other - one > 1 { return result + [digits[(one + other + 1) / 2]] }
      if other - one == 1 {
        // The digits are neighbours. A prefix of the upper fraction is below it, and above everything with the lower
        // digit.
        if let high, index + 1 < high.count { return result + [high[index]] }
        high = nil
      }
      result.append(digits[one])
      index += 1
    }
  }
}
