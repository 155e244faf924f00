public import Foundation
import SteadFiles
public import SteadRecords
import SteadSQLite

extension TransferDestination {
  /// Files below a directory, each with its relative path in an optional property of a record.
  ///
  /// A file's name is the SHA-256 of its contents. It is safe on the disk before the record names it, and a relative
  /// path stays valid when the app's directory moves. Each record has its own file, even if two are equal. Records
  /// and receipt are written in one transaction. A run that was killed before it leaves files that no record names;
  /// the next run uses those with the same bytes.
  ///
  /// A record that has another path already is a ``TransferError/Code/conflict``. Costs two syncs of the
  /// disk for each file.
  ///
  /// - Parameters:
  ///   - directory: The directory that paths are relative to; it is created if it doesn't exist.
  ///   - folder: The directory below it that files are put in, and paths begin with.
  ///   - path: The property with the path.
  ///   - container: The container of the records.
  /// - Throws: ``TransferError`` `.unsupported` when the folder leads out of the directory, or the key
  ///   path is not a stored property's.
  public static func files<Model: PersistentModel>(
    in directory: URL, folder: String = "",
    path: ReferenceWritableKeyPath<Model, String?> & Sendable, of container: ModelContainer
  ) throws -> Self where Element == RecordFile<Model> {
    Self(try FileDestination(container, in: directory, folder: folder, path: path))
  }

  /// Files with their paths in a property; an empty string there means no path.
  ///
  /// As with an optional property in all else.
  public static func files<Model: PersistentModel>(
    in directory: URL, folder: String = "",
    path: ReferenceWritableKeyPath<Model, String> & Sendable, of container: ModelContainer
  ) throws -> Self where Element == RecordFile<Model> {
    Self(try FileDestination(container, in: directory, folder: folder, path: path))
  }
}

/// Files below a directory, each with its relative path in a record, as the destination of a transfer.
struct FileDestination<Model: PersistentModel>: ItemDestination {
  /// The container of the records.
  let container: ModelContainer
  /// The directory that paths are relative to.
  let directory: URL
  /// The directory below it that files are put in; empty for the directory itself.
  let folder: String
  /// The name of the property with the path.
  let property: String
  private let store: TransferStore
  private let assignPath: @Sendable (Model, String) -> Void

  /// Files with their paths in an optional property.
  ///
  /// - Parameters:
  ///   - container: The container of the records.
  ///   - directory: The directory that paths are relative to; it is created if it doesn't exist.
  ///   - folder: The directory below it that files are put in, and paths begin with.
  ///   - path: The property with the path.
  /// - Throws: ``TransferError`` `.unsupported` when the folder leads out of the directory, or the key
  ///   path is not a stored property's.
  init(
    _ container: ModelContainer, in directory: URL, folder: String = "",
    path: ReferenceWritableKeyPath<Model, String?> & Sendable
  ) throws {
    try self.init(container, directory, folder, path) { $0[keyPath: path] = $1 }
  }

  /// Files with their paths in a property; an empty string there means no path.
  ///
  /// - Parameters:
  ///   - container: The container of the records.
  ///   - directory: The directory that paths are relative to; it is created if it doesn't exist.
  ///   - folder: The directory below it that files are put in, and paths begin with.
  ///   - path: The property with the path.
  /// - Throws: ``TransferError`` `.unsupported` when the folder leads out of the directory, or the key
  ///   path is not a stored property's.
  init(
    _ container: ModelContainer, in directory: URL, folder: String = "",
    path: ReferenceWritableKeyPath<Model, String> & Sendable
  ) throws {
    try self.init(container, directory, folder, path) { $0[keyPath: path] = $1 }
  }

  private init(
    _ container: ModelContainer, _ directory: URL, _ folder: String, _ path: AnyKeyPath,
    assignPath: @escaping @Sendable (Model, String) -> Void
  ) throws {
    guard folder.isEmpty || RelativePath(folder) != nil else {
      throw TransferError(
        code: .unsupported,
        message: "The folder must be a relative path without empty names, . and ..")
    }
    self.container = container
    self.directory = directory
    self.folder = folder
    self.assignPath = assignPath
    store = try TransferStore(container, holding: Schema.entityName(for: Model.self))
    property = try store.property(of: path, on: Model.self)
  }

  /// `files of Photo.path`
  var name: String { "files of \(Schema.entityName(for: Model.self)).\(property)" }

