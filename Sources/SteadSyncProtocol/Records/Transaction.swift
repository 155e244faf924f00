/// Mutations that are applied or refused together, in order.
///
/// ```
/// {"basis":0,"mutations":[…],"number":1}
/// ```
package struct Transaction: Hashable, Sendable {
  /// Its number among its client's transactions: 1, 2, 3 and so on, without gaps.
  package var number: Int64
  /// The last transaction that a page had included or refused when the client made this one. If one of those between is
  /// refused, and it changes one of the same records, this one is refused as well.
  package var basis: Int64
  /// The changes, which are applied in this order.
  package var mutations: [Mutation]

  package init(number: Int64, basis: Int64, mutations: [Mutation]) {
    self.number = number
    self.basis = basis
    self.mutations = mutations
  }

  /// The records that it changes.
  package var ids: Set<RecordID> { Set(recordIDs) }
  /// The record of each mutation.
  var recordIDs: [RecordID] { mutations.map(\.id) }

  /// Whether it consists of restores only. Such a transaction is never denied. Also true of one
  /// without mutations, which changes nothing.
  var isRestore: Bool {
    mutations.allSatisfy { if case .restore = $0 { true } else { false } }
  }
}

extension Transaction: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "transaction")
    self.init(
      number: try reader.count("number"), basis: try reader.count("basis"),
      mutations: try reader.coded("mutations"))
  }

  package var syncValue: SyncValue {
    .members([
      "number": .int(number), "basis": .int(basis), "mutations": mutations.syncValue,
    ])
  }
}

// MARK: - The digest of transactions

/// A digest of the transactions of a client, in order: 64-bit FNV-1a.
///
/// A client compares the server's with its own. A device whose disk was restored, or copied to another device, gives
/// numbers twice; only the digest reveals that the server's transactions with these numbers are others. It protects
/// against accidents, not against attacks.
///
/// "Digest" under "Changes" in Documentation/SyncProtocol.md, with an example.
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
  /// It leaves out everything to which a later version may add, so that an old client and a new server agree.
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

  /// Adds a string and its terminator.
  private mutating func add(_ text: String, _ end: Unicode.Scalar) {
    // With a terminator: otherwise texts that are split differently would have the same digest.
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
  /// The FNV-1a digest of no bytes: the offset basis for 64 bits
  /// (https://datatracker.ietf.org/doc/draft-eastlake-fnv). The factor in ``digest(_:)`` is the FNV prime.
  static let emptyDigest: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Adds bytes to a digest.
  mutating func digest(_ bytes: some Sequence<UInt8>) {
    var digest = self
    func add(_ bytes: some Sequence<UInt8>) {
      // FNV-1a: XOR comes before the multiplication, which wraps modulo 2^64.
      for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    // The fast path of arrays and native strings; other sequences are read byte by byte.
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
    // `UInt64` also reads a sign and capital letters, which would be other spellings.
    guard text.utf8.count == 16,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    self.init(text, radix: 16)
  }
}

// MARK: - Refusals

/// A transaction that was refused, and why.
///
/// ```
/// {"number":2,"reason":{"deleted":"t1","name":"denied","referrer":"t2"}}
/// {"number":3,"reason":{"limit":1000000,"name":"quota","needed":1000400}}
/// ```
///
/// The table of reasons is in "Push" in Documentation/SyncProtocol.md.
package struct Refusal: Hashable, Sendable {
  /// Why a transaction was refused.
  package enum Reason: Hashable, Sendable {
    /// It deletes a record to which other records still refer, through a relationship whose delete rule is deny.
    case denied(deleted: RecordID, referrer: RecordID)
    /// It changes a record that an earlier, refused transaction changed.
    case follows(number: Int64)
    /// The zone would exceed its limit of bytes.
    case quota(limit: Int, needed: Int)
    /// A record would exceed its limit of bytes.
    case recordSize(id: RecordID, limit: Int, needed: Int)
    /// The zone would exceed its limit of records.
    case recordCount(limit: Int, needed: Int)
    /// A blob that a record names exceeds its limit of bytes.
    case blobSize(id: RecordID, limit: Int, needed: Int)
    /// The transaction alone exceeds the limits of a push.
    case tooLarge
    /// A record with this identity has another type.
    case type(id: RecordID)
    /// A stamp names another device than the one that pushes.
    case device
    /// A value or a name isn't valid.
    case invalid(id: RecordID)
    /// A reason of a later server, by its name.
    case other(name: String)
  }

  /// The transaction's number.
  package var number: Int64
  package var reason: Reason
  /// The records that the transaction would have changed. The server keeps them, to refuse what builds on it; they
  /// aren't sent, since the client has the transaction.
  package var ids: Set<RecordID>

  package init(number: Int64, reason: Reason, ids: Set<RecordID> = []) {
    self.number = number
    self.reason = reason
    self.ids = ids
  }

  /// The refusal as it is sent.
  var withoutIDs: Refusal { Refusal(number: number, reason: reason) }
}

// MARK: - Coding of refusals

extension Refusal: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "refusal")
    self.init(
      number: try reader.count("number"), reason: try reader.coded("reason"),
      ids: Set(try reader.identifiers("ids")))
  }

  package var syncValue: SyncValue {
    .members([
      "number": .int(number), "reason": reason.syncValue, "ids": .identifiers(ids.sorted()),
    ])
  }
}

