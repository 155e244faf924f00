// `"head.token"`, the token in 16 lowercase hexadecimal digits, since JSON's numbers can't hold 64 bits everywhere.
extension Mark: LosslessStringConvertible, SyncCodable {
  /// Parses what ``description`` returns; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let head = Int64(decimal: parts[0]),
      let token = UInt64(digits: parts[1])
    else { return nil }
    self.init(head: head, token: token)
  }

  package var description: String { "\(head).\(token.digits)" }

  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let mark = syncValue.string.flatMap({ Mark($0) }) else {
      throw SyncCodingError(.unexpected, "A mark isn't a number and a token.")
    }
    self = mark
  }

  package var syncValue: SyncValue { .string(description) }
}

extension Int64 {
  /// Makes a number of decimal digits without a sign or a leading zero.
  init?(decimal text: some StringProtocol) {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      String(number) == text
    else { return nil }
    self = number
  }
}
