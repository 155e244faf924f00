import Foundation
import SteadFiles
import SteadSQLite

/// A copy of a store: of its database, and of the files of its large values.
struct StoreCopy {
  /// The suffix of the copy that the stages of a migration plan run on.
  static let migrationSuffix = ".migrating"
  /// The suffix of a dry run's copy.
  static let dryRunSuffix = ".dry-run"

  /// The file that the copy is in.
  let file: StoreFile

  /// - Parameter url: Where to put the copy.
  init(of configuration: ModelConfiguration, at url: URL) {
    var copy = ModelConfiguration(configuration.name, schema: nil, url: url)
    copy.history = configuration.history
    copy.discardedData = configuration.discardedData
    copy.migration = .ofCopy
    file = StoreFile(copy)
  }

  /// A copy at a path, opened as a store of its own: a backup, or one to remove.
  init(path: String) {
    file = StoreFile(
      ModelConfiguration(url: URL(filePath: path, directoryHint: .notDirectory)))
  }

  /// The path of the copy's database.
  private var path: String { file.configuration.url.path }

  /// Copies the store's committed content; the remains of an earlier copy are removed first.
  ///
  /// Only its owner may read the copy.
  ///
  /// - Parameter report: Called with the numbers of copied pages and of all pages; may stop the copying by throwing.
  func make(from store: StoreFile, report: (Int, Int) throws -> Void = { _, _ in }) throws {
    try remove()
    do {
      // Before SQLite makes the file, which it would let everybody read.
      SQLiteFile.makePrivate(at: path)
      let source = try store.open(writable: false)
      try Self.put(source, into: file.open(writable: true, keepsJournalMode: true), report)
      try BlobLinks(source: store.blobDirectory, target: file.blobDirectory).add()
    } catch {
      try? remove()
      throw error
    }
  }

  /// Copies what a connection sees to a new file, which appears whole or not at all; without the files of large values.
  ///
  /// Only its owner may read the copy. It survives a loss of power when this returns.
  func write(
    from connection: StoreConnection, _ progress: (_ copied: Int, _ total: Int) throws -> Void
  ) throws {
    let disk = POSIXDisk()
    let draft = try TemporaryFile(beside: path, on: disk)
    defer { draft.finish() }
    try connection.copy(to: draft.path, progress)
    // Before the copy has its path: from then on anybody may open it.
    try StoreCopy(path: draft.path).becomeBackup()
    do {
      // A link fails if the path exists; a rename would replace a file that was made in the meantime.
      try disk.link(draft.path, to: path)
    } catch let error as FileError where error.code != .alreadyExists {
      // FAT and exFAT have no hard links.
      guard try disk.status(at: path) == nil else { throw error }
      try disk.rename(draft.path, to: path)
    }
    try disk.syncDirectory(path.directoryPath)
  }

  /// Replaces a new store's pages with those of another; SQLite's backup reads one snapshot of it.
  private static func put(
    _ source: StoreConnection, into target: StoreConnection, _ report: (Int, Int) throws -> Void
  ) throws {
    // A process that is killed here makes the copy again.
    try target.execute("PRAGMA synchronous = OFF")
    let backup = try source.backup(into: target)
    try backup.run(report)
    // The original may have been copied while a writer was setting the mark.
    try target.removeLogMark()
  }

  /// Gives the copy a log name of its own, so that the log of the original is refused beside it.
  func becomeBackup() throws {
    let connection = try file.open(writable: true, keepsJournalMode: true)
    // Needs no index of the log, which some file systems cannot hold.
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try connection.beginImmediate()
    // A copy has everything in its file. It has the mark if it was made while a writer was setting it.
    try connection.removeLogMark()
    try connection.replaceLogNames()
    try connection.commit()
  }

  /// Removes the copy with all of its files.
  func remove() throws {
    let paths = ["", "-wal", "-shm", "-journal"].map { path + $0 } + [file.blobDirectory.path]
    for path in paths where exists(path) { try FileManager.default.removeItem(atPath: path) }
  }

  /// Whether a copy, or a part of one, exists.
  var hasFiles: Bool { exists(path) || exists(file.blobDirectory.path) }

  /// Whether something has a name, also a link that leads nowhere.
  private func exists(_ path: String) -> Bool { (try? POSIXDisk().status(at: path)) != nil }

  /// Throws if the directory for the copy's large values is a symbolic link: whoever made the directory that a copy goes to
  /// would choose where its values go.
  func checkDirectory() throws {
    let directory = file.blobDirectory.path
    guard try POSIXDisk().status(at: directory)?.kind == .link else { return }
    throw SwiftDataError(
      .fileExists,
      "\(directory) is a symbolic link, and the large values of a backup go to no other directory. Remove the link."
    )
  }
}

extension SQLiteBackup {
  /// Copies all pages and commits.
  ///
  /// - Parameter report: Called with the numbers of copied pages and of all pages; may stop it by throwing, and then
  ///   nothing is changed.
  func run(_ report: (Int, Int) throws -> Void) throws {
    // The step that takes the lock also learns how many pages there are.
    try lock()
    try report(0, total)
    // The last step commits.
    while try step() { try report(total - remaining, total) }
    try finish()
  }
}

// MARK: - Large values

/// The files of large values of a store and of its copy, in two directories.
///
/// A file is named by its content and never changes, so the copy gets a hard link to it, which takes no space, where the file
/// system has links.
struct BlobLinks {
  /// The directory that has the files.
  let source: URL
  /// The directory that gets them. It is made when the first file needs it.
  let target: URL

  /// Adds every file to the target that the source has and the target lacks.
  func add() throws {
    let present = Set(try Self.files(in: target))
    let missing = try Self.files(in: source).filter { !present.contains($0) }
    guard !missing.isEmpty else { return }
    let files = FileManager.default
    try files.createDirectory(
      at: target, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in missing {
      let (from, to) = (source.appending(path: name), target.appending(path: name))
      // A symbolic link with that name is not a copy of the value.
      if let found = try POSIXDisk().status(at: to.path), found.kind != .directory {
        try POSIXDisk().remove(to.path)
      }
      do {
        // On any error: file systems without hard links fail in different ways.
        try files.linkItem(at: from, to: to)
      } catch {
        try Self.copy(from, to)
      }
    }
  }

  /// Copies a file on a file system without hard links, under a temporary name until it is complete.
  private static func copy(_ file: URL, _ target: URL) throws {
    let draft = target.appendingPathExtension("new")
    // A process that was killed may have left one.
    try? FileManager.default.removeItem(at: draft)
    try FileManager.default.copyItem(at: file, to: draft)
    try FileManager.default.moveItem(at: draft, to: target)
  }

  /// Removes the target's files with some names, except those that the source has.
  func remove(_ names: [String]) throws {
    let kept = Set(Self.names(in: source))
    for name in names where !kept.contains(name) {
      try FileManager.default.removeItem(at: target.appending(path: name))
    }
  }

  /// Removes the target's files, except those with some names.
  func removeAdded(since names: [String]) throws {
    for name in Set(Self.names(in: target)).subtracting(names) {
      try FileManager.default.removeItem(at: target.appending(path: name))
    }
  }

  /// The names of the regular files in a directory. A link, a pipe or a directory with such a name is no large value.
  private static func files(in directory: URL) throws -> [String] {
    try names(in: directory).filter {
      try POSIXDisk().status(at: directory.appending(path: $0).path)?.kind == .file
    }
  }

  /// The names of the files in a directory; none where it is missing.
  ///
  /// Only names of large values count: a file that is being written has another one.
  static func names(in directory: URL) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    return names.filter { BlobFiles.isReference($0) }
  }
}
