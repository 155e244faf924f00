import SteadRecords
import SteadSQLite

/// Writes rows and the links between them. If it throws, the transaction is rolled back.
///
/// In this order: each row gets a number in the destination (a *draft*); links are resolved to
/// these numbers (``GraphRelations``); rows are inserted; pairs and links of existing rows are
/// written; all rows are read back within the transaction. Numbers come first since links may form
/// cycles. Failures are collected in each step, so that a report lists all of them.
final class GraphWriting {
  /// A row that is going to be written.
  struct Draft {
    let form: RowForm
    /// Its number in the destination.
    let number: Int64
    /// Whether it replaces an existing row.
    let replaces: Bool
    /// The values of the shape's columns.
    var cells: [SQLValue]
  }

  /// The transaction.
  let rows: RowTransaction
  /// What is left behind without a failure.
  let options: StoreDestination.Options
  private let batch: ElementBatch<StoredRow>
  /// The rows of the batch.
  private var elements: [StoredRow] { batch.elements }
  /// The forms by the names of their entities.
  private let forms: [String: RowForm]
  /// The rows to write, at the indices of the batch's elements.
  var drafts: [Draft] = []
  /// The failures so far.
  private(set) var failures: [TransferFailure] = []
  /// For the key of each row of the source, the row in the destination: a draft, one that stays
  /// instead, or one of an earlier run.
  private var rowByKey: [StoredRow.Key: GraphRelations.Row] = [:]

  init(
    _ rows: RowTransaction, _ forms: [String: RowForm], _ batch: ElementBatch<StoredRow>,
    _ options: StoreDestination.Options
  ) {
    self.rows = rows
    self.batch = batch
    self.options = options
    self.forms = forms
  }

  /// Writes the batch.
  func run(_ progress: TransferProgress.Report) throws -> WrittenElements {
    try makeDrafts(progress)
    try throwFailures()
    registerKeptRows()
    let relations = GraphRelations(self)
    for (index, element) in elements.enumerated() {
      try relations.add(element, index)
    }
    relations.checkCounts()
    try throwFailures()
    try insert(progress)
    try relations.write()
    return WrittenElements(
      placements: try placements(relations, progress),
      replacedCount: drafts.count { $0.replaces })
  }

  /// Records a failure of an element.
  func fail(_ element: Int, _ reason: String) {
    failures.append(.init(item: name(element), reason: reason))
  }

  /// An element's name in reports.
  private func name(_ element: Int) -> String {
    "\(elements[element].entity) \(elements[element].key.number)"
  }

  /// Throws if there are failures. After each step, since the next one relies on the results.
  private func throwFailures() throws {
    guard !failures.isEmpty else { return }
    throw TransferError(
      code: .notConverted,
      message: "Some rows cannot be records of this container. Nothing was written.",
      failures: failures)
  }

  // MARK: - Rows

