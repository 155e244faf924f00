// The refusals that do not depend on the merge, and those because of the merge's result.
extension Zone {
  /// Whether a push exceeds the limits.
  func isTooLarge(_ push: Push) -> Bool {
    let mutations = push.transactions.flatMap(\.mutations)
    return mutations.count > limits.pushMutations
      || mutations.reduce(0) { $0 + $1.size } > limits.pushBytes
  }

  /// The blobs that transactions name and the zone lacks. What names one that is too large is refused later.
  func missingBlobs(
    _ transactions: [Transaction], _ schema: Schema
  ) throws(Storage.Failure) -> [BlobID] {
    var missing: Set<BlobID> = []
    for mutation in transactions.flatMap(\.mutations) {
      for blob in schema.blobs(of: mutation)
      where blob.size <= limits.blobBytes && !missing.contains(blob.id) {
        if try !storage.hasBlob(blob.id) { missing.insert(blob.id) }
      }
    }
    return missing.sorted()
  }

  /// The limit that the open transaction's changes exceed. What makes a record or a zone smaller always passes.
  func exceededLimit(_ state: ZoneState) throws(Storage.Failure) -> Refusal.Reason? {
    var (limits, grown, added) = (limits, 0, 0)
    for id in merger.overlay.openChanges {
      let new = try merger.overlay.record(id)
      let old = try storage.record(id)
      if new?.type == KeyValueZone.type { limits = limits.lowered(to: KeyValueZone.limits) }
      let (size, before) = (new?.size ?? 0, old?.size ?? 0)
      if size > limits.recordBytes, size > before {
        return .recordSize(id: id, limit: limits.recordBytes, needed: size)
      }
      grown += size - before
      added += (new?.isLive == true ? 1 : 0) - (old?.isLive == true ? 1 : 0)
    }
    if added > 0, state.records + added > limits.zoneRecords {
      return .recordCount(limit: limits.zoneRecords, needed: state.records + added)
    }
    guard grown > 0, state.bytes + grown > limits.zoneBytes else { return nil }
    return .quota(limit: limits.zoneBytes, needed: state.bytes + grown)
  }
}