extension Refusal.Reason: SyncCodable {
  package init(syncValue: SyncValue) throws(SyncCodingError) {
    let reader = try MemberReader(syncValue, "reason")
    let name = try reader.string("name")
    func figures() throws(SyncCodingError) -> (limit: Int, needed: Int) {
      (Int(try reader.count("limit")), Int(try reader.count("needed")))
    }
    switch name {
    case "denied":
      self = .denied(
        deleted: try reader.identifier("deleted"), referrer: try reader.identifier("referrer"))
    case "follows": self = .follows(number: try reader.count("number"))
    case "quota":
      let (limit, needed) = try figures()
      self = .quota(limit: limit, needed: needed)
    case "recordCount":
      let (limit, needed) = try figures()
      self = .recordCount(limit: limit, needed: needed)
    case "recordSize":
      let (limit, needed) = try figures()
      self = .recordSize(id: try reader.identifier("id"), limit: limit, needed: needed)
    case "blobSize":
      let (limit, needed) = try figures()
      self = .blobSize(id: try reader.identifier("id"), limit: limit, needed: needed)
    case "type": self = .type(id: try reader.identifier("id"))
    case "tooLarge": self = .tooLarge
    case "device": self = .device
    case "invalid": self = .invalid(id: try reader.identifier("id"))
    // A newer server may have more reasons. An error here would make the whole receipt unreadable.
    default: self = .other(name: name)
    }
  }

  package var syncValue: SyncValue {
    func figures(_ name: String, _ id: RecordID?, _ limit: Int, _ needed: Int) -> SyncValue {
      .members([
        "name": .string(name), "id": .identifier(id), "limit": .int(Int64(limit)),
        "needed": .int(Int64(needed)),
      ])
    }
    switch self {
    case .denied(let deleted, let referrer):
      return .members([
        "name": "denied", "deleted": .identifier(deleted), "referrer": .identifier(referrer),
      ])
    case .follows(let number): return .members(["name": "follows", "number": .int(number)])
    case .quota(let limit, let needed): return figures("quota", nil, limit, needed)
    case .recordCount(let limit, let needed): return figures("recordCount", nil, limit, needed)
    case .recordSize(let id, let limit, let needed): return figures("recordSize", id, limit, needed)
    case .blobSize(let id, let limit, let needed): return figures("blobSize", id, limit, needed)
    case .type(let id): return .members(["name": "type", "id": .identifier(id)])
    case .tooLarge: return .members(["name": "tooLarge"])
    case .device: return .members(["name": "device"])
    case .invalid(let id): return .members(["name": "invalid", "id": .identifier(id)])
    case .other(let name): return .members(["name": .string(name)])
    }
  }
}
