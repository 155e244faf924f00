// The errors of a push, a transaction or a mutation that don't depend on the zone.
extension Push {
  /// Whether the transactions follow each other without a gap, the first after one that is known or new.
  func isNumbered(after last: Int64) -> Bool {
    guard let first = transactions.first?.number else { return true }
    // A client numbers without a gap: a missing number is one that the server has forgotten.
    guard first >= 1, first - 1 <= last else { return false }
    return transactions.enumerated().allSatisfy { $1.number - first == Int64($0) }
  }
}

extension Mutation {
  /// The mutation's share of a push's limit.
  var size: Int {
    var size = values.reduce(id.text.utf8.count) { $0 + $1.key.utf8.count + $1.value.size }
    if case .restore(let record) = self {
      size += record.extra.reduce(0) { $0 + $1.key.utf8.count + $1.value.size }
    }
    return size
  }
}

extension Transaction {
  /// The problem with a transaction that would be refused in any zone.
  func problem(device: DeviceID, _ limits: SyncLimits, _ schema: Schema) -> Refusal.Reason? {
    for mutation in mutations {
      guard mutation.isValid else { return .invalid(id: mutation.id) }
      for blob in schema.blobs(of: mutation) where blob.size > limits.blobBytes {
        return .blobSize(id: mutation.id, limit: limits.blobBytes, needed: blob.size)
      }
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

  /// Whether a restored record is a state that a server can have had.
  private var isSound: Bool {
    guard case .restore(let record) = self else { return true }
    return Set(record.live).isDisjoint(with: record.dead)
      && record.live.count <= Record.incarnationLimit
      && record.dead.count <= Record.incarnationLimit
      && record.extra.values.allSatisfy { $0.isValid() }
      && (record.isLive ? record.into == nil : record.fields.isEmpty)
  }
}
