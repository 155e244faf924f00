import SteadFiles
import SteadRecords
import SteadSQLite

/// Looks at the records of files that are to be written.
struct FileConflicts<Model: PersistentModel> {
  /// The new records.
  let models: [Model]
  /// The element that each of these is of.
  let elements: [Int]
  private let batch: ElementBatch<RecordFile<Model>>
  private let store: TransferStore
  private let property: String
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

  /// Throws if known records no longer exist, or have another file that may not be replaced.
  ///
  /// Returns how many have another file.
  func checkRecords(_ rows: RowTransaction) throws -> Int {
    var conflicts: [ElementConflict] = []
    var replacedCount = 0
    for (number, element) in batch.elements.enumerated() {
      guard case .stored(let identifier) = element.record,
        let row = store.rows.place(of: identifier), let shape = rows.rows.shapes[row.entity]
      else { continue }
      func conflict(_ occupant: Occupant?, _ reason: String) {
        let name = "\(row.entity) \(row.number)"
        conflicts.append(
          .init(element: number, occupant: occupant, failure: .init(item: name, reason: reason)))
      }
      guard try rows.contains(row.number, in: shape) else {
        conflict(nil, "the record is gone")
        continue
      }
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

  /// Whether a path is one that the file of an element has.
  private func isPath(_ path: String, of element: RecordFile<Model>) -> Bool {
    let name = folder.isEmpty ? path[...] : path.dropFirst(folder.count + 1)
    return path.hasPrefix(folder) && name.hasPrefix(SHA256.hexadecimal(element.data))
  }

  /// If two new records became one, only the last one's file is written. The conflict names elements by their places
  /// among the new records.
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

  private func rowText(_ placement: TransferPlacement) -> String {
    RowReferences(placement.location)?.references.first.map { RowReferences([$0]).text } ?? ""
  }

  /// Tells conflicts of new records as those of the elements that they are of.
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
