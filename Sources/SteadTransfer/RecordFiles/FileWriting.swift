import Foundation
import SteadEncoding
import SteadFiles
import SteadRecords
import SteadSQLite

/// Writes the files of a batch, under names that no record has.
struct FileWriting<Model: PersistentModel> {
  /// A file that was written, and its record.
  struct File {
    /// The path below the destination's directory.
    let path: RelativePath
    /// The SHA-256 of its contents.
    let digest: String
    /// The record's row; nil for a new object.
    let row: RowReferences.Reference?
    /// The placement of the new object.
    var new: TransferPlacement?
  }

  /// The maximum number of files with the same bytes. A record may delete or change its file, so
  /// files are never shared.
  static var copyLimit: Int { 10_000 }

  /// The store of the records.
  private let store: TransferStore
  /// The directory, the folder and the property.
  private let destination: FileDestination<Model>
  private let disk = POSIXDisk()

  init(_ store: TransferStore, _ destination: FileDestination<Model>) {
    self.store = store
    self.destination = destination
  }

  /// Writes the files of elements, durably.
  func files(
    for elements: [RecordFile<Model>], _ progress: TransferProgress.Report
  ) throws -> [File] {
    let rows = try rows(of: elements)
    let folder =
      try RelativePath(destination.folder)?.url(in: destination.directory) ?? destination.directory
    try disk.makeDirectories(folder.path(percentEncoded: false))
    // A run that was killed may have left a second link to a file that it was writing.
    try AtomicFile.removeStaleTemporaries(in: folder)
    // One query for all paths instead of one for each file.
    var owners = try store.mappingErrors("read") { try store.rows.read(pathOwners) }
    var copies: [String: Int] = [:]
    var files: [File] = []
    for (index, element) in elements.enumerated() {
      try progress(.init(phase: .writing, completed: index, total: elements.count))
      let digest = SHA256.hexadecimal(element.data)
      let stem = digest + "." + element.pathExtension
      // The number of the next name is remembered for each digest, or a thousand equal files would
      // try half a million names.
      let path = try write(element, digest, rows[index], &owners, &copies[stem, default: 1])
      files.append(File(path: path, digest: digest, row: rows[index]))
    }
    return files
  }

  /// The rows of the existing records.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` for records of another store, two files for one
  ///   record, and extensions that can't be part of a name.
  private func rows(of elements: [RecordFile<Model>]) throws -> [RowReferences.Reference?] {
    var failures: [TransferFailure] = []
    var seen: Set<String> = []
    let rows = elements.enumerated().map { index, element -> RowReferences.Reference? in
      // The extension is the caller's, and the only part of the name that isn't a digest.
      if !element.pathExtension.isEmpty, !RelativePath.isName(element.pathExtension) {
        failures.append(.init(item: "file \(index)", reason: "its extension is no part of a name"))
      }
      guard case .stored(let identifier) = element.record else { return nil }
      guard let row = store.rows.place(of: identifier) else {
        failures.append(.init(item: "file \(index)", reason: "its record is of another store"))
        return nil
      }
      // A record has one path, so the second file would replace the first.
      if !seen.insert(RowReferences([row]).text).inserted {
        failures.append(.init(item: "file \(index)", reason: "its record has another file"))
      }
      return row
    }
    guard failures.isEmpty else {
      throw TransferError(
        code: .unsupported,
        message: "Files cannot be written as the conversion wants them. "
          + "Nothing was written.", failures: failures)
    }
    return rows
  }

  /// The records that have each path.
  private func pathOwners(_ rows: RowTransaction) throws -> [String: Set<String>] {
    var owners: [String: Set<String>] = [:]
    for shape in store.family(of: Model.self) {
      try rows.forEachValue(of: destination.property, in: shape) { number, value in
        guard case .text(let path) = value else { return }
        owners[path, default: []].insert(RowReferences([(shape.name, number)]).text)
      }
    }
    return owners
  }

  /// Throws if another record has the path of one of these files. Called in the transaction that
  /// writes the paths.
  func checkSharedPaths(_ files: [File], _ rows: RowTransaction) throws {
    let owners = try pathOwners(rows)
    for file in files {
      let row = file.row ?? file.new.flatMap { RowReferences($0.location)?.references.first }
      guard let row, let others = owners[file.path.text],
        others != [RowReferences([row]).text]
      else { continue }
      throw TransferError(
        code: .changed,
        message:
          "Another program gave a record the path of a file that was being written. Run again.")
    }
  }

