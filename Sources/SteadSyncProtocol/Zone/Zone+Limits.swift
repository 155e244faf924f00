// The refusals that do not depend on the merge, and those because of the merge's result.
extension Zone {
  /// Whether a push exceeds the limits.
  func isTooLarge(_ push: Push) -> Bool {
    let count = push.transactions.reduce(0) { $0 + $1.mutations.count }
    let size = push.transactions.reduce(0) { $1.mutations.reduce($0) { $0 + $1.size } }
    return count > limits.pushMutations || size > limits.pushBytes
  }

  /// The blobs that transactions name and the zone lacks. What names one that is too large is refused later.
  func missingBlobs(
    _ transactions: [Transaction], _ schema: Schema
  ) throws(Storage.Failure) -> [BlobID] {
    guard schema.entities.values.contains(where: \.hasBlobs) else { return [] }
    var missing: Set<BlobID> = []
    for mutation in transactions.flatMap(\.mutations) {
      for blob in schema.blobs(of: mutation)
      where blob.size <= limits.blobBytes && !missing.contains(blob.id) {
        if try !storage.hasBlob(blob.id) { missing.insert(blob.id) }
      }
    }
    return missing.sorted()
  }

  /// The limit that the open transaction's changes exceed. A change that makes a record or a zone smaller always
  /// passes.
  func exceededLimit(_ state: ZoneState) throws(Storage.Failure) -> Refusal.Reason? {
    var (limits, grown, added) = (limits, 0, 0)
    for id in merger.overlay.openChanges {
      guard let new = merger.overlay.changed[id] else { continue }
      let old = try storage.record(id)
      if new.record.type == KeyValueZone.type { limits = limits.lowered(to: KeyValueZone.limits) }
      let before = old?.size ?? 0
      if new.size > limits.recordBytes, new.size > before {
        return .recordSize(id: id, limit: limits.recordBytes, needed: new.size)
      }
      grown += new.size - before
      added += (new.record.isLive ? 1 : 0) - (old?.isLive == true ? 1 : 0)
    }
    if added > 0, state.records + added > limits.zoneRecords {
      return .recordCount(limit: limits.zoneRecords, needed: state.records + added)
    }
    guard grown > 0, state.bytes + grown > limits.zoneBytes else { return nil }
    return .quota(limit: limits.zoneBytes, needed: state.bytes + grown)
  }
}
