/// A moment in the history of a zone: the number of its last change, with a token of the push that made it.
///
/// The token distinguishes two histories in which different pushes got the same numbers, as after a backup was
/// restored. A zone that has a client's mark has everything that the client saw until then.
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
    var digest = TransactionDigest(bits: token ^ random)
    for transaction in push.transactions { digest.add(transaction) }
    return Mark(head: head, token: digest.bits)
  }

  /// The first mark of every zone.
  package static let start = Mark(head: 0, token: 0)
}
