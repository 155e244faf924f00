public import Foundation
import SteadEncoding
import SteadFiles
public import SteadRecords
import SteadSQLite

extension TransferDestination {
  /// Files below a directory, each with its relative path in an optional property of a record.
  ///
  /// ```swift
  /// let transfer = Transfer(
  ///   "images", from: try .data(of: \Photo.image, in: container),
  ///   to: try .files(in: directory, path: \Photo.path, of: container)
  /// ) { RecordFile($0.data, extension: "jpg", of: $0.identifier) }
  /// ```
  ///
  /// A file's name is the SHA-256 of its contents. The file is durable before the record has its
  /// path, and a relative path stays valid if the app's directory moves. Each record has its own
  /// file, even if two are equal. Records and receipt are written in one transaction. A run that is
  /// killed before it leaves files that no record has; the next run uses those with the same bytes.
  ///
  /// A record that has another path already is a ``TransferError/Code/conflict``. Costs two syncs
  /// of the disk for each file.
  ///
  /// - Parameters:
  ///   - directory: The directory that paths are relative to. It is created if it doesn't exist.
  ///   - folder: The directory below it that has the files; paths begin with it.
  ///   - path: The property with the path.
  ///   - container: The container of the records.
  /// - Throws: ``TransferError/Code/unsupported`` if the folder leads out of the directory, or the
  ///   key path isn't one of a stored property.
  public static func files<Model: PersistentModel>(
    in directory: URL, folder: String = "",
    path: ReferenceWritableKeyPath<Model, String?> & Sendable, of container: ModelContainer
  ) throws -> Self where Element == RecordFile<Model> {
    Self(try FileDestination(container, in: directory, folder: folder, path: path))
  }

  /// Files below a directory, each with its relative path in a property of a record; an empty
  /// string means no path.
  ///
  /// Otherwise as with an optional property.
  public static func files<Model: PersistentModel>(
    in directory: URL, folder: String = "",
    path: ReferenceWritableKeyPath<Model, String> & Sendable, of container: ModelContainer
  ) throws -> Self where Element == RecordFile<Model> {
    Self(try FileDestination(container, in: directory, folder: folder, path: path))
  }
}

/// Files below a directory, each with its relative path in a record, as the destination of a
/// transfer.
///
/// Two stores can't commit together, so the order makes it safe: files first, durable and under
/// names that no record has; then the paths with the receipt in one transaction. An abandoned file
/// costs space, and a path without a file would cost data.
struct FileDestination<Model: PersistentModel>: ItemDestination {
  /// The container of the records.
  let container: ModelContainer
  /// The directory that paths are relative to.
  let directory: URL
  /// The directory below it that has the files; empty for the directory itself.
  let folder: String
  /// The name of the property with the path.
  let property: String
  /// The store of the records.
  private let store: TransferStore
  /// Sets the path of a new object.
  private let assignPath: @Sendable (Model, String) -> Void

  /// Files with their paths in an optional property.
  init(
    _ container: ModelContainer, in directory: URL, folder: String = "",
    path: ReferenceWritableKeyPath<Model, String?> & Sendable
  ) throws {
    try self.init(container, directory, folder, path) { $0[keyPath: path] = $1 }
  }

  /// Files with their paths in a property; an empty string means no path.
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
    // Otherwise files could be written outside of the directory that the app chose.
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

  /// The chunk of a receipt's entries that begins at an index.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    try store.chunk(of: receipt, at: index)
  }

  /// Compares the existing records, and saves the new ones in a transaction that is rolled back.
  /// Writes no file.
  func checkConflicts(_ batch: ElementBatch<RecordFile<Model>>) throws -> Int {
    let conflicts = FileConflicts(batch, store, property, folder)
    var replacedCount = 0
    do {
      try store.mappingErrors("read") {
        // Existing records first, since a conflict of one of them needs no trial save.
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
    // Conflicts with existing records are found before any file is written.
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
          // Two objects may have become one record, which has only one path.
          try conflicts.checkDuplicates(written.placements)
          for (placement, element) in zip(written.placements, conflicts.elements) {
            files[element].new = placement
          }
          // In the transaction, since another process may have given a record one of these paths
          // while the files were written.
          try fileWriting.checkSharedPaths(files, rows)
          let placed = try files.map { try setPath($0, rows, batch.rule) }
          let count = replaced + written.replacedCount
          try rows.set(receipt, adding: entries(.init(placements: placed, replacedCount: count)))
        }
      }
    }
    // Paths were set in the store, past the objects of contexts.
    store.rows.notifyContexts()
    let count = batch.elements.count
    try progress(.init(phase: .writing, completed: count, total: count))
  }

  /// Sets a record's path, and returns the placement of file and record.
  private func setPath(
    _ file: FileWriting<Model>.File, _ rows: RowTransaction, _ rule: TransferOptions.ConflictRule
  ) throws -> TransferPlacement {
    var digest = RowDigest()
    // Path and contents: a record with another path doesn't have the file, and a file with other
    // bytes isn't the one.
    digest.add(file.path.text, .text(file.digest))
    if let new = file.new, let references = RowReferences(new.location) {
      digest.add(text: new.digest)
      let reference = FileReference(rows: references, isNew: true, path: file.path)
      return TransferPlacement(location: reference.text, digest: digest.text)
    }
    guard let row = file.row, let shape = rows.rows.shapes[row.entity] else { throw missing(file) }
    let path = SQLValue.text(file.path.text)
    // By compare and swap: a path that another process has set in between stays, unless the rule is
    // to replace.
    // No path, an empty one, or the one that a killed run has set.
    var accepted = [.null, .text(""), path]
    if rule == .replace, let old = try rows.value(of: property, in: shape, row.number) {
      accepted.append(old)
    }
    let isSet = try rows.set(property, of: row.number, in: shape, to: path, from: accepted)
    guard isSet else { throw missing(file) }
    let reference = FileReference(rows: RowReferences([row]), isNew: false, path: file.path)
    return TransferPlacement(location: reference.text, digest: digest.text)
  }

  /// The error for a record that was deleted or got another path in the meantime.
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

  /// Compares records, read by a connection of their own, and files with the placements' digests.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try store.mappingErrors("read") {
      try store.rows.makeDurable()
      return try store.rows.read { rows in
        var wrong: [TransferPlacement] = []
        for (index, placement) in placements.enumerated() {
          try progress(.init(phase: .verifying, completed: index, total: placements.count))
          if try digest(of: placement.location, rows) != placement.digest {
            wrong.append(placement)
          }
        }
        return wrong
      }
    }
  }

  /// The digest of a record's path and its file as they are now; nil if one of them is gone, or the
  /// path is another.
  private func digest(of text: String, _ rows: RowTransaction) throws -> String? {
    // A file that can't be read counts as lost, so its item stays in the source.
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

  /// Replaces the stored receipt by its successor.
  func replace(_ receipt: TransferReceipt) throws { try store.replace(receipt) }
}

// MARK: - Elements

/// Bytes that become a file, and the record that gets its path: an element of
/// `.files(in:path:of:)`.
public struct RecordFile<Model: PersistentModel> {
  /// The record that gets the path.
  enum Record {
    case stored(PersistentIdentifier)
    case new(Model)
  }

  /// The file's contents.
  let data: Data
  /// The file's extension, without the dot.
  let pathExtension: String
  /// The record that gets the path.
  let record: Record

  /// A file of an existing record.
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

  /// A file of a new object, which belongs to no context and is saved with the path.
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
