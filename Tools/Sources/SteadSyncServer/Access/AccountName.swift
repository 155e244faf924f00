/// The name of a user: 1 to 64 lower-case letters, digits and `.`, `_`, `-`, `@`.
public struct AccountName: Hashable, Sendable {
  public let text: String

  /// Nil if the string isn't a name.
  public init?(_ text: String) {
    let isValid = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"):
        true
      default: false
      }
    }
    guard isValid, (1...64).contains(text.utf8.count) else { return nil }
    self.text = text
  }
}
