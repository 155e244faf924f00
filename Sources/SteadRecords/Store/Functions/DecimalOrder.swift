import Foundation

/// The order of `Decimal`, from its text.
enum DecimalOrder {
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    if let one = Digits(left), let other = Digits(right) { return Digits.compare(one, other) }
    let one = decimal(left)
    let other = decimal(right)
    return one == other ? 0 : one < other ? -1 : 1
  }

  private static func decimal(_ text: UnsafeRawBufferPointer) -> Decimal {
    let text = String(decoding: text, as: UTF8.self)
    return text == "NaN" ? .nan : Decimal(string: text) ?? .nan
  }

  /// A number as `Decimal` writes it: a sign, digits, perhaps a point and more digits.
  private struct Digits {
    let isNegative: Bool
    let whole: Slice<UnsafeRawBufferPointer>
    let fraction: Slice<UnsafeRawBufferPointer>

    init?(_ text: UnsafeRawBufferPointer) {
      var rest = text[...]
      isNegative = rest.first == UInt8(ascii: "-")
      if isNegative { rest = rest.dropFirst() }
      guard !rest.isEmpty, rest.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: ".") }) else {
        return nil
      }
      let point = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
      whole = rest[..<point].drop { $0 == UInt8(ascii: "0") }
      var tail = point == rest.endIndex ? rest[point...] : rest[(point + 1)...]
      guard !tail.contains(UInt8(ascii: ".")) else { return nil }
      while tail.last == UInt8(ascii: "0") { tail = tail.dropLast() }
      fraction = tail
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
      byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private var isZero: Bool { whole.isEmpty && fraction.isEmpty }

    static func compare(_ left: Digits, _ right: Digits) -> Int32 {
      if left.isZero && right.isZero { return 0 }
      if left.isNegative != right.isNegative { return left.isNegative ? -1 : 1 }
      let order = magnitude(left, right)
      return left.isNegative ? -order : order
    }

    private static func magnitude(_ left: Digits, _ right: Digits) -> Int32 {
      if left.whole.count != right.whole.count {
        return left.whole.count < right.whole.count ? -1 : 1
      }
      let whole = TextOrder.bytes(
        UnsafeRawBufferPointer(rebasing: left.whole), UnsafeRawBufferPointer(rebasing: right.whole))
      if whole != 0 { return whole < 0 ? -1 : 1 }
      let fraction = TextOrder.bytes(
        UnsafeRawBufferPointer(rebasing: left.fraction),
        UnsafeRawBufferPointer(rebasing: right.fraction))
      return fraction < 0 ? -1 : fraction > 0 ? 1 : 0
    }
  }
}