  /// Makes a draft of each element.
  private func makeDrafts(_ progress: TransferProgress.Report) throws {
    var next: [String: Int64] = [:]
    var uniqueValues = UniqueValues(rows, batch.rule)
    // All rows are in memory at once, so the tables grow once instead of doubling.
    drafts.reserveCapacity(elements.count)
    rowByKey.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      try TransferStore.reportProgress(.writing, index, of: elements.count, progress)
      guard let form = forms[element.entity] else {
        fail(index, "the container has no such model")
        continue
      }
      for problem in form.unknown(in: element, options) { fail(index, problem) }
      let root = form.shape.root
      var cells: [SQLValue]
      do {
        cells = try self.cells(of: element, form)
      } catch let error as RowProblems {
        fail(index, error.problems.joined(separator: ", "))
        // A placeholder, so that the problems of the other rows are found, too. Nothing is written
        // any more.
        cells = form.shape.columns.map { _ in .null }
      }
      // A replaced row keeps its number, and with it its identifier and the links of other rows to
      // it.
      let replaced = try uniqueValues.row(of: index, cells, form.shape)
      // Looked up once for each hierarchy: the drafts get consecutive numbers.
      let row = try replaced ?? next[root] ?? rows.newNumber(in: form.shape)
      if replaced == nil { next[root] = row + 1 }
      drafts.append(Draft(form: form, number: row, replaces: replaced != nil, cells: cells))
      let target = GraphRelations.Row(number: row, form: form, draft: index)
      // Two rows of one key would make links to them ambiguous.
      if rowByKey.updateValue(target, forKey: element.key)?.draft != nil {
        fail(index, "another row has the same number")
      }
    }
    let conflicts = uniqueValues.conflicts.map { element, occupant in
      ElementConflict(
        element: element, occupant: occupant,
        failure: .init(
          item: name(element), reason: Occupant.reason(ofUniqueValue: occupant)))
    }
    // Failures of conversion are reported first: such a row can't be written whatever its unique
    // values are.
    guard conflicts.isEmpty || !failures.isEmpty else {
      throw TransferError.conflict(ofUniqueValues: conflicts)
    }
  }

  /// Maps the keys of elements that are not written to the rows that stay instead, so that links to
  /// them lead there.
  private func registerKeptRows() {
    for kept in batch.kept {
      switch kept.occupant {
      case .element(let element):
        rowByKey[kept.element.key] = .init(
          number: drafts[element].number, form: drafts[element].form, draft: element)
      case .stored(let location):
        guard let row = RowReferences(location)?.references.first, let form = forms[row.entity]
        else {
          continue
        }
        rowByKey[kept.element.key] = .init(
          number: row.number, form: form, draft: nil, isKept: true)
      }
    }
  }

  /// An element's values in the encodings of the columns; properties without a value get their
  /// defaults.
  private func cells(of element: StoredRow, _ form: RowForm) throws -> [SQLValue] {
    var cells = form.shape.blankValues
    let values = try rows.convert(element.attributes, for: form.shape)
    for (attribute, value) in zip(form.shape.attributes, values) {
      guard let index = form.columnIndices[attribute.name] else { continue }
      // Large values become files now; a rollback removes these again.
      if attribute.isExternal, case .blob(let data) = value {
        cells[index] = try rows.column(forExternal: data)
      } else {
        cells[index] = value
      }
    }
    return cells
  }

  /// Maps the keys of rows that earlier runs have moved, unless they are moved now.
  func registerEarlierRows(of receipt: TransferReceipt) throws {
    // Chunk by chunk: the entries of all runs needn't be in memory at once.
    for range in try rows.receiptChunks(of: receipt.id, from: 0) {
      for entry in try rows.chunk(of: receipt, at: range.lowerBound).entries {
        // Rows that are moved now come first: the source may have given a number to another row.
        guard let key = StoredRow.Key(identity: entry.identity), rowByKey[key] == nil,
          let reference = RowReferences(entry.placement.location)?.references.first,
          let form = forms[reference.entity]
        else { continue }
        rowByKey[key] = .init(number: reference.number, form: form, draft: nil)
      }
    }
  }

  /// The row of the destination for a key of the source; nil if the row isn't moved now and wasn't
  /// earlier, or was deleted since.
  func row(for key: StoredRow.Key) throws -> GraphRelations.Row? {
    guard let row = rowByKey[key] else { return nil }
    if row.draft == nil, try !rows.contains(row.number, in: row.form.shape) { return nil }
    return row
  }

  /// Inserts or updates the drafts' rows.
  private func insert(_ progress: TransferProgress.Report) throws {
    for (index, draft) in drafts.enumerated() {
      try TransferStore.reportProgress(.writing, index, of: drafts.count, progress)
      do {
        if draft.replaces {
          try rows.update(draft.cells, of: draft.number, in: draft.form.shape)
        } else {
          try rows.insert(draft.cells, as: draft.number, of: draft.form.shape)
        }
      } catch let error as SwiftDataError where error == .modelValidationFailure {
        // Only a unique constraint over a relationship gets here: its columns were unknown when
        // unique values were compared.
        var failure = TransferFailure(
          item: name(index), reason: "a record or another item has its unique value already")
        failure.cause = error
        throw TransferError.conflict(
          ofUniqueValues: [.init(element: index, failure: failure)])
      }
    }
  }

  // MARK: - Placements

  /// Reads the rows back within the transaction, and returns their placements.
  ///
  /// This finds what the database changed (a trigger, an affinity) while a rollback is still
  /// possible. Verification after the commit is against the disk.
  private func placements(
    _ relations: GraphRelations, _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    var placements: [TransferPlacement] = []
    placements.reserveCapacity(drafts.count)
    for (index, draft) in drafts.enumerated() {
      try TransferStore.reportProgress(.writing, index, of: drafts.count, progress)
      let shape = draft.form.shape
      let references = RowReferences([(shape.name, draft.number)])
      // External files were written by this transaction, so they need not be read again.
      let found = try references.digest(in: rows, checksFiles: false)
      // A replaced row has pairs and positions of its own, which weren't computed here. So what was
      // found is recorded.
      let wanted =
        draft.replaces
        ? found
        : RowContent(
          shape, draft.number, values: draft.cells, pairs: relations.pairs(of: draft)
        ).digest
      guard let wanted, found == wanted else {
        fail(index, "its row has other values")
        throw TransferError(
          code: .notVerified,
          message:
            "The store does not hold what was written. Nothing was kept; check the disk, and "
            + "run again.", failures: failures)
      }
      placements.append(TransferPlacement(location: references.text, digest: wanted))
    }
    return placements
  }
}

