public import SteadRecords

extension TransferDestination where Element == StoredRow {
  /// Rows of another store as records: each becomes a record of the model with its entity's name.
  ///
  /// Attributes go to the properties of the same name (or `originalName`), converted to their
  /// encodings; a value that would be changed by that is a failure of its row. A property that the
  /// row has no value of gets its default value; if it has none and is required, the row fails.
  /// Relationships are set after all rows have their numbers, each link once, whichever side states
  /// it, in its order.
  ///
  /// Everything is one transaction with the receipt. A record with the same `.unique` value is a
  /// ``TransferError/Code/conflict``, and nothing is written then, unless the transfer's options
  /// say otherwise. Relationships may lead to rows that an earlier run of the same transfer has
  /// moved. Costs some 20 µs a row, and memory for all rows at once.
  ///
  /// - Parameters:
  ///   - container: The container that is written to. It must have one store.
  ///   - dropsUnknownProperties: Whether attributes and relationships that the model doesn't have
  ///     are left behind. Otherwise a row with a value in one of them fails.
  ///   - dropsMissingDestinations: Whether a relationship to a row that isn't moved becomes nil.
  ///     Otherwise nothing is written.
  public static func store(
    _ container: ModelContainer, dropsUnknownProperties: Bool = false,
    dropsMissingDestinations: Bool = false
  ) -> Self {
    var options = StoreDestination.Options()
    options.dropsUnknownProperties = dropsUnknownProperties
    options.dropsMissingDestinations = dropsMissingDestinations
    return Self(StoreDestination(container, options: options))
  }
}

/// The records of a container as the destination of rows.
struct StoreDestination: ItemDestination {
  /// What is left behind without a failure.
  struct Options: Sendable, Hashable {
    /// Whether attributes and relationships that the model doesn't have are left behind.
    var dropsUnknownProperties = false
    /// Whether a relationship to a row that isn't moved becomes nil.
    var dropsMissingDestinations = false

    /// Nothing is left behind.
    init() {}
  }

  /// The container that is written to; it has one store.
  let container: ModelContainer
  /// What is left behind without a failure.
  let options: Options
  /// The store, or why it can't be a destination.
  let opened: Result<TransferStore, TransferError>
  /// The forms of all entities, by name.
  private let forms: [String: RowForm]

  /// A destination in a container that has one store.
  init(_ container: ModelContainer, options: Options = Options()) {
    self.container = container
    self.options = options
    opened = TransferStore.opened(container, holding: nil)
    // Without a store there are no forms; each call throws the error.
    forms = ((try? opened.get())?.rows.shapes ?? [:]).mapValues { RowForm($0) }
  }

  /// `records of` and the first models of the container.
  var name: String {
    // A container may have dozens of models, and the name is part of each message.
    let names = container.schema.entities.map(\.name)
    let named = names.prefix(Self.namedModelLimit).joined(separator: ", ")
    return "records of \(named)\(names.count > Self.namedModelLimit ? ", ..." : "")"
  }
  /// The number of models in ``name``.
  static let namedModelLimit = 3

  /// Throws unless a record can be made of a row. Writes nothing.
  ///
  /// Whether the rows that it refers to are moved, too, is known only when all are written.
  ///
  /// - Throws: ``TransferError`` with the properties that don't fit.
  func check(_ row: StoredRow) throws {
    let store = try opened.get()
    let problems = try store.mappingErrors("read") {
      try store.rows.read { rows in
        guard let form = forms[row.entity] else { return ["the container has no such model"] }
        return try form.problems(of: row, options, rows)
      }
    }
    guard !problems.isEmpty else { return }
    throw TransferError(
      code: .notConverted,
      message:
        "\(row.entity): \(problems.joined(separator: "; ")). Rename or convert these values, "
        + "give the model's properties default values, or leave the row where it is.")
  }

  /// The receipt of a transfer, which is in the store itself.
  func receipt(named id: String) throws -> TransferReceipt? {
    try opened.get().receipt(named: id)
  }

  /// The chunk of a receipt's entries that begins at an index.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    try opened.get().chunk(of: receipt, at: index)
  }

  /// Writes rows, their links and the receipt in one transaction, durably.
  func write(
    _ batch: ElementBatch<StoredRow>, _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report, entries: (WrittenElements) throws -> ReceiptChunk
  ) throws {
    let store = try opened.get()
    try store.mappingErrors("written") {
      try store.rows.write { rows in
        let writing = GraphWriting(rows, forms, batch, options)
        // In the same transaction, so that a row that is deleted now isn't linked to.
        try writing.registerEarlierRows(of: receipt)
        let written = try writing.run(progress)
        try rows.set(receipt, adding: entries(written))
      }
    }
    let count = batch.elements.count
    try progress(.init(phase: .writing, completed: count, total: count))
  }

  /// Writes in a transaction that is rolled back: conflicts depend on indexes and converted values,
  /// so only a write finds all of them.
  func checkConflicts(_ batch: ElementBatch<StoredRow>) throws -> Int {
    let store = try opened.get()
    var replacedCount = 0
    do {
      try store.mappingErrors("read") {
        try store.rows.write { rows in
          replacedCount = try GraphWriting(rows, forms, batch, options).run { _ in }.replacedCount
          throw TransferStore.Rollback()
        }
      }
    } catch is TransferStore.Rollback {
      // Rows that earlier runs have moved aren't known here, so links to them seem to be broken. The
      // run finds out what is wrong.
    } catch let error as TransferError where error.code != .conflict {
      // Rows that earlier runs have moved are not known here; the run tells what is wrong.
    }
    return replacedCount
  }

  /// Compares the rows, read by a connection of their own, with the placements' digests.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try opened.get().verify(placements, progress)
  }

  /// Replaces the stored receipt by its successor.
  func replace(_ receipt: TransferReceipt) throws { try opened.get().replace(receipt) }
}

// MARK: - Forms of rows

/// How rows of one entity are written; prepared once for all rows.
final class RowForm: Sendable {
  /// The columns and properties of the entity.
  let shape: RowShape
  /// The index of each column among the shape's.
  let columnIndices: [String: Int]
  /// The relationships by their names and their original names.
  let relationships: [String: RowShape.Relationship]
  /// The names of the attributes, original names included.
  private let attributes: Set<String>

  init(_ shape: RowShape) {
    self.shape = shape
    columnIndices = Dictionary(uniqueKeysWithValues: zip(shape.columns, 0...))
    attributes = Set(shape.attributes.flatMap { [$0.name, $0.originalName] })
    let known = shape.relationships
    // Names come first: another relationship may have one of them as its original name.
    relationships = Dictionary(
      known.map { ($0.name, $0) } + known.map { ($0.originalName, $0) }
    ) { first, _ in first }
  }

  /// What prevents a row from becoming a record, by itself.
  func problems(
    of row: StoredRow, _ options: StoreDestination.Options, _ rows: RowTransaction
  ) throws -> [String] {
    var problems = unknown(in: row, options)
    do {
      _ = try rows.convert(row.attributes, for: shape)
    } catch let error as RowProblems {
      problems += error.problems
    }
    return problems
  }

  /// The properties that the row has values of and the model doesn't have.
  func unknown(
    in row: StoredRow, _ options: StoreDestination.Options
  ) -> [String] {
    if options.dropsUnknownProperties { return [] }
    // NULL loses nothing.
    let values = row.attributes.filter { $0.value != .null && !attributes.contains($0.key) }
    let targets = row.relationships.filter { !$0.value.isEmpty && relationships[$0.key] == nil }
    return (Array(values.keys) + Array(targets.keys)).sorted().map { "the model has no \($0)" }
  }
}
