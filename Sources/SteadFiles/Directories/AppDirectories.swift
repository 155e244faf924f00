import Foundation

/// Where an app keeps what it keeps, by the rules of the system it runs on.
///
/// ```swift
/// let directories = try AppDirectories(id: "com.example.notes")
/// let file = AtomicFile(try directories.create(\.config).appending(path: "window.json"))
/// ```
///
/// The places are worked out once and without touching the disk, except for ``runtime`` and
/// ``temporary``, whose safety has to be looked at. A directory is made by ``create(_:)``, readable by
/// its owner alone, and not before.
///
/// On Linux the rules are those of the XDG Base Directory Specification and of `user-dirs.dirs`; on
/// Apple's systems the places are the ones that `FileManager` gives.
public struct AppDirectories: Sendable, Hashable {
  /// The app's name in reverse domain style, such as `com.example.notes`.
  public let id: String

  /// The user's documents: theirs, and shared with every other app.
  public let documents: URL
  /// What the app cannot make again: databases, documents it manages itself.
  public let data: URL
  /// The user's settings.
  public let config: URL
  /// What can be made or fetched again; anyone may delete it at any time.
  public let cache: URL
  /// What should outlive a restart but is not worth carrying to another machine: history, layout.
  public let state: URL
  /// Log files.
  public let logs: URL
  /// Sockets, locks and pipes; gone when the user has logged out.
  public let runtime: URL
  /// Why ``runtime`` is a stand-in for the place that the system names, nil when it is not.
  ///
  /// The specification asks for a warning in this case: log it.
  public let runtimeWarning: String?
  /// Files of the moment, out of other users' sight.
  public let temporary: URL

  /// Where the directories are that several apps share.
  let groups: URL

  /// The directories of the app with an identifier.
  ///
  /// - Parameters:
  ///   - id: One path component, best in reverse domain style; it becomes part of every place but
  ///     ``documents``.
  ///   - environment: The process's environment, or what a test wants it to be.
  /// - Throws: ``FileError``: `.invalidName` when the identifier is empty, longer than 200 bytes,
  ///   begins with a dot, or holds a slash or a control character.
  public init(
    id: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    try Self.check(id)
    self.init(checkedID: id, environment: environment)
  }

  /// Where several apps of one maker keep what they share.
  ///
  /// - Parameter group: The group's name, such as `group.com.example`; every app that knows it gets
  ///   the same place.
  /// - Throws: ``FileError``: `.invalidName`, by the same rules as for ``id``.
  public func shared(group: String) throws -> URL {
    try Self.check(group)
    return groups.appending(path: group, directoryHint: .isDirectory)
  }

  /// Makes the directory that several apps share, if it is not there, and returns where it is.
  ///
  /// What has to be made on the way is for its owner alone (0700), so the apps must be one user's.
  ///
  /// - Throws: ``FileError``: `.invalidName` as ``shared(group:)`` does, `.notAFile` when something else
  ///   has the name, `.denied` when the directory may not be made.
  @discardableResult
  public func createShared(group: String) throws -> URL {
    let url = try shared(group: group)
    try POSIXDisk().makeDirectories(url.checkedPath)
    return url
  }

  /// Makes one of the directories, if it is not there, and returns where it is.
  ///
  /// What has to be made on the way is for its owner alone (0700). ``runtime`` and ``temporary`` are
  /// refused where another user owns or could read them.
  ///
  /// ```swift
  /// let data = try directories.create(\.data)
  /// ```
  ///
  /// - Throws: ``FileError``: `.notAFile` when something else has the name, `.denied` when the
  ///   directory may not be made, or is not safe to use.
  @discardableResult
  public func create(_ directory: KeyPath<AppDirectories, URL>) throws -> URL {
    let url = self[keyPath: directory]
    let disk = POSIXDisk()
    let path = try url.checkedPath
    if directory == \.runtime || directory == \.temporary {
      try PrivateDirectory.create(path, on: disk)
    } else {
      try disk.makeDirectories(path)
    }
    return url
  }

  /// An identifier becomes a name in shared places, so it must not lead out of them.
  private static func check(_ id: String) throws {
    let limit = 200
    let isSafe = id.unicodeScalars.allSatisfy { $0 != "/" && $0.value >= 0x20 && $0.value != 0x7F }
    guard !id.isEmpty, id.utf8.count <= limit, !id.hasPrefix("."), isSafe else {
      throw FileError(
        code: .invalidName, message: "This cannot be the identifier of an app.", path: id)
    }
  }
}
