/// The version of a package: `epoch:upstream-revision` (deb-version(7)).
public struct DebianVersion: Codable, Hashable, Sendable {
  /// nil where none is written, which counts as 0.
  public let epoch: Int?
  public let upstream: String
  /// What follows the last hyphen.
  public let revision: String?

  public init(_ text: String) {
    var rest = text[...]
    if let colon = rest.firstIndex(of: ":"), let number = Int(rest[..<colon]) {
      epoch = number
      rest = rest[rest.index(after: colon)...]
    } else {
      epoch = nil
    }
    let hyphen = rest.lastIndex(of: "-")
    upstream = String(rest[..<(hyphen ?? rest.endIndex)])
    revision = hyphen.map { String(rest[rest.index(after: $0)...]) }
  }

  public func isNewer(than other: DebianVersion) -> Bool {
    if (epoch ?? 0) != (other.epoch ?? 0) { return (epoch ?? 0) > (other.epoch ?? 0) }
    let order = Self.order(upstream, other.upstream)
    return (order != 0 ? order : Self.order(revision ?? "", other.revision ?? "")) > 0
  }

  // MARK: Order

  /// Negative, 0 or positive. Stretches without digits and numbers take turns.
  private static func order(_ left: String, _ right: String) -> Int {
    var (left, right) = (left.utf8[...], right.utf8[...])
    while !left.isEmpty || !right.isEmpty {
      while true {
        let difference = rank(left.first) - rank(right.first)
        if difference != 0 { return difference }
        // Both are at a digit or at their end.
        if rank(left.first) == 0 { break }
        left.removeFirst()
        right.removeFirst()
      }
      let (one, other) = (number(&left), number(&right))
      if one.count != other.count { return one.count - other.count }
      if let (digit, otherDigit) = zip(one, other).first(where: { $0 != $1 }) {
        return Int(digit) - Int(otherDigit)
      }
    }
    return 0
  }

  /// `~` comes before everything, even the end; letters come before the rest.
  private static func rank(_ byte: UInt8?) -> Int {
    guard let byte, !isDigit(byte) else { return 0 }
    if byte == UInt8(ascii: "~") { return -1 }
    return isLetter(byte) ? Int(byte) : Int(byte) + 256
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Takes the digits at the front, and drops leading zeros.
  private static func number(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
    let digits = text.prefix { rank($0) == 0 }
    text = text[digits.endIndex...]
    return digits.drop { $0 == UInt8(ascii: "0") }
  }
}

extension DebianVersion: CustomStringConvertible {
  public var description: String {
    (epoch.map { "\($0):" } ?? "") + upstream + (revision.map { "-\($0)" } ?? "")
  }
}
