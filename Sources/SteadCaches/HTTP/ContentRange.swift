/// Which part of a body a response has (RFC 9110, 14.4).
struct ContentRange: Sendable, Hashable {
  /// The positions of the part's bytes in the whole body.
  var positions: Range<Int>
  /// The length of the whole body.
  var length: Int

  init(positions: Range<Int>, length: Int) {
    self.positions = positions
    self.length = length
  }

  /// Parses a `Content-Range`; nil if it lacks the part or the length of the whole.
  init?(_ value: String) {
    guard value.lowercasedASCII.hasPrefix("bytes ") else { return nil }
    let parts = value.dropFirst("bytes ".count).split(
      separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let length = parts[1].decimalDigits else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = ends[0].decimalDigits, let last = ends[1].decimalDigits,
      first <= last, last < length
    else { return nil }
    positions = first..<(last + 1)
    self.length = length
  }

  /// The value of the field.
  var value: String { "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(length)" }
}
