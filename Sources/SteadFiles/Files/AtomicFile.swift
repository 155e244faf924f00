import Foundation

/// A file that is read and replaced as a whole, and is never seen half written.
///
/// ```swift
/// let file = AtomicFile(directories.config.appending(path: "window.json"))
/// try file.replace(with: JSONEncoder().encode(window))
/// ```
///
/// A write goes to a temporary file in the same directory, which is then renamed: `rename` replaces a name atomically. A reader, or a process that
/// starts after a crash, finds either the old contents or the new. A symbolic link is followed and remains a
/// link. The new file keeps the old file's permissions and, where the process may set it, its owner; access
/// control lists, extended attributes and further hard links are not carried over.
///
/// A write costs time in proportion to the file's length. For values that change one by one in a large file,
/// use a database. Values of this type may be used from any thread and any process at once; each write locks
/// the directory during the rename. If another program holds that lock, a write throws `.busy` after 10
/// seconds.
public struct AtomicFile: Sendable {
  /// The largest file that can be read, 4 GiB; a larger one should not be loaded into memory at once.
  public static let sizeLimit = 1 << 32

  /// Where the file is, or will be.
  public let url: URL
  /// How long a write waits for a directory that another program has locked before it throws `.busy`.
  package var lockWait = directoryLockLimit
  /// Whether ``replace(with:durability:permissions:)`` replaces whatever has the name, but a directory: a link itself, and
  /// not what it leads to. For directories that others may have made.
  package var replacesName = false
  let disk: any Disk

  /// Describes a file at a URL; nothing is read or created yet.
  public init(_ url: URL) {
    self.init(url, disk: POSIXDisk())
  }

  init(_ url: URL, disk: any Disk) {
    self.url = url
    self.disk = disk
  }

  /// Reads the whole file.
  ///
  /// - Throws: ``FileError``: `.notFound` when the file does not exist, `.notAFile` for a directory or a
  ///   pipe, `.tooLarge` above ``sizeLimit``.
  public func read() throws -> Data {
    try disk.contents(of: url.checkedPath, limit: Self.sizeLimit)
  }

