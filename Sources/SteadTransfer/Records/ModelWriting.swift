import SteadRecords

/// One save of new objects together with more work, such as writing a receipt.
struct ModelWriting {
  private let store: TransferStore
  private let elements: [any PersistentModel]

  init(_ store: TransferStore, _ elements: [any PersistentModel]) {
    self.store = store
    self.elements = elements
  }

  /// Writes the objects, then hands their placements over in the same transaction.
  func run(
    _ progress: TransferProgress.Report,
    _ finish: (RowTransaction, [TransferPlacement]) throws -> Void
  ) throws {
    do {
      let batch = try ObjectBatch(elements, in: store.rows)
      try batch.save { rows in
        var placements: [TransferPlacement] = []
        placements.reserveCapacity(batch.groups.count)
        for (number, group) in batch.groups.enumerated() {
          try TransferStore.report(.writing, number, of: batch.groups.count, progress)
          placements.append(try Self.placement(of: group, number, rows))
        }
        try finish(rows, placements)
      }
    } catch let refusal as ObjectBatch.Refusal {
      throw Self.error(refusal)
    }
  }

  private static func error(_ refusal: ObjectBatch.Refusal) -> TransferError {
    func failures(_ numbers: [Int], _ reason: String) -> [TransferFailure] {
      numbers.map { .init(item: "object \($0)", reason: reason) }
    }
    return switch refusal {
    case .notNew(let numbers):
      TransferError(
        code: .unsupported,
        message: "The conversion must make a new object for each item, and insert it nowhere.",
        failures: failures(numbers, "it belongs to a context already"))
    case .elsewhere:
      TransferError(
        code: .unsupported,
        message: "The conversion made objects of several stores, of models that the container does "
          + "not have, or that lead to objects of a context. Move each store's by itself, name all "
          + "models when the container is made, and make new objects for relationships.")
    case .taken(let numbers):
      .conflict(
        "Records with the same unique values exist. Nothing was written; leave these items out by the "
          + "transfer's options, give them other values, or delete the records.",
        Array(zip(numbers, failures(numbers, "a record has its unique value already"))))
    }
  }

  private static func placement(
    of group: [any PersistentModel], _ number: Int, _ rows: RowTransaction
  ) throws -> TransferPlacement {
    let contents = try group.map { model in
      guard let content = try rows.content(of: model) else { throw notWritten(number) }
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
