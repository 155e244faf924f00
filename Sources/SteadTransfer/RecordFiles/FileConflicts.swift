import SteadEncoding
import SteadRecords
import SteadSQLite

/// Checks the records of a batch of files for conflicts.
struct FileConflicts<Model: PersistentModel> {
  /// The new objects.
  let models: [Model]
  /// For each of these, the index of its element in the batch.
  let elements: [Int]
  /// The elements of the batch, those of existing records included.
  private let batch: ElementBatch<RecordFile<Model>>
  /// The store of the records.
  private let store: TransferStore
  /// The name of the property with the path.
  private let property: String
  /// The folder with which paths begin.
  private let folder: String

  init(
    _ batch: ElementBatch<RecordFile<Model>>, _ store: TransferStore, _ property: String,
    _ folder: String
  ) {
    let new = batch.elements.enumerated().compactMap { index, element in
      if case .new(let model) = element.record { (index, model) } else { nil }
    }
    elements = new.map(\.0)
    models = new.map(\.1)
    self.batch = batch
    self.store = store
    self.property = property
    self.folder = folder
  }

  /// Checks the existing records.
  ///
  /// - Returns: How many have another path, which is going to be replaced.
  /// - Throws: ``TransferError/Code/conflict`` with the records that no longer exist, or have
  ///   another path that stays.
  func checkRecords(_ rows: RowTransaction) throws -> Int {
    var conflicts: [ElementConflict] = []
    var replacedCount = 0
    for (index, element) in batch.elements.enumerated() {
      guard case .stored(let identifier) = element.record,
        let row = store.rows.place(of: identifier), let shape = rows.rows.shapes[row.entity]
      else { continue }
      func conflict(_ occupant: Occupant?, _ reason: String) {
        let name = "\(row.entity) \(row.number)"
        conflicts.append(
          .init(element: index, occupant: occupant, failure: .init(item: name, reason: reason)))
      }
      // A deleted record can't be kept instead, so it has no occupant.
      guard try rows.contains(row.number, in: shape) else {
        conflict(nil, "the record is gone")
        continue
      }
      // A path that this package gives to the same bytes was set by a run that was interrupted
      // after its commit, or is what this one would set.
      guard case .text(let path)? = try rows.value(of: property, in: shape, row.number),
        !path.isEmpty, !isPath(path, of: element)
      else { continue }
      if batch.rule == .replace {
        replacedCount += 1
      } else {
        conflict(.stored(RowReferences([row]).text), "\(property) holds something else")
      }
    }
    guard conflicts.isEmpty else {
      throw TransferError.conflict(
        "Records are gone, or have the paths of other files. No record was changed; say in the transfer's options "
          + "what becomes of these items, or clear \(property).", conflicts)
    }
    return replacedCount
  }

  /// Whether a path is one that this package gives to the same bytes: then an earlier run was
  /// interrupted.
  private func isPath(_ path: String, of element: RecordFile<Model>) -> Bool {
    // The folder and the slash after it.
    let name = folder.isEmpty ? path[...] : path.dropFirst(folder.count + 1)
    return path.hasPrefix(folder) && name.hasPrefix(SHA256.hexadecimal(element.data))
  }

  /// Throws if two new objects became one record, as with the rule `.replace`: a record has one
  /// file, that of the last one. The conflicts have the indices of the objects.
  func checkDuplicates(_ placements: [TransferPlacement]) throws {
    var last: [String: Int] = [:]
    for (model, placement) in placements.enumerated() { last[rowText(placement)] = model }
    let conflicts = placements.enumerated().compactMap { model, placement -> ElementConflict? in
      guard let other = last[rowText(placement)], other != model else { return nil }
      return ElementConflict(
        element: model, occupant: .element(other),
        failure: .init(item: "file \(elements[model])", reason: "its record has another file"))
    }
    guard !conflicts.isEmpty else { return }
    throw TransferError.conflict(
      "Several files belong to one record. Nothing was written.", conflicts)
  }

  /// The row of a placement's object, without those of the objects that it leads to.
  private func rowText(_ placement: TransferPlacement) -> String {
    RowReferences(placement.location)?.references.first.map { RowReferences([$0]).text } ?? ""
  }

  /// Maps conflicts from the indices of the new objects to those of the elements.
  func mappingConflicts<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch var error as TransferError
      where error.code == .conflict && batch.elements.count > models.count
    {
      for index in error.conflicts.indices {
        error.conflicts[index].element = elements[error.conflicts[index].element]
        if case .element(let other)? = error.conflicts[index].occupant {
          error.conflicts[index].occupant = .element(elements[other])
        }
      }
      throw error
    }
  }
}
