import Crypto

/// Random values that give access, and the hashes of them that the database holds.
enum Secret {
  /// Letters and digits that people don't confuse: Crockford's base 32.
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

  /// 256 random bits, for programs.
  static func token() -> String {
    Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// 60 random bits, for people: `7Q2M-K0XV-93TB`.
  static func code() -> String {
    (0..<3).map { _ in String((0..<4).map { _ in alphabet[Int.random(in: 0..<32)] }) }
      .joined(separator: "-")
  }

  /// The canonical form of a code that a person typed, whatever its case and hyphens.
  static func normalized(code: String) -> String {
    String(
      code.uppercased().filter { $0 != "-" && $0 != " " }.map { character in
        switch character {
        case "O": "0"
        case "I", "L": "1"
        default: character
        }
      })
  }

  /// An identifier of 128 random bits, in hexadecimal digits.
  static func identifier() -> String {
    hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) })
  }

  static func hash(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }

  /// Whether two hashes are equal, in a time that doesn't depend on where they differ.
  static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
  }

  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
