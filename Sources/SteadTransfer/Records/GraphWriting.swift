import SteadRecords
import SteadSQLite

/// Writes rows and what leads from one to another: all of it, or by throwing nothing.
final class GraphWriting {
  /// A row to be inserted.
  struct Draft {
    let form: RowForm
    let number: Int64
    /// The values of the form's columns.
    var cells: [SQLValue]
  }

  let rows: RowTransaction
  let options: StoreDestination.Options
  private let elements: [StoredRow]
  private let forms: [String: RowForm]
  var drafts: [Draft] = []
  private(set) var failures: [TransferFailure] = []
  /// Where each row of the source is, or will be.
  private var rowByKey: [StoredRow.Key: GraphRelations.Row] = [:]

  init(
    _ rows: RowTransaction, _ forms: [String: RowForm], _ elements: [StoredRow],
    _ options: StoreDestination.Options
  ) {
    self.rows = rows
    self.elements = elements
    self.options = options
    self.forms = forms
  }

  func run(_ progress: TransferProgress.Report) throws -> [TransferPlacement] {
    try makeDrafts(progress)
    try throwFailures()
    let relations = GraphRelations(self)
    for (number, element) in elements.enumerated() {
      try relations.add(element, number)
    }
    relations.finish()
    try throwFailures()
    try insert(progress)
    try relations.write()
    return try placements(relations, progress)
  }

  func fail(_ number: Int, _ reason: String) {
    failures.append(
      .init(item: "\(elements[number].entity) \(elements[number].key.number)", reason: reason))
  }

  private func throwFailures() throws {
    guard !failures.isEmpty else { return }
    throw TransferError(
      code: .notConverted,
      message: "Some rows cannot be records of this container. Nothing was written.",
      failures: failures)
  }

  // MARK: Rows

  private func makeDrafts(_ progress: TransferProgress.Report) throws {
    var next: [String: Int64] = [:]
    drafts.reserveCapacity(elements.count)
    rowByKey.reserveCapacity(elements.count)
    for (number, element) in elements.enumerated() {
      try TransferStore.report(.writing, number, of: elements.count, progress)
      guard let form = forms[element.entity] else {
        fail(number, "the container has no such model")
        continue
      }
      for problem in form.unknown(in: element, options) { fail(number, problem) }
      let root = form.shape.root
      let row = try next[root] ?? rows.newNumber(in: form.shape)
      next[root] = row + 1
      let place = GraphRelations.Row(number: row, form: form, draft: drafts.count)
      if rowByKey.updateValue(place, forKey: element.key)?.draft != nil {
        fail(number, "another row has the same number")
      }
      do {
        drafts.append(
          Draft(form: form, number: row, cells: try cells(of: element, form)))
      } catch let error as RowProblems {
        fail(number, error.problems.joined(separator: ", "))
        // The others' problems are told, too; nothing is written any more.
        drafts.append(
          Draft(form: form, number: row, cells: form.shape.columns.map { _ in .null }))
      }
    }
  }

  private func cells(of element: StoredRow, _ form: RowForm) throws -> [SQLValue] {
    var cells = form.shape.blankValues
    let values = try rows.convert(element.attributes, for: form.shape)
    for (attribute, value) in zip(form.shape.attributes, values) {
      guard let place = form.columnIndices[attribute.name] else { continue }
      if attribute.isExternal, case .blob(let data) = value {
        cells[place] = try rows.column(forExternal: data)
      } else {
        cells[place] = value
      }
    }
    return cells
  }

  /// Notes where the rows are that earlier runs have moved. Rows that are moved now come first.
  func noteEarlierRows(of receipt: TransferReceipt) throws {
    for range in try rows.receiptChunks(of: receipt.id, from: 0) {
      for entry in try rows.chunk(of: receipt, at: range.lowerBound).entries {
        guard let key = StoredRow.Key(identity: entry.identity), rowByKey[key] == nil,
          let place = RowReferences(entry.placement.place)?.references.first,
          let form = forms[place.entity]
        else { continue }
        rowByKey[key] = .init(number: place.number, form: form, draft: nil)
      }
    }
  }

  /// Where a row of the source is; nil when it is neither moved now nor, still there, earlier.
  func place(of key: StoredRow.Key) throws -> GraphRelations.Row? {
    guard let row = rowByKey[key] else { return nil }
    if row.draft == nil, try !rows.contains(row.number, in: row.form.shape) { return nil }
    return row
  }

  private func insert(_ progress: TransferProgress.Report) throws {
    for (number, draft) in drafts.enumerated() {
      try TransferStore.report(.writing, number, of: drafts.count, progress)
      do {
        try rows.insert(draft.cells, as: draft.number, of: draft.form.shape)
      } catch let error as SwiftDataError where error == .modelValidationFailure {
        fail(number, "a record has its unique value already")
        var conflict = TransferError.conflict(
          "A record with the same unique value is there. Nothing was written; leave the row out by "
            + "the transfer's options, or delete the record.", failures.map { (number, $0) })
        conflict.cause = error
        throw conflict
      }
    }
  }

  // MARK: Placements

  private func placements(
    _ relations: GraphRelations, _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    var placements: [TransferPlacement] = []
    placements.reserveCapacity(drafts.count)
    for (number, draft) in drafts.enumerated() {
      try TransferStore.report(.writing, number, of: drafts.count, progress)
      let shape = draft.form.shape
      let wanted = RowContent(
        shape, draft.number, values: draft.cells, pairs: relations.pairs(of: draft)
      ).digest
      let references = RowReferences([(shape.name, draft.number)])
      guard try references.digest(in: rows, checksFiles: false) == wanted else {
        fail(number, "its row has other values")
        throw TransferError(
          code: .notVerified,
          message:
            "The store does not hold what was written. Nothing was kept; check the disk, and "
            + "run again.", failures: failures)
      }
      placements.append(TransferPlacement(place: references.text, digest: wanted))
    }
    return placements
  }
}