  /// Reads the whole file, or returns nil when it does not exist.
  ///
  /// - Throws: ``FileError`` as ``read()`` does, except for `.notFound`.
  public func readIfPresent() throws -> Data? {
    // Most often nothing has the name, and a status costs a tenth of an error.
    guard try disk.status(at: url.checkedPath) != nil else { return nil }
    do {
      return try read()
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  /// Replaces the file's contents, or creates the file.
  ///
  /// The directory must exist. If the call throws, the old file is unchanged.
  ///
  /// - Parameters:
  ///   - data: The new contents.
  ///   - durability: What the write survives once the call returns.
  ///   - permissions: The file's permissions from now on; nil keeps the old file's, and creates a new file
  ///     with `.ownerOnly`. The temporary file never allows more.
  /// - Throws: ``FileError``, such as `.noSpace`, `.denied`, or `.notFound` when the directory does not exist.
  public func replace(
    with data: Data, durability: Durability = .full, permissions: Permissions? = nil
  ) throws {
    try put(data, durability, permissions) { disk, target, temporary in
      try disk.rename(temporary.path, to: target)
    }
  }

  /// Replaces the contents only if the file has the status that it had when the caller read it.
  ///
  /// The check costs a system call. It is made under the directory's lock, so it holds against all writers that use this
  /// type, in every process.
  ///
  /// - Throws: ``FileError``: `.changed` when the file has another status, or is gone.
  package func replace(
    with data: Data, ifStill status: FileStatus, permissions: Permissions
  ) throws {
    try put(data, .full, permissions) { disk, target, temporary in
      guard try disk.status(at: target) == status else { throw try changed }
      try disk.rename(temporary.path, to: target)
    }
  }

  /// Creates the file, and leaves an existing one alone.
  ///
  /// If several processes try at once, exactly one succeeds.
  ///
  /// - Throws: ``FileError``: `.alreadyExists` when something has that name.
  public func create(
    with data: Data, durability: Durability = .full, permissions: Permissions = .ownerOnly
  ) throws {
    // Checked first to save the work of writing; the link below decides.
    try refuseExisting(at: disk.resolveLinks(url.checkedPath))
    try put(data, durability, permissions) { disk, target, temporary in
      do {
        try disk.link(temporary.path, to: target)
      } catch let error as FileError where error.code == .denied || error.code == .failed {
        // FAT and some network file systems have no hard links. The directory's lock keeps this library's
        // other writers out between the check and the rename.
        try refuseExisting(at: target)
        try disk.rename(temporary.path, to: target)
      }
    }
  }

  /// Replaces the contents only if the file still holds what the caller last read.
  ///
  /// The bytes are compared, and compared again after the old file has lost its name, so it costs three reads
  /// of the file. The check holds against all writers that use this type, in every process, and against
  /// programs that put their own file in place or write into it beforehand. Where the file system cannot
  /// exchange two files' names, as network file systems cannot, another program can slip in between.
  ///
  /// - Parameters:
  ///   - expected: What ``readIfPresent()`` returned; nil means that the file did not exist.
  ///   - data: The new contents.
  ///   - durability: What the write survives once the call returns.
  ///   - permissions: The file's permissions from now on; nil keeps the old file's, or means `.ownerOnly`.
  /// - Throws: ``FileError``: `.changed` when the file now holds something else.
  public func replace(
    _ expected: Data?, with data: Data, durability: Durability = .full,
    permissions: Permissions? = nil
  ) throws {
    // Nothing is written or synced for a race that is already lost.
    try refuseChange(since: expected)
    try put(data, durability, permissions) { _, target, temporary in
      let isInstalled = try swap(temporary, target) { found in
        try found.status == nil ? expected == nil : found.contents() == expected
      }
      guard isInstalled else { throw try changed }
    }
  }

  /// Reads the contents, calls `change` for new ones and replaces them; retries if another writer came first.
  ///
  /// - Parameters:
  ///   - durability: What the write survives once the call returns.
  ///   - attempts: The maximum number of attempts.
  ///   - change: Gets the contents, nil when the file does not exist, and returns the new ones, or nil to
  ///     change nothing. It may run several times.
  /// - Returns: The file's contents afterwards.
  /// - Throws: ``FileError``: `.busy` when other writers came first `attempts` times; and whatever `change` throws.
  @discardableResult
  public func update(
    durability: Durability = .full, attempts: Int = 100, _ change: (Data?) throws -> Data?
  ) throws -> Data? {
    for _ in 0..<attempts {
      let old = try readIfPresent()
      // `change` is the program's code, so nothing is locked while it runs. The comparison below notices what came in
      // between.
      guard let new = try change(old) else { return old }
      do {
        try replace(old, with: new, durability: durability)
        return new
      } catch let error as FileError where error.code == .changed {
        continue
      }
    }
    throw FileError(
      code: .busy, message: "Another writer came first on each of \(attempts) attempts; try again.",
      path: try url.checkedPath)
  }

  /// Removes temporary files left in a directory by writers that died, and returns their number.
  ///
  /// The next write of the same file does this for that file automatically; call this for a directory with
  /// files of many names. It costs a listing of the directory. Temporary files of live writers are left
  /// alone.
  ///
  /// - Throws: ``FileError`` when the directory cannot be listed.
  @discardableResult
  public static func removeStaleTemporaries(in directory: URL) throws -> Int {
    let disk = POSIXDisk()
    let path = try directory.checkedPath
    return try disk.names(in: path).count { name in
      guard TemporaryFile.isName(name) else { return false }
      return (try? TemporaryFile.removeIfStale(path + "/" + name, on: disk)) ?? false
    }
  }
}

extension AtomicFile {
  /// What a finished write survives.
  ///
  /// At every level the write survives the end of the process, including `kill -9`, since the system has the
  /// bytes. The levels differ in what a power loss or a system crash may undo. Measured on ext4, a sync takes
  /// between 0.3 ms on an idle disk and 8 ms on a busy one.
  public enum Durability: Sendable, Hashable, CaseIterable {
    /// Nothing is synced. After a power loss the file may be old, new or, on some file systems, empty.
    case none
    /// The contents are synced before the rename: after a power loss the file is entirely old or entirely
    /// new. One sync.
    case file
    /// The name is synced, too: once the call returns, the new file survives. Two syncs.
    case full
  }

  /// Who may read and write a file, as POSIX mode bits.
  public struct Permissions: RawRepresentable, Hashable, Sendable {
    /// The mode bits, as `chmod` uses them.
    public var rawValue: UInt16

    /// Makes permissions from the bits that `chmod` uses.
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0o7777 }

    /// The owner reads and writes, nobody else has access: 0600.
    public static let ownerOnly = Permissions(rawValue: 0o600)
    /// The owner writes, everyone reads: 0644.
    public static let everyoneReads = Permissions(rawValue: 0o644)
  }
}

extension AtomicFile {
  /// Writes a temporary file and calls `install` to rename it while the directory is locked.
  ///
  /// Invariant: the target has its old contents until `install` renames, and the new ones completely from then on. With
  /// `.file` and `.full` the contents are synced before the rename: file systems may write a rename before the data, and a
  /// power loss would then leave an empty or partial file under the target's name.
  private func put(
    _ data: Data, _ durability: Durability, _ permissions: Permissions?,
    _ install: (any Disk, _ target: String, TemporaryFile) throws -> Void
  ) throws {
    let path = try url.checkedPath
    let target = try replacesName ? path : disk.resolveLinks(path)
    let temporary = try draft(of: data, for: target, permissions: permissions)
    // After a rename the temporary name is gone, and this only closes the file and frees its lock.
    defer { temporary.finish() }
    if durability != .none { try temporary.sync() }
    try installLocked(temporary, target, durability, install)
  }

