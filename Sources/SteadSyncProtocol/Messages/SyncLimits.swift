/// The limits of everything in the protocol, with their usual values.
///
/// Client and server may have different ones: a client adapts to a server that accepts less, see
/// ``PushAnswer/tooLarge``.
///
/// "Limits" in Documentation/SyncProtocol.md.
package struct SyncLimits: Hashable, Sendable {
  /// The mutations of a push. A larger transaction cannot be sent.
  package var pushMutations = 400
  /// The bytes of a push's values.
  package var pushBytes = 1_000_000
  /// The bytes of a record's values, without blobs.
  package var recordBytes = 1_000_000
  /// The bytes of a zone's live records. A server with a quota for each owner sets it before each push: what the owner
  /// has left, plus what the zone has.
  package var zoneBytes = 1_000_000_000
  /// The live records of a zone.
  package var zoneRecords = Int.max
  /// The bytes of a blob.
  package var blobBytes = 50_000_000
  /// The records of a page.
  package var pageRecords = 1000
  /// The bytes of a page's values; a page has at least one record.
  package var pageBytes = 1_000_000
  /// How far ahead of the server a stamp may be, in milliseconds.
  package var futureLimit: Int64 = 60_000
  /// How long a blob that no record names is kept, in milliseconds.
  package var blobGrace: Int64 = 86_400_000
  /// How long tombstones are kept, in milliseconds.
  package var tombstoneAge: Int64 = 180 * 86_400_000

  package init() {}
}

extension SyncLimits {
  /// These limits, with a zone's limits lowered to another's where those are smaller.
  func lowered(to other: SyncLimits) -> SyncLimits {
    var limits = self
    limits.recordBytes = min(recordBytes, other.recordBytes)
    limits.zoneBytes = min(zoneBytes, other.zoneBytes)
    limits.zoneRecords = min(zoneRecords, other.zoneRecords)
    return limits
  }
}

// MARK: - What every zone refuses

extension Push {
  /// Whether the transactions follow each other without a gap, the first one after a transaction that the server knows,
  /// or is one that it knows.
  func isNumbered(after last: Int64) -> Bool {
    guard let first = transactions.first?.number else { return true }
    // A client numbers without a gap: a missing number is one that the server has forgotten.
    guard first >= 1, first - 1 <= last else { return false }
    // Also within the push: a number that is left out would never be answered.
    return transactions.enumerated().allSatisfy { $1.number - first == Int64($0) }
  }
}

extension Mutation {
  /// The mutation's share of ``SyncLimits/pushBytes``.
  var size: Int {
    var size = values.reduce(id.text.utf8.count) { $0 + $1.key.utf8.count + $1.value.size }
    if case .restore(let record) = self {
      size += record.extra.reduce(0) { $0 + $1.key.utf8.count + $1.value.size }
    }
    return size
  }
}

extension Transaction {
  /// Why a transaction would be refused in any zone with these limits; nil for a valid one. A client checks its own by
  /// it, so that a mistake is reported where it is made.
  func problem(device: DeviceID, _ limits: SyncLimits, _ schema: Schema) -> Refusal.Reason? {
    for mutation in mutations {
      guard mutation.isValid else { return .invalid(id: mutation.id) }
      for blob in schema.blobs(of: mutation) where blob.size > limits.blobBytes {
        return .blobSize(id: mutation.id, limit: limits.blobBytes, needed: blob.size)
      }
      // A restored record has the stamps of other devices, and bumps of the server.
      if case .restore = mutation { continue }
      let stamp = mutation.stamp
      if stamp.device != device || stamp.bump != 0 { return .device }
    }
    return nil
  }
}

extension Mutation {
  fileprivate var isValid: Bool {
    type.isWireName && isSound && hasKey
      && values.allSatisfy { $0.key.isWireName && $0.value.isValid() }
  }

  /// Whether the record has a key, if it belongs to a key-value store. A record without one may only be deleted.
  private var hasKey: Bool {
    guard type == KeyValueZone.type else { return true }
    if case .delete = self { return true }
    return KeyValueZone.key(of: id) != nil
  }

  /// Whether a restored record is a state that a server can have had. Otherwise a client could give a zone records that
  /// break its invariants, such as an incarnation that is alive and dead.
  private var isSound: Bool {
    guard case .restore(let record) = self else { return true }
    return Set(record.live).isDisjoint(with: record.dead)
      && record.live.count <= Record.incarnationLimit
      && record.dead.count <= Record.incarnationLimit
      && record.extra.values.allSatisfy { $0.isValid() }
      && (record.isLive ? record.into == nil : record.fields.isEmpty)
  }
}
