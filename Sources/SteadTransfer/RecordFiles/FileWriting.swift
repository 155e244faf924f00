import Foundation
import SteadFiles
import SteadRecords

/// Writes files under names that no record has yet.
struct FileWriting<Model: PersistentModel> {
  /// A file that is written, and its record.
  struct File {
    let path: RelativePath
    /// The SHA-256 of its contents.
    let digest: String
    /// The record's row; nil for a new one.
    let row: RowReferences.Reference?
    /// The placement of the new record.
    var new: TransferPlacement?
  }

  /// How many files of the same bytes there may be.
  static var copyLimit: Int { 10_000 }

  private let store: TransferStore
  private let destination: FileDestination<Model>
  private let disk = POSIXDisk()

  init(_ store: TransferStore, _ destination: FileDestination<Model>) {
    self.store = store
    self.destination = destination
  }

  func files(
    for elements: [RecordFile<Model>], _ progress: TransferProgress.Report
  ) throws -> [File] {
    let rows = try rows(of: elements)
    let folder =
      try RelativePath(destination.folder)?.url(in: destination.directory) ?? destination.directory
    try disk.makeDirectories(folder.path(percentEncoded: false))
    // A run that was killed may have left a second link to each file that it was writing.
    try AtomicFile.removeStaleTemporaries(in: folder)
    var owners = try store.mappingErrors("read") { try store.rows.read(pathOwners) }
    var copies: [String: Int] = [:]
    var files: [File] = []
    for (index, element) in elements.enumerated() {
      try progress(.init(phase: .writing, completed: index, total: elements.count))
      let digest = SHA256.hexadecimal(element.data)
      let stem = digest + "." + element.pathExtension
      let path = try write(element, digest, rows[index], &owners, &copies[stem, default: 1])
      files.append(File(path: path, digest: digest, row: rows[index]))
    }
    return files
  }

  /// The rows of the existing records; throws for one of another store.
  private func rows(of elements: [RecordFile<Model>]) throws -> [RowReferences.Reference?] {
    var failures: [TransferFailure] = []
    var seen: Set<String> = []
    let rows = elements.enumerated().map { index, element -> RowReferences.Reference? in
      if !element.pathExtension.isEmpty, !RelativePath.isName(element.pathExtension) {
        failures.append(.init(item: "file \(index)", reason: "its extension is no part of a name"))
      }
      guard case .stored(let identifier) = element.record else { return nil }
      guard let row = store.rows.place(of: identifier) else {
        failures.append(.init(item: "file \(index)", reason: "its record is of another store"))
        return nil
      }
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

  /// The records that know of files, by path.
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

  /// Throws if a record names another record's file; checked in the transaction that writes the paths.
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

  /// Writes one file, or finds it written by a run that was killed.
  ///
  /// - Parameter copy: The number of the next name to be tried for these bytes.
  private func write(
    _ element: RecordFile<Model>, _ digest: String, _ row: RowReferences.Reference?,
    _ owners: inout [String: Set<String>], _ copy: inout Int
  ) throws -> RelativePath {
    let owner = row.map { RowReferences([$0]).text } ?? "new"
    while copy <= Self.copyLimit {
      let path = try self.path(digest, copy, element.pathExtension)
      copy += 1
      if let others = owners[path.text], others != [owner] || owner == "new" { continue }
      let file = AtomicFile(try path.url(in: destination.directory))
      do {
        try file.create(with: element.data, durability: .full)
      } catch let error as FileError where error.code == .alreadyExists {
        guard try file.readIfPresent() == element.data else { continue }
        try makeDurable(file.url.path(percentEncoded: false))
      }
      owners[path.text] = [owner]
      return path
    }
    throw TransferError(
      code: .conflict,
      message: "The names for \(Self.copyLimit) files of the same bytes are taken in "
        + "\(destination.name). Move to another folder.")
  }

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

  /// The process that wrote the file may have been killed before it was durable.
  private func makeDurable(_ path: String) throws {
    try disk.withDescriptor(path, O_RDONLY) { try disk.sync($0, path: path) }
    try disk.syncDirectory((path as NSString).deletingLastPathComponent)
  }
}

// MARK: - Paths

/// A path below a directory, which it cannot lead out of.
struct RelativePath: Hashable, Sendable {
  /// The most bytes that a file system takes for a name.
  static let nameLimit = 255

  /// The names of directories and, last, of a file.
  let names: [String]

  /// nil for an absolute path, one with empty names, `.` or `..`, and for names that no system takes.
  init?(_ text: String) {
    names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy(Self.isName) else { return nil }
  }

  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= nameLimit
      && !name.utf8.contains(0) && !name.utf8.contains(UInt8(ascii: "/"))
  }

  var text: String { names.joined(separator: "/") }

  /// Where the file is.
  ///
  /// - Throws: ``TransferError`` `.unsupported` when a symbolic link on the way leads elsewhere.
  func url(in directory: URL) throws -> URL {
    let disk = POSIXDisk()
    var path = directory.path(percentEncoded: false)
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

/// The place of a file and its record: `Photo/12=images/3f.jpg`, with `*` before the sign if the record came with the
/// file.
struct FileReference {
  let rows: RowReferences
  let isNew: Bool
  let path: RelativePath

  init(rows: RowReferences, isNew: Bool, path: RelativePath) {
    self.rows = rows
    self.isNew = isNew
    self.path = path
  }

  init?(_ text: String) {
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