  /// Makes a temporary file with the new contents and with the old file's owner and permissions.
  func draft(
    of data: Data, for target: String, permissions: Permissions?
  ) throws -> TemporaryFile {
    var old = try disk.status(at: target)
    if replacesName, let found = old, found.kind == .link || found.kind == .other {
      // Whoever made the link or the pipe chose its owner and permissions; the new file must not get them.
      old = nil
    }
    if let old, old.kind != .file {
      throw FileError(
        code: .notAFile, message: "Only a regular file can be replaced; name another one.",
        path: target)
    }
    let temporary = try TemporaryFile(beside: target, on: disk)
    do {
      try temporary.write(data)
      try temporary.copyOwnership(
        of: old, permissions: permissions ?? old?.permissions ?? .ownerOnly)
      return temporary
    } catch {
      temporary.finish()
      throw error
    }
  }

  /// Renames under the directory's lock, which keeps out this library's other writers: a check of the old file and the rename
  /// are then one step for them.
  private func installLocked(
    _ temporary: TemporaryFile, _ target: String, _ durability: Durability,
    _ install: (any Disk, String, TemporaryFile) throws -> Void
  ) throws {
    let directory = target.directoryPath
    try disk.withLockedDirectory(directory, wait: lockWait) { descriptor in
      try install(disk, target, temporary)
      // A rename is durable only once its directory is synced; ext4 may lose it otherwise.
      if durability == .full { try disk.sync(descriptor, path: directory) }
    }
  }

  private func refuseExisting(at path: String) throws {
    guard try disk.status(at: path) != nil else { return }
    throw FileError(
      code: .alreadyExists,
      message: "Something of that name already exists; choose another name.", path: path)
  }

  private func refuseChange(since expected: Data?) throws {
    guard try readIfPresent() == expected else { throw try changed }
  }

  private var changed: FileError {
    get throws {
      FileError(
        code: .changed, message: "The file has changed since it was read; read it again.",
        path: try url.checkedPath)
    }
  }
}

extension FileStatus {
  fileprivate var permissions: AtomicFile.Permissions { .init(rawValue: UInt16(mode)) }
}
