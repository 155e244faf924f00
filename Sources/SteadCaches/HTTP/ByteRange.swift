/// One range that a request asks for (RFC 9110, 14.2).
enum ByteRange: Sendable, Hashable {
  /// From the first byte to the last, or to the end.
  case bytes(first: Int, last: Int?)
  /// The last bytes.
  case suffix(Int)

  /// Reads a `Range` with one range of bytes; nil for several, for other units and for malformed ones.
  init?(_ value: String) {
    guard value.lowercasedASCII.hasPrefix("bytes=") else { return nil }
    let parts = value.dropFirst("bytes=".count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let last = parts[1].decimalDigits
    if parts[0].isEmpty {
      guard let last else { return nil }
      self = .suffix(last)
    } else {
      guard let first = parts[0].decimalDigits, last != nil || parts[1].isEmpty,
        first <= last ?? .max
      else { return nil }
      self = .bytes(first: first, last: last)
    }
  }

  /// The positions in a body of a length; nil if the range has none of its bytes.
  func positions(in length: Int) -> Range<Int>? {
    switch self {
    case .bytes(let first, let last):
      guard first < length else { return nil }
      return first..<(min(last ?? .max, length - 1) + 1)
    case .suffix(let count):
      guard count > 0, length > 0 else { return nil }
      return max(0, length - count)..<length
    }
  }
}
