/// Numbers as people write them: `500`, `10KB`, `1.5 MB`, `2k`.
///
/// ```swift
/// ByteCount.parse("1.5 MB")   // 1572864
/// ByteCount.text(1_572_864)   // "1.5 MB"
/// ```
public enum ByteCount {
  // The first suffix that fits counts, so `kb` is before `k` and `b`. Powers of two with a B, and
  // of ten without one: the latter count things.
  private static let units: [(suffix: String, factor: Double)] = [
    ("kb", 1_024), ("mb", 1_048_576), ("gb", 1_073_741_824), ("k", 1_000), ("m", 1_000_000),
    ("bytes", 1), ("byte", 1), ("b", 1),
  ]

  /// The number that a string stands for; nil if the string isn't a number. A KB is 1,024 bytes, and `k` without a B
  /// is 1,000. Case, spaces, commas and underscores don't matter, and a fraction of a byte is rounded.
  public static func parse(_ text: String) -> Int? {
    // The separators of people and of Swift's literals, so an example of an answer is an answer.
    var digits = text.lowercased().filter { $0 != " " && $0 != "," && $0 != "_" }
    var factor = 1.0
    if let unit = units.first(where: { digits.hasSuffix($0.suffix) }) {
      digits.removeLast(unit.suffix.count)
      factor = unit.factor
    }
    guard let value = Double(digits), value.isFinite else { return nil }
    // Nil beyond 64 bits, where a conversion would trap.
    return Int(exactly: (value * factor).rounded())
  }

  /// A number of bytes for people: `1.5 MB`, with one digit after the point at most. The rounded number need not
  /// parse to the same one.
  public static func text(_ count: Int) -> String {
    for (suffix, factor) in [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)]
    where count >= factor {
      // Rounded before it is compared with a whole number, so 1.04 MB has no digit after the
      // point.
      let tenths = (Double(count) / Double(factor) * 10).rounded() / 10
      return tenths == tenths.rounded() ? "\(Int(tenths)) \(suffix)" : "\(tenths) \(suffix)"
    }
    return "\(count) bytes"
  }

  /// A whole number for people: `2,500`.
  ///
  /// By hand, since a formatter would follow the user's locale, and advice is the same everywhere.
  /// Not for negative numbers.
  static func grouped(_ number: Int) -> String {
    let digits = String(number)
    let parts = digits.enumerated().map { index, digit in
      index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : String(digit)
    }
    return parts.joined()
  }
}
