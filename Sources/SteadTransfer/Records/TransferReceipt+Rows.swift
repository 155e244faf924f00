import SteadRecords

extension RowTransaction {
  /// The receipt of a transfer into the store.
  ///
  /// - Throws: ``TransferError`` `.unsupported` for a receipt of a newer version.
  func transferReceipt(named id: String) throws -> TransferReceipt? {
    guard let stored = try receipt(named: id) else { return nil }
    guard stored.version == TransferReceipt.version,
      let state = TransferReceipt.State(rawValue: stored.state)
    else {
      throw TransferError(
        code: .unsupported,
        message:
          "The receipt of transfer \(id) was written by a newer version. Update the program; "
          + "nothing was changed.")
    }
    var receipt = TransferReceipt(id: id, state: state, date: stored.date, moved: [], pending: [])
    for item in try items(ofReceipt: id) {
      let entry = TransferReceipt.Entry(
        identity: item.identity, placement: .init(place: item.place, digest: item.digest))
      if item.isPending { receipt.pending.append(entry) } else { receipt.moved.append(entry) }
    }
    return receipt
  }

  /// Stores a receipt instead of the current one, and writes only what differs.
  ///
  /// - Throws: ``TransferError`` `.changed` when it does not follow the current one.
  func set(_ receipt: TransferReceipt) throws {
    let current = try transferReceipt(named: receipt.id)
    try receipt.checkFollows(current)
    let entries = receipt.moved + receipt.pending
    let known = (current?.moved ?? []) + (current?.pending ?? [])
    try save(
      StoreReceipt(
        id: receipt.id, version: TransferReceipt.version, state: receipt.state.rawValue,
        date: receipt.date),
      items: entries.enumerated().map { number, entry in
        .init(
          isPending: number >= receipt.moved.count, identity: entry.identity,
          place: entry.placement.place, digest: entry.placement.digest)
      },
      unchanged: zip(entries, known).prefix { $0 == $1 }.count)
  }
}
