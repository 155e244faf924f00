import SteadRecords
import SteadSQLite

/// Writes rows and what leads from one to another: all of it, or by throwing nothing.
final class GraphWriting {
  /// A row to be inserted.
  struct Draft {
    let form: RowForm
    let number: Int64
    /// Whether it is written over a row that is there.
    let replaces: Bool
    /// The values of the form's columns.
    var cells: [SQLValue]
  }

  let rows: RowTransaction
  let options: StoreDestination.Options
  private let batch: ElementBatch<StoredRow>
  private var elements: [StoredRow] { batch.elements }
  private let forms: [String: RowForm]
  var drafts: [Draft] = []
  private(set) var failures: [TransferFailure] = []
  /// Where each row of the source is, or will be.
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

  func run(_ progress: TransferProgress.Report) throws -> WrittenElements {
    try makeDrafts(progress)
    try throwFailures()
    registerKeptRows()
    let relations = GraphRelations(self)
    for (number, element) in elements.enumerated() {
      try relations.add(element, number)
    }
    relations.checkCounts()
    try throwFailures()
    try insert(progress)
    try relations.write()
    return WrittenElements(
      placements: try placements(relations, progress),
      replacedCount: drafts.count { $0.replaces })
  }

  func fail(_ number: Int, _ reason: String) {
    failures.append(.init(item: name(number), reason: reason))
  }

  private func name(_ number: Int) -> String {
    "\(elements[number].entity) \(elements[number].key.number)"
  }

  private func throwFailures() throws {
    guard !failures.isEmpty else { return }
    throw TransferError(
      code: .notConverted,
      message: "Some rows cannot be records of this container. Nothing was written.",
      failures: failures)
  }

  // MARK: - Rows

  private func makeDrafts(_ progress: TransferProgress.Report) throws {
    var next: [String: Int64] = [:]
    var uniqueValues = UniqueValues(rows, batch.rule)
    drafts.reserveCapacity(elements.count)
    rowByKey.reserveCapacity(elements.count)
    for (number, element) in elements.enumerated() {
      try TransferStore.reportProgress(.writing, number, of: elements.count, progress)
      guard let form = forms[element.entity] else {
        fail(number, "the container has no such model")
        continue
      }
      for problem in form.unknown(in: element, options) { fail(number, problem) }
      let root = form.shape.root
      var cells: [SQLValue]
      do {
        cells = try self.cells(of: element, form)
      } catch let error as RowProblems {
        fail(number, error.problems.joined(separator: ", "))
        // The others' problems are told, too; nothing is written any more.
        cells = form.shape.columns.map { _ in .null }
      }
      let replaced = try uniqueValues.row(of: number, cells, form.shape)
      let row = try replaced ?? next[root] ?? rows.newNumber(in: form.shape)
      if replaced == nil { next[root] = row + 1 }
      drafts.append(Draft(form: form, number: row, replaces: replaced != nil, cells: cells))
      let target = GraphRelations.Row(number: row, form: form, draft: number)
      if rowByKey.updateValue(target, forKey: element.key)?.draft != nil {
        fail(number, "another row has the same number")
      }
    }
    let conflicts = uniqueValues.conflicts.map { element, occupant in
      ElementConflict(
        element: element, occupant: occupant,
        failure: .init(
          item: name(element), reason: Occupant.reason(ofUniqueValue: occupant)))
    }
    guard conflicts.isEmpty || !failures.isEmpty else {
      throw TransferError.conflict(ofUniqueValues: conflicts)
    }
  }

  /// Notes which rows stand for those that are not written.
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

  private func cells(of element: StoredRow, _ form: RowForm) throws -> [SQLValue] {
    var cells = form.shape.blankValues
    let values = try rows.convert(element.attributes, for: form.shape)
    for (attribute, value) in zip(form.shape.attributes, values) {
      guard let index = form.columnIndices[attribute.name] else { continue }
      if attribute.isExternal, case .blob(let data) = value {
        cells[index] = try rows.column(forExternal: data)
      } else {
        cells[index] = value
      }
    }
    return cells
  }