// MARK: - Unique values

/// Finds the rows and elements that have the unique values of elements.
///
/// Elements are added in order. With the rule `.replace` an element takes the values of earlier
/// elements, which are then not written.
struct UniqueValues {
  /// The values of a unique constraint.
  private struct Key: Hashable {
    let root: String
    let columns: [String]
    let values: [SQLValue]
  }

  /// The transaction, in which existing rows are looked up.
  private let rows: RowTransaction
  /// What becomes of an element whose unique values are taken.
  private let rule: TransferOptions.ConflictRule
  /// The element that has each unique value.
  private var claimed: [Key: Int] = [:]
  /// For each element that isn't written, what has its place; nil if it has no single occupant.
  private var occupants: [Int: Occupant?] = [:]

  init(_ rows: RowTransaction, _ rule: TransferOptions.ConflictRule) {
    self.rows = rows
    self.rule = rule
  }

  /// The elements that are not written, in order, and what has their places.
  var conflicts: [(element: Int, occupant: Occupant?)] {
    occupants.sorted { $0.key < $1.key }.map { ($0.key, last($0.value)) }
  }

  /// The final occupant: of elements that replace each other, the last one.
  private func last(_ occupant: Occupant?) -> Occupant? {
    guard case .element(let element)? = occupant, let next = occupants[element] else {
      return occupant
    }
    return last(next)
  }

  /// The existing row that an element replaces; nil if its values are new, or if it isn't written.
  mutating func row(of element: Int, _ cells: [SQLValue], _ shape: RowShape) throws -> Int64? {
    var stored: Set<Int64> = []
    var earlier: Set<Int> = []
    var keys: [Key] = []
    for columns in shape.uniqueness {
      let key = Key(
        root: shape.root, columns: columns.map { shape.columns[$0] },
        values: columns.map { cells[$0] })
      // As in SQL, NULL equals nothing.
      if key.values.contains(.null) { continue }
      keys.append(key)
      if let other = claimed[key] { earlier.insert(other) }
      if let row = try rows.row(with: key.values, in: key.columns, of: shape) { stored.insert(row) }
    }
    if stored.isEmpty, earlier.isEmpty {
      for key in keys { claimed[key] = element }
      return nil
    }
    // An element can't replace two rows, nor a row of another class, which has other properties.
    let isOne = stored.count + (stored.isEmpty ? earlier.count : 0) == 1
    guard isOne, try stored.allSatisfy({ try rows.contains($0, in: shape) }) else {
      occupants[element] = .some(nil)
      return nil
    }
    guard rule == .replace else {
      occupants[element] =
        earlier.first.map { .element($0) }
        ?? stored.first.map { .stored(RowReferences([(shape.name, $0)]).text) }
      return nil
    }
    // The earlier elements give way, as they would if they were saved one after the other.
    for other in earlier { occupants[other] = .element(element) }
    for key in keys { claimed[key] = element }
    return stored.first
  }
}
