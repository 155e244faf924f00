import SteadRecords

/// One save of new objects together with more work, such as writing a receipt.
struct ModelWriting {
  private let store: TransferStore
  private let elements: [any PersistentModel]
  private let rule: ObjectBatch.Rule

  init(
    _ store: TransferStore, _ elements: [any PersistentModel], _ rule: TransferOptions.ConflictRule
  ) {
    self.store = store
    self.elements = elements
    self.rule =
      switch rule {
      case .replace: .replace
      case .keepExisting: .keep
      default: .refuse
      }
  }

  /// Writes the objects, then hands their placements over in the same transaction, and the rows that are not
  /// one object's alone.
  func run(
    _ progress: TransferProgress.Report,
    _ finish: (RowTransaction, WrittenElements, SharedRows) throws -> Void
  ) throws {
    do {
      let batch = try ObjectBatch(elements, in: store.rows)
      try batch.save(rule) { rows, shared in
        var written = WrittenElements(placements: [], replacedCount: shared.objectCount)
        written.placements.reserveCapacity(batch.groups.count)
        for (number, group) in batch.groups.enumerated() {
          try TransferStore.report(.writing, number, of: batch.groups.count, progress)
          written.placements.append(try Self.placement(of: group, number, rows, shared))
        }
        try finish(rows, written, shared)
      }
    } catch let refusal as ObjectBatch.Refusal {
      throw Self.error(refusal)
    }
  }

  private static func error(_ refusal: ObjectBatch.Refusal) -> TransferError {
    func failure(_ number: Int, _ reason: String) -> TransferFailure {
      .init(item: "object \(number)", reason: reason)
    }
    return switch refusal {
    case .notNew(let numbers):
      TransferError(
        code: .unsupported,
        message: "The conversion must make a new object for each item, and insert it nowhere.",
        failures: numbers.map { failure($0, "it belongs to a context already") })
    case .elsewhere:
      TransferError(
        code: .unsupported,
        message: "The conversion made objects of several stores, of models that the container does "
          + "not have, or that lead to objects of a context. Move each store's by itself, name all "
          + "models when the container is made, and make new objects for relationships.")
    case .taken(let taken):
      .conflict(
        ofUniqueValues: taken.map { taken in
          let holder = holder(of: taken)
          return PlaceConflict(
            element: taken.index, holder: holder,
            failure: failure(
              taken.index,
              taken.row == nil
                ? "a record or another item has the unique value of an object that it leads to"
                : PlaceHolder.reason(ofUniqueValue: holder)))
        })
    }
  }

  private static func holder(of taken: ObjectBatch.Taken) -> PlaceHolder? {
    taken.holder.map { .element($0) } ?? taken.row.map { .stored(RowReferences([$0]).text) }
  }

  private static func placement(
    of group: [any PersistentModel], _ number: Int, _ rows: RowTransaction, _ shared: SharedRows
  ) throws -> TransferPlacement {
    let contents = try group.map { model in
      let content =
        try shared.contains(model, in: rows.rows)
        ? rows.sharedContent(of: model) : rows.content(of: model)
      guard let content else { throw notWritten(number) }
      return content
    }
    let references = RowReferences(contents.map { ($0.shape.name, $0.number) })
    return TransferPlacement(
      place: references.text, digest: RowReferences.joined(contents.map(\.digest)))
  }

  private static func notWritten(_ number: Int) -> TransferError {
    TransferError(
      code: .notVerified,
      message:
        "The store does not hold what was written. Nothing was kept; check the disk, and run "
        + "again.",
      failures: [.init(item: "object \(number)", reason: "its row has other values")])
  }
}