  /// Notes where the rows are that earlier runs have moved. Rows that are moved now come first.
  func registerEarlierRows(of receipt: TransferReceipt) throws {
    for range in try rows.receiptChunks(of: receipt.id, from: 0) {
      for entry in try rows.chunk(of: receipt, at: range.lowerBound).entries {
        guard let key = StoredRow.Key(identity: entry.identity), rowByKey[key] == nil,
          let reference = RowReferences(entry.placement.location)?.references.first,
          let form = forms[reference.entity]
        else { continue }
        rowByKey[key] = .init(number: reference.number, form: form, draft: nil)
      }
    }
  }

  /// Where a row of the source is; nil when it is neither moved now nor, still there, earlier.
  func row(for key: StoredRow.Key) throws -> GraphRelations.Row? {
    guard let row = rowByKey[key] else { return nil }
    if row.draft == nil, try !rows.contains(row.number, in: row.form.shape) { return nil }
    return row
  }

  private func insert(_ progress: TransferProgress.Report) throws {
    for (number, draft) in drafts.enumerated() {
      try TransferStore.reportProgress(.writing, number, of: drafts.count, progress)
      do {
        if draft.replaces {
          try rows.update(draft.cells, of: draft.number, in: draft.form.shape)
        } else {
          try rows.insert(draft.cells, as: draft.number, of: draft.form.shape)
        }
      } catch let error as SwiftDataError where error == .modelValidationFailure {
        // A unique value that is made of where relationships lead.
        var failure = TransferFailure(
          item: name(number), reason: "a record or another item has its unique value already")
        failure.cause = error
        throw TransferError.conflict(
          ofUniqueValues: [.init(element: number, failure: failure)])
      }
    }
  }

  // MARK: - Placements

  private func placements(
    _ relations: GraphRelations, _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    var placements: [TransferPlacement] = []
    placements.reserveCapacity(drafts.count)
    for (number, draft) in drafts.enumerated() {
      try TransferStore.reportProgress(.writing, number, of: drafts.count, progress)
      let shape = draft.form.shape
      let references = RowReferences([(shape.name, draft.number)])
      let found = try references.digest(in: rows, checksFiles: false)
      // A row that was there has pairs and places of its own.
      let wanted =
        draft.replaces
        ? found
        : RowContent(
          shape, draft.number, values: draft.cells, pairs: relations.pairs(of: draft)
        ).digest
      guard let wanted, found == wanted else {
        fail(number, "its row has other values")
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

/// Finds which rows have the unique values of rows that are to be written.
struct UniqueValues {
  private struct Key: Hashable {
    let root: String
    let columns: [String]
    let values: [SQLValue]
  }

  private let rows: RowTransaction
  private let rule: TransferOptions.ConflictRule
  /// The elements that have claimed values.
  private var claimed: [Key: Int] = [:]
  private var occupants: [Int: Occupant?] = [:]

  init(_ rows: RowTransaction, _ rule: TransferOptions.ConflictRule) {
    self.rows = rows
    self.rule = rule
  }

  /// The elements that are not to be written, in their order, and what has their places.
  var conflicts: [(element: Int, occupant: Occupant?)] {
    occupants.sorted { $0.key < $1.key }.map { ($0.key, last($0.value)) }
  }

  /// What an element's place has in the end: of several elements that replace each other, the last.
  private func last(_ occupant: Occupant?) -> Occupant? {
    guard case .element(let element)? = occupant, let next = occupants[element] else {
      return occupant
    }
    return last(next)
  }

  /// The row that an element is to be written over; nil where its values are new.
  mutating func row(of element: Int, _ cells: [SQLValue], _ shape: RowShape) throws -> Int64? {
    var stored: Set<Int64> = []
    var earlier: Set<Int> = []
    var keys: [Key] = []
    for columns in shape.uniqueness {
      let key = Key(
        root: shape.root, columns: columns.map { shape.columns[$0] },
        values: columns.map { cells[$0] })
      // As in SQL, nothing is equal to nil.
      if key.values.contains(.null) { continue }
      keys.append(key)
      if let other = claimed[key] { earlier.insert(other) }
      if let row = try rows.row(with: key.values, in: key.columns, of: shape) { stored.insert(row) }
    }
    if stored.isEmpty, earlier.isEmpty {
      for key in keys { claimed[key] = element }
      return nil
    }
    // One element cannot stand for two rows, nor for a row of another class.
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
    for other in earlier { occupants[other] = .element(element) }
    for key in keys { claimed[key] = element }
    return stored.first
  }
}