  /// Writes a file, or finds the one that a killed run has written.
  ///
  /// - Parameter copy: The number of the next name to try for these bytes.
  private func write(
    _ element: RecordFile<Model>, _ digest: String, _ row: RowReferences.Reference?,
    _ owners: inout [String: Set<String>], _ copy: inout Int
  ) throws -> RelativePath {
    let owner = row.map { RowReferences([$0]).text } ?? "new"
    while copy <= Self.copyLimit {
      let path = try self.path(digest, copy, element.pathExtension)
      copy += 1
      // A name is free if no record has it, or only the record that gets the file.
      if let others = owners[path.text], others != [owner] || owner == "new" { continue }
      let file = AtomicFile(try path.url(in: destination.directory))
      do {
        // Durable before a record gets the path: a path without its file would lose data.
        try file.create(with: element.data, durability: .full)
      } catch let error as FileError where error.code == .alreadyExists {
        // Files are created, never overwritten. An existing one with the same bytes is left from a
        // killed run.
        guard try file.readIfPresent() == element.data else { continue }
        try makeDurable(file.url.path(percentEncoded: false))
      }
      // The next element with the same bytes needs another name.
      owners[path.text] = [owner]
      return path
    }
    throw TransferError(
      code: .conflict,
      message: "The names for \(Self.copyLimit) files of the same bytes are taken in "
        + "\(destination.name). Move to another folder.")
  }

  /// The path of the copy with a number.
  private func path(
    _ digest: String, _ copy: Int, _ pathExtension: String
  ) throws -> RelativePath {
    let name =
      digest + (copy > 1 ? "-\(copy)" : "") + (pathExtension.isEmpty ? "" : "." + pathExtension)
    let text = destination.folder.isEmpty ? name : destination.folder + "/" + name
    guard let path = RelativePath(text) else {
      throw TransferError(
        code: .unsupported, message: "The extension is too long for the name of a file.")
    }
    return path
  }

  /// Syncs a file and its directory: the process that wrote it may have been killed before it did.
  private func makeDurable(_ path: String) throws {
    try disk.withDescriptor(path, O_RDONLY) { try disk.sync($0, path: path) }
    try disk.syncDirectory((path as NSString).deletingLastPathComponent)
  }
}

// MARK: - Paths

/// A path below a directory that can't lead out of it.
struct RelativePath: Hashable, Sendable {
  /// The maximum length of a name in bytes, on all common file systems.
  static let nameLimit = 255

  /// The components.
  let names: [String]

  /// Parses a path; nil if it is absolute, has empty components, `.` or `..`, or a name that no
  /// file system accepts.
  init?(_ text: String) {
    names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy(Self.isName) else { return nil }
  }

  /// Whether a string can be a component.
  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= nameLimit
      && !name.utf8.contains(0) && !name.utf8.contains(UInt8(ascii: "/"))
  }

  /// The path, with slashes.
  var text: String { names.joined(separator: "/") }

  /// The file's URL below a directory.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` if one of the components is a symbolic link: it
  ///   could lead out of the directory.
  func url(in directory: URL) throws -> URL {
    let disk = POSIXDisk()
    var path = directory.path(percentEncoded: false)
    // The URL of a directory may end with a slash.
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    for name in names {
      path += "/" + name
      if try disk.status(at: path)?.kind == .link {
        throw TransferError(
          code: .unsupported,
          message: "The path \(text) contains a symbolic link. Files are written below the "
            + "directory alone; put a directory, or nothing, in the link's place.")
      }
    }
    return URL(filePath: path, directoryHint: .notDirectory)
  }
}

/// The location of a file and its record: `Photo/12=images/3f.jpg`, or `Photo/12*=images/3f.jpg` if
/// the record was written with the file.
struct FileReference {
  /// The record, and the objects that were written with it.
  let rows: RowReferences
  /// Whether the record was written with the file, so that its contents are verified, too.
  let isNew: Bool
  let path: RelativePath

  init(rows: RowReferences, isNew: Bool, path: RelativePath) {
    self.rows = rows
    self.isNew = isNew
    self.path = path
  }

  /// Parses a ``text``.
  init?(_ text: String) {
    // The first one: the rows before it have none, and the path may.
    guard let sign = text.firstIndex(of: "=") else { return nil }
    var rowsText = text[..<sign]
    isNew = rowsText.last == "*"
    if isNew { rowsText.removeLast() }
    guard let rows = RowReferences(String(rowsText)),
      let path = RelativePath(String(text[text.index(after: sign)...]))
    else { return nil }
    self.rows = rows
    self.path = path
  }

  var text: String { "\(rows.text)\(isNew ? "*" : "")=\(path.text)" }
}

// MARK: - Conflicts

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
