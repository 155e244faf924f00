/// A digest of the transactions of a client, in order: 64-bit FNV-1a.
///
/// Server and client compare it. A device whose disk was restored, or copied to another device, reuses numbers; only
/// the digest reveals that the server's transactions with these numbers are different.
package struct TransactionDigest: Hashable, Sendable {
  /// The digest's bits.
  package private(set) var bits: UInt64

  /// The digest of no transactions.
  package init() { bits = .emptyDigest }

  /// Makes a digest from its saved bits.
  package init(bits: UInt64) { self.bits = bits }

  /// Adds a transaction: its number and a line feed, then for each mutation the record's identity, a space, and
  /// milliseconds, counter and device of the first stamp with spaces between them, and a line feed.
  ///
  /// It leaves out everything that a later version may add, so versions agree.
  package mutating func add(_ transaction: Transaction) {
    add(String(transaction.number), "\n")
    for mutation in transaction.mutations {
      let stamp = mutation.stamp
      add(mutation.id.text, " ")
      add(String(stamp.milliseconds), " ")
      add(String(stamp.counter), " ")
      add(stamp.device.text, "\n")
    }
  }

  /// Adds a string and its terminator, without joining them into one string first.
  private mutating func add(_ text: String, _ end: Unicode.Scalar) {
    bits.digest(text.utf8)
    bits.digest(CollectionOfOne(UInt8(ascii: end)))
  }
}

// 16 lowercase hexadecimal digits.
extension TransactionDigest: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    guard let bits = syncValue.string.flatMap({ UInt64(digits: $0) }) else {
      throw SyncCodingError(.unexpected, "A digest isn't 16 hexadecimal digits.")
    }
    self.bits = bits
  }

  package var syncValue: SyncValue { .string(bits.digits) }
}

extension UInt64 {
  /// The FNV-1a digest of no bytes.
  static let emptyDigest: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Adds bytes to a digest.
  mutating func digest(_ bytes: some Sequence<UInt8>) {
    var digest = self
    func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    if bytes.withContiguousStorageIfAvailable(add) == nil { add(bytes) }
    self = digest
  }

  /// 16 lowercase hexadecimal digits.
  var digits: String {
    let text = String(self, radix: 16)
    return String(repeating: "0", count: 16 - text.utf8.count) + text
  }

  /// Reads what ``digits`` has written; nil for anything else.
  init?(digits text: some StringProtocol) {
    guard text.utf8.count == 16,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    self.init(text, radix: 16)
  }
}
