import Foundation

/// The directories in which an app keeps its files, by the rules of the system it runs on.
///
/// ```swift
/// let directories = try AppDirectories(id: "com.example.notes")
/// let file = AtomicFile(try directories.create(\.config).appending(path: "window.json"))
/// ```
///
/// The locations are determined once and without touching the disk, except for ``runtime`` and ``temporary``,
/// whose safety has to be checked. A directory is created only by ``create(_:)``, and is readable by its
/// owner alone.
///
/// On Linux the rules are those of the XDG Base Directory Specification and of `user-dirs.dirs`; on Apple's
/// systems the locations are those of `FileManager`.
public struct AppDirectories: Sendable, Hashable {
  /// The app's name in reverse domain style, such as `com.example.notes`.
  public let id: String

  /// The user's documents: owned by the user, and shared with every other app.
  public let documents: URL
  /// What the app cannot recreate: databases, documents it manages itself.
  public let data: URL
  /// The user's settings.
  public let config: URL
  /// What can be recreated or fetched again; anyone may delete it at any time.
  public let cache: URL
  /// What should survive a restart but isn't worth copying to another machine: history, layout.
  public let state: URL
  /// Log files.
  public let logs: URL
  /// Sockets, locks and pipes; removed when the user has logged out.
  public let runtime: URL
  /// Why ``runtime`` replaces the location that the system names; nil when it does not.
  ///
  /// The specification asks for a warning in this case: log it.
  public let runtimeWarning: String?
  /// Short-lived files, hidden from other users.
  public let temporary: URL

  /// The location of the directories that several apps share.
  let groups: URL
  /// The user's home, which is never created.
  package let home: HomeDirectory

  /// Determines the directories of the app with an identifier.
  ///
  /// - Parameters:
  ///   - id: One path component, best in reverse domain style; it becomes part of every path except ``documents``.
  ///   - environment: The process's environment, or a test's substitute.
  /// - Throws: ``FileError``: `.invalidName` when the identifier is empty, longer than 200 bytes,
  ///   begins with a dot, or holds a slash or a control character.
  public init(
    id: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    try Self.check(id)
    self.init(checkedID: id, environment: environment)
  }

  /// The directory that several apps of one maker share.
  ///
  /// - Parameter group: The group's name, such as `group.com.example`; every app that uses it gets the same
  ///   directory.
  /// - Throws: ``FileError``: `.invalidName`, by the same rules as for ``id``.
  public func shared(group: String) throws -> URL {
    try Self.check(group)
    return groups.appending(path: group, directoryHint: .isDirectory)
  }

  /// Creates the directory that several apps share, if it is missing, and returns its URL.
  ///
  /// Missing parents are created for their owner alone (0700), so the apps must belong to one user. The home
  /// itself is never created.
  ///
  /// - Throws: ``FileError``: `.invalidName` as ``shared(group:)`` does, `.notAFile` when something else has
  ///   the name, `.notFound` when the home does not exist, `.denied` when the directory may not be created.
  @discardableResult
  public func createShared(group: String) throws -> URL {
    let url = try shared(group: group)
    try POSIXDisk().makeDirectories(url.checkedPath, outside: home)
    return url
  }

  /// Creates one of the directories, if it is missing, and returns its URL.
  ///
  /// Missing parents are created for their owner alone (0700), whatever the umask is. The home itself is never
  /// created, since a missing one may not be mounted. ``runtime`` and ``temporary`` are refused
  /// where another user owns or could read them.
  ///
  /// ```swift
  /// let data = try directories.create(\.data)
  /// ```
  ///
  /// - Throws: ``FileError``: `.notAFile` when something else has the name, `.notFound` when the home does not
  ///   exist, `.denied` when the directory may not be created, or is not safe to use.
  @discardableResult
  public func create(_ directory: KeyPath<AppDirectories, URL>) throws -> URL {
    let url = self[keyPath: directory]
    let disk = POSIXDisk()
    let path = try url.checkedPath
    // These two may be in a directory where everybody can write.
    if directory == \.runtime || directory == \.temporary {
      try PrivateDirectory.create(path, outside: home, on: disk)
    } else {
      try disk.makeDirectories(path, outside: home)
    }
    return url
  }

  /// An identifier becomes a name in shared directories, so it must not lead out of them.
  private static func check(_ id: String) throws {
    // A file's name has 255 bytes at most, and suffixes such as "-runtime-1000" are added.
    let limit = 200
    let isSafe = id.unicodeScalars.allSatisfy { $0 != "/" && $0.value >= 0x20 && $0.value != 0x7F }
    guard !id.isEmpty, id.utf8.count <= limit, !id.hasPrefix("."), isSafe else {
      throw FileError(
        code: .invalidName,
        message: "This isn't a valid app identifier; use one such as com.example.notes.",
        path: id)
    }
  }
}

// MARK: - Directories in a shared location

/// A directory for this user alone in a location where everyone may write, such as `/tmp`.
///
/// Another user may have created a directory or a link of that name, to read what is put there. So the entry
/// itself is checked, not what it leads to, and it is used only when it is a directory that belongs to this
/// user and that nobody else may enter.
enum PrivateDirectory {
  /// Creates the directory and its missing parents, but neither `home` nor that of the process.
  static func create(_ path: String, outside home: HomeDirectory, on disk: any Disk) throws {
    for home in [home, .process] { try home.checkPresence(for: path, on: disk) }
    try create(path, on: disk)
  }

  private static func create(_ path: String, on disk: any Disk) throws {
    let parent = path.directoryPath
    if try disk.statusFollowingLinks(parent) == nil { try create(parent, on: disk) }
    // Made first and checked second: a check before it would leave time to put a link there.
    do {
      try disk.makeDirectory(path, mode: 0o700)
    } catch let error as FileError where error.code == .alreadyExists {
      if let problem = try problem(with: path, on: disk) {
        throw FileError(code: .denied, message: problem, path: path)
      }
    }
  }

  /// The reason not to use an existing directory; nil when it is safe.
  static func problem(with path: String, on disk: any Disk) throws -> String? {
    guard let found = try disk.status(at: path) else { return "The directory does not exist." }
    guard found.kind == .directory else { return "It isn't a directory." }
    // The owner could change the permissions at any time, so they alone say nothing.
    guard found.user == geteuid() else { return "The directory belongs to another user." }
    guard found.mode & 0o777 == 0o700 else { return "Its permissions aren't 0700." }
    return nil
  }
}
