/// The bytes of a digest that is written in lower-case hexadecimal digits.
struct HexadecimalDigest {
  private static let digits = Array("0123456789abcdef".utf8)

  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Nil for any string that ``text`` would not return unchanged.
  init?(_ text: some Collection<UInt8>) {
    guard text.count == ItemDigest.digitCount else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(ItemDigest.byteCount)
    var high: UInt8?
    for digit in text {
      guard let value = Self.value(of: digit) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    self.bytes = bytes
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  var text: String {
    String(
      decoding: bytes.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] },
      as: UTF8.self)
  }
}
