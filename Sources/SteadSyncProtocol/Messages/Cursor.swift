/// A position in the history of a zone: the number of its last change, with a token of the push that made it.
///
/// The token distinguishes two histories in which different pushes got the same numbers, as after a backup was
/// restored. A zone that has a client's mark has everything that the client saw until then. So a server needs to keep
/// only marks to notice that it was taken back, and not which client saw what.
///
/// "Marks" and "Cursors" under "Changes" in Documentation/SyncProtocol.md.
package struct Mark: Hashable, Sendable {
  /// The zone's last number.
  package var head: Int64
  /// A digest of random bits of the push and of the mark before, so that it stands for the whole history up to it; 0 at
  /// head 0.
  package var token: UInt64

  package init(head: Int64, token: UInt64) {
    self.head = head
    self.token = token
  }

  /// The mark of a push after this one. Two servers that share this mark and have taken different pushes since have
  /// different marks, even where a copied machine has repeated the random bits.
  func next(head: Int64, random: UInt64, push: Push) -> Mark {
    // Begins with the token before, so that marks after different histories differ.
    var digest = TransactionDigest(bits: token ^ random)
    for transaction in push.transactions { digest.add(transaction) }
    return Mark(head: head, token: digest.bits)
  }

  /// The first mark of every zone.
  package static let start = Mark(head: 0, token: 0)
}

// `"head.token"`, the token in 16 lowercase hexadecimal digits: many JSON readers turn numbers into doubles, which
// can't hold 64 bits.
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
  /// Reads a number of decimal digits without a sign or a leading zero, so that each number has one spelling.
  init?(decimal text: some StringProtocol) {
    // `Int64` also reads signs and leading zeros, which would be other spellings.
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      String(number) == text
    else { return nil }
    self = number
  }
}

// MARK: - Cursors

/// How far a client has read a zone. The server makes it, and the client sends it back with the next request.
package struct Cursor: Hashable, Sendable {
  /// The number of the last change that it has.
  package var seq: Int64
  /// The zone's head when the client started from the beginning. Until it has read that far it gets no tombstones, and
  /// no purge before that affects it.
  package var start: Int64
  /// The zone's last mark when the latest page was read.
  package var anchor: Mark

  package init(seq: Int64, start: Int64, anchor: Mark) {
    self.seq = seq
    self.start = start
    self.anchor = anchor
  }
}

// `"seq.start.head.token"`, such as `"18.0.18.00000000000000ac"`.
extension Cursor: LosslessStringConvertible, SyncCodable {
  /// Parses what ``description`` returns; nil for anything else.
  package init?(_ text: String) {
    // Two splits: the third part is a mark, which has a full stop itself.
    let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let seq = Int64(decimal: parts[0]),
      let start = Int64(decimal: parts[1]),
      let anchor = Mark(String(parts[2]))
    else { return nil }
    self.init(seq: seq, start: start, anchor: anchor)
  }

  package var description: String { "\(seq).\(start).\(anchor)" }

  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let cursor = syncValue.string.flatMap({ Cursor($0) }) else {
      throw SyncCodingError(.unexpected, "A cursor isn't two numbers and a mark.")
    }
    self = cursor
  }

  package var syncValue: SyncValue { .string(description) }
}
