import Foundation
import SteadFiles
import SteadSQLite

/// The files of a cache and their safety.
///
/// ```
/// CACHEDIR.TAG       tells programs that make backups to pass the directory over
/// DiskCache.sqlite   entries, with SQLite's `-wal` and `-shm` beside it
/// changes            a number that tells processes of each other's changes
/// values/            large values, a file each
/// ```
///
/// The directory is the cache's own: a file with one of these names is removed if it can't be used.
struct CacheDirectory: Sendable {
  /// How long the opening waits for another process that opens the cache, too.
  static let patience = Duration.milliseconds(250)

  let path: String
  let disk: any Disk

  var database: String { path + "/DiskCache.sqlite" }
  var log: String { database + "-wal" }
  var changes: String { path + "/changes" }
  var values: String { path + "/values" }
  private var tag: String { path + "/CACHEDIR.TAG" }

  /// The first line is what <https://bford.info/cachedir/> asks for.
  private static let tagContents = """
    Signature: 8a477f597d28d172789f06886806bc55
    # This directory holds a cache, which may be removed at any time.
    # See https://bford.info/cachedir/

    """

  func path(ofValue name: String) -> String { values + "/" + name }

  /// Makes the directory, the tag and the database's empty file as far as they are missing.
  ///
  /// - Parameter user: The user who must own them.
  /// - Throws: ``FileError`` when the directory can't be made, or isn't safe to use.
  func prepare(for user: uid_t) throws {
    // A link that another user may change must not decide what the path's last component is.
    if try disk.status(at: path) == nil { try disk.makeDirectories(path) }
    try checkOwnership(path, by: user)
    if try disk.status(at: values) == nil {
      do {
        try disk.makeDirectories(values)
      } catch let error as FileError where error.code == .alreadyExists {}
    }
    try checkOwnership(values, by: user)
    try makeTag()
    for file in [database, log, database + "-shm", changes] { try clear(file) }
    SQLiteFile.makePrivate(at: database)
  }

  /// Removes the database. A process that opens it meanwhile waits for the directory's lock.
  func removeDatabase() throws {
    // The main file first: SQLite ignores a log next to a new file.
    for file in [database, log, database + "-shm"] {
      do {
        try disk.remove(file)
      } catch let error as FileError where error.code == .notFound {}
    }
  }

  func withLock<Result>(wait: Duration, _ body: () throws -> Result) throws -> Result {
    try disk.withLockedDirectory(path, wait: wait) { _ in try body() }
  }

  /// The identity of the file that the database's path leads to now.
  var databaseIdentity: FileStatus.Identity? {
    (try? disk.status(at: database))?.identity
  }

  private func checkOwnership(_ directory: String, by user: uid_t) throws {
    guard let found = try disk.status(at: directory), found.kind == .directory else {
      throw FileError(
        code: .notAFile,
        message:
          "The cache's path leads to a link or a file instead of a directory; remove it.",
        path: directory)
    }
    guard found.user == user else {
      throw FileError(
        code: .denied,
        message: "The cache's directory belongs to another user; choose another one.",
        path: directory)
    }
    guard found.mode & 0o022 == 0 else {
      throw FileError(
        code: .denied,
        message: "Other users may write to the cache's directory; run `chmod 700` on it.",
        path: directory)
    }
  }

  /// Removes a link or another thing that has a database file's name.
  private func clear(_ file: String) throws {
    guard let found = try disk.status(at: file), found.kind != .file else { return }
    guard found.kind != .directory else {
      throw FileError(
        code: .notAFile, message: "A directory has the name of the cache's file; remove it.",
        path: file)
    }
    try disk.remove(file)
  }

  private func makeTag() throws {
    guard try disk.status(at: tag) == nil else { return }
    do {
      try disk.withDescriptor(tag, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600) { descriptor in
        var contents = Self.tagContents
        _ = try contents.withUTF8 {
          try disk.write(descriptor, from: UnsafeRawBufferPointer($0), path: tag)
        }
      }
    } catch let error as FileError where error.code == .alreadyExists {}
  }
}