  /// The receipt of a transfer, in the store of the records.
  func receipt(named id: String) throws -> TransferReceipt? {
    try store.receipt(named: id)
  }

  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    try store.chunk(of: receipt, at: index)
  }

  /// Compares the existing records, and writes the new ones in a transaction that is rolled back.
  func checkConflicts(_ batch: ElementBatch<RecordFile<Model>>) throws -> Int {
    let conflicts = FileConflicts(batch, store, property, folder)
    var replacedCount = 0
    do {
      try store.mappingErrors("read") {
        let taken = try store.rows.read(conflicts.checkRecords)
        try conflicts.mappingConflicts {
          try ModelWriting(store, conflicts.models, batch.rule).run({ _ in }) { _, written, _ in
            replacedCount = taken + written.replacedCount
            throw TransferStore.Rollback()
          }
        }
      }
    } catch is TransferStore.Rollback {
      // All have their places.
    }
    return replacedCount
  }

  /// Writes the files, then records and receipt in one transaction, durably.
  func write(
    _ batch: ElementBatch<RecordFile<Model>>, _ receipt: TransferReceipt,
    _ progress: TransferProgress.Report, entries: (WrittenElements) throws -> ReceiptChunk
  ) throws {
    let conflicts = FileConflicts(batch, store, property, folder)
    let replaced = try store.mappingErrors("read") { try store.rows.read(conflicts.checkRecords) }
    let fileWriting = FileWriting(store, self)
    var files = try fileWriting.files(for: batch.elements, progress)
    for (model, element) in zip(conflicts.models, conflicts.elements) {
      assignPath(model, files[element].path.text)
    }
    try store.mappingErrors("written") {
      try conflicts.mappingConflicts {
        try ModelWriting(store, conflicts.models, batch.rule).run(progress) {
          rows, written, shared in
          try conflicts.checkDuplicates(written.placements)
          for (placement, element) in zip(written.placements, conflicts.elements) {
            files[element].new = placement
          }
          try fileWriting.checkSharedPaths(files, rows)
          let placed = try files.map { try setPath($0, rows, batch.rule) }
          let count = replaced + written.replacedCount
          try rows.set(receipt, adding: entries(.init(placements: placed, replacedCount: count)))
        }
      }
    }
    store.rows.notifyContexts()
    let count = batch.elements.count
    try progress(.init(phase: .writing, completed: count, total: count))
  }

  /// Sets a record's path.
  private func setPath(
    _ file: FileWriting<Model>.File, _ rows: RowTransaction, _ rule: TransferOptions.ConflictRule
  ) throws -> TransferPlacement {
    var digest = RowDigest()
    digest.add(file.path.text, .text(file.digest))
    if let new = file.new, let references = RowReferences(new.location) {
      digest.add(text: new.digest)
      let reference = FileReference(rows: references, isNew: true, path: file.path)
      return TransferPlacement(location: reference.text, digest: digest.text)
    }
    guard let row = file.row, let shape = rows.rows.shapes[row.entity] else { throw missing(file) }
    let path = SQLValue.text(file.path.text)
    var accepted = [.null, .text(""), path]
    if rule == .replace, let old = try rows.value(of: property, in: shape, row.number) {
      accepted.append(old)
    }
    let isSet = try rows.set(property, of: row.number, in: shape, to: path, from: accepted)
    guard isSet else { throw missing(file) }
    let reference = FileReference(rows: RowReferences([row]), isNew: false, path: file.path)
    return TransferPlacement(location: reference.text, digest: digest.text)
  }

  private func missing(_ file: FileWriting<Model>.File) -> TransferError {
    TransferError(
      code: .changed,
      message:
        "Another program deleted a record, or gave it another file, meanwhile. No record was changed; "
        + "run again.",
      failures: [
        .init(
          item: file.row.map { "\($0.entity) \($0.number)" } ?? "a new record",
          reason: "it is gone, or \(property) holds something else")
      ])
  }

  /// Compares the records, read by a connection of their own, and the files with the placements' digests.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try store.mappingErrors("read") {
      try store.rows.makeDurable()
      return try store.rows.read { rows in
        var wrong: [TransferPlacement] = []
        for (number, placement) in placements.enumerated() {
          try progress(.init(phase: .verifying, completed: number, total: placements.count))
          if try digest(of: placement.location, rows) != placement.digest {
            wrong.append(placement)
          }
        }
        return wrong
      }
    }
  }

  /// The present contents of a place; nil if a part no longer exists.
  private func digest(of text: String, _ rows: RowTransaction) throws -> String? {
    guard let reference = FileReference(text), let row = reference.rows.references.first,
      let shape = rows.rows.shapes[row.entity],
      let data = try? AtomicFile(reference.path.url(in: directory)).readIfPresent(),
      try rows.value(of: property, in: shape, row.number) == .text(reference.path.text)
    else { return nil }
    var digest = RowDigest()
    digest.add(reference.path.text, .text(SHA256.hexadecimal(data)))
    if reference.isNew {
      guard let record = try reference.rows.digest(in: rows, checksFiles: true) else { return nil }
      digest.add(text: record)
    }
    return digest.text
  }

  func replace(_ receipt: TransferReceipt) throws { try store.replace(receipt) }
}

// MARK: - Elements

/// Bytes that become a file, and the record that gets its path.
public struct RecordFile<Model: PersistentModel> {
  enum Record {
    case stored(PersistentIdentifier)
    case new(Model)
  }

  let data: Data
  let pathExtension: String
  let record: Record

  /// A file of a record that exists.
  ///
  /// - Parameters:
  ///   - data: The file's contents.
  ///   - pathExtension: The file's extension, without the dot.
  ///   - identifier: The record that gets the path.
  public init(
    _ data: Data, extension pathExtension: String = "", of identifier: PersistentIdentifier
  ) {
    self.data = data
    self.pathExtension = pathExtension
    record = .stored(identifier)
  }

  /// A file of a new object, of no context, which is saved with the path.
  ///
  /// - Parameters:
  ///   - data: The file's contents.
  ///   - pathExtension: The file's extension, without the dot.
  ///   - model: The object that gets the path.
  public init(_ data: Data, extension pathExtension: String = "", of model: Model) {
    self.data = data
    self.pathExtension = pathExtension
    record = .new(model)
  }
}
