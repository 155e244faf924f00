import SteadRecords

/// Deletes rows that still have the moved values.
struct StoreRemoval {
  private let rows: RowTransaction
  private let shapes: [RowShape]

  init(_ rows: RowTransaction, _ entities: Set<String>?) {
    self.rows = rows
    shapes = StoreReading(rows, entities).shapes
  }

  /// Returns how many rows were deleted.
  func run(_ identities: [String]) throws -> Int {
    let found = try unchanged(identities)
    guard !found.isEmpty else { return 0 }
    do {
      try rows.remove(found)
    } catch let error as RowLosses {
      throw TransferError(
        code: .conflict,
        message: "Rows that stay would lose rows that they refer to, so none was removed from the "
          + "store. Move these, too, or keep the source.",
        failures: error.losses.map {
          .init(
            item: "\($0.entity) \($0.number)",
            reason: "it or what \($0.relationship) leads to stays in the store")
        })
    }
    return found.count
  }

  /// The rows whose contents match their identities.
  private func unchanged(_ identities: [String]) throws -> [(shape: RowShape, number: Int64)] {
    var byRoot: [String: [RowShape]] = [:]
    for shape in shapes { byRoot[shape.root, default: []].append(shape) }
    return try Set(identities).sorted().compactMap { identity in
      guard let key = StoredRow.Key(identity: identity) else { return nil }
      for shape in byRoot[key.root] ?? [] {
        guard let content = try rows.content(of: shape, key.number) else { continue }
        return key.identity(digest: content.digest) == identity ? (shape, key.number) : nil
      }
      return nil
    }
  }
}
