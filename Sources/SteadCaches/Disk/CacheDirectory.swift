import CSteadFiles
import Foundation
import SteadFiles
import SteadSQLite

/// The files of a cache, and the checks that make them safe to open.
///
/// ```
/// CACHEDIR.TAG       makes backup programs skip the directory
/// DiskCache.sqlite   entries, with SQLite's `-wal` and `-shm` beside it
/// changes            the shared count of changes (ChangeCounter)
/// values/            large values, a file each
/// ```
///
/// The directory is the cache's own: a file with one of these names is removed if it can't be used.
struct CacheDirectory: Sendable {
  /// How long opening waits for another process that is opening the cache.
  static let lockTimeout = Duration.milliseconds(250)

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
    // `status(at:)` doesn't follow links: a link that another user may change must not decide what
    // is opened.
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
    // Before SQLite opens it: the log and its index get the file's mode.
    SQLiteFile.makePrivate(at: database)
  }

  /// Removes the database. A process that opens it meanwhile waits for the directory's lock.
  func removeDatabase() throws {
    // The main file first: a process that is killed in between leaves a log that SQLite ignores
    // next to a new file, instead of a file without its newest commits.
    for file in [database, log, database + "-shm"] {
      do {
        try disk.remove(file)
      } catch let error as FileError where error.code == .notFound {}
    }
  }

  func withLock<Result>(wait: Duration, _ body: () throws -> Result) throws -> Result {
    // The directory itself is locked, so no lock's file can be removed or left behind.
    try disk.withLockedDirectory(path, wait: wait) { _ in try body() }
  }

  /// The identity of the file that the database's path leads to now.
  var databaseIdentity: FileStatus.Identity? { databaseStatus?.identity }

  /// The status of the file that the database's path leads to now.
  var databaseStatus: FileStatus? {
    // An error is like a missing file: the open one is closed, and opening reports what is wrong.
    try? disk.status(at: database)
  }

  /// Checks that no other user decides what is in a directory: it isn't a link, it belongs to the
  /// user, and nobody else may write to it.
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

// MARK: - Rights

/// The credentials with which this process uses a cache's files: those of the files' owner.
///
/// The superuser may do everything, and links could lead it to do it anywhere: the owner of a
/// directory decides what its names lead to. So it opens, creates and removes files in a user's
/// cache with that user's rights, and files that it creates there belong to the user. Its
/// supplementary groups stay. Costs eight system calls for each call of ``use(_:)``, and nothing if
/// the files are the process's own.
struct FileRights: Sendable {
  private let owner: stead_file_rights?

  /// The user who owns the files.
  var user: uid_t { owner?.user ?? geteuid() }

  /// The rights of the first user, other than the superuser, who owns a directory or a link on the
  /// way to a path, and so decides what the rest of it leads to.
  init(at path: String, disk: any Disk) throws {
    owner = geteuid() == 0 ? try Self.owner(of: path, disk) : nil
  }

  private static func owner(of path: String, _ disk: any Disk) throws -> stead_file_rights? {
    // From the root down: the first user on the way can exchange everything below. A link's owner
    // counts like that of what it leads to, since either decides about the rest.
    let parent = path.directoryPath
    if parent != path, let owner = try owner(of: parent, disk) { return owner }
    for found in [try disk.status(at: path), try disk.statusFollowingLinks(path)] {
      if let found, found.user != 0 {
        return stead_file_rights(user: found.user, group: found.group)
      }
    }
    return nil
  }

  /// Runs a body in which this thread has no other rights.
  ///
  /// - Throws: ``FileError`` `.denied` when the process can't take these rights, and what the body
  ///   throws.
  func use<Result>(_ body: () throws -> Result) throws -> Result {
    guard let owner else { return try body() }
    var before = stead_file_rights()
    // By thread (`setfsuid`), so other threads of the process keep their rights meanwhile.
    guard stead_file_rights_take(owner, &before) == 0 else { throw Self.refusal }
    defer { stead_file_rights_give_back(before) }
    return try body()
  }

  private static var refusal: FileError {
    FileError(
      code: .denied,
      message: "The cache's directory belongs to another user, whose rights the process can't use; "
        + "choose another directory.",
      path: "")
  }
}
