import Foundation

/// A file that is read and replaced as a whole, and is never seen half written.
///
/// ```swift
/// let file = AtomicFile(directories.config.appending(path: "window.json"))
/// try file.replace(with: JSONEncoder().encode(window))
/// ```
///
/// A write goes to a temporary file in the same directory that takes the name at the end, so that a
/// reader, or a process that starts after a crash, finds the old contents or the new. A symbolic link
/// is followed and stays one. Permissions and, where the process may set it, the owner are the old
/// file's; access control lists, extended attributes and further hard links are not carried over.
///
/// A write costs as much as the file is long. For values that change one by one in a large file, use
/// a database. Values of this type may be used from any thread and any process at once; each write
/// locks the directory for the moment in which the name changes hands. Where another program has locked it
/// and does not go on, a write throws `.busy` after 10 seconds.
public struct AtomicFile: Sendable {
  /// The largest file that is read, 4 GiB: more than that does not belong into memory at once.
  public static let sizeLimit = 1 << 32

  /// Where the file is, or will be.
  public let url: URL
  /// How long a write waits while another program has the directory locked, before it throws `.busy`.
  package var lockWait = directoryLockLimit
  let disk: any Disk

  /// A file at a place; nothing is read or made until it is asked for.
  public init(_ url: URL) {
    self.init(url, disk: POSIXDisk())
  }

  init(_ url: URL, disk: any Disk) {
    self.url = url
    self.disk = disk
  }

  /// All that is in the file.
  ///
  /// - Throws: ``FileError``: `.notFound` when there is no file, `.notAFile` for a directory or a
  ///   pipe, `.tooLarge` above ``sizeLimit``.
  public func read() throws -> Data {
    try disk.contents(of: url.checkedPath, limit: Self.sizeLimit)
  }

  /// All that is in the file, or nil when there is no file.
  ///
  /// - Throws: ``FileError`` as ``read()`` does, except for `.notFound`.
  public func readIfPresent() throws -> Data? {
    do {
      return try read()
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  /// Puts new contents in the place of whatever is there, or makes the file.
  ///
  /// The directory must exist. When it throws, the old file is as it was.
  ///
  /// - Parameters:
  ///   - data: The contents from now on.
  ///   - durability: What the write is safe from once the call returns.
  ///   - permissions: The file's from now on; nil keeps the old file's, and makes a new file
  ///     `.ownerOnly`. The file that takes shape meanwhile never allows more.
  /// - Throws: ``FileError``, such as `.noSpace`, `.denied`, or `.notFound` when there is no directory.
  public func replace(
    with data: Data, durability: Durability = .full, permissions: Permissions? = nil
  ) throws {
    try put(data, durability, permissions) { disk, target, temporary in
      try disk.rename(temporary.path, to: target)
    }
  }

  /// Makes the file, and leaves one that is there already alone.
  ///
  /// Of several processes that try at once, exactly one succeeds.
  ///
  /// - Throws: ``FileError``: `.alreadyExists` when something is there.
  public func create(
    with data: Data, durability: Durability = .full, permissions: Permissions = .ownerOnly
  ) throws {
    // Before the work of writing; what decides is the link below.
    try refuseExisting(at: disk.resolveLinks(url.checkedPath))
    try put(data, durability, permissions) { disk, target, temporary in
      do {
        try disk.link(temporary.path, to: target)
      } catch let error as FileError where error.code == .denied || error.code == .failed {
        // FAT and some network file systems have no hard links. The directory's lock keeps our own
        // writers out between the look and the rename.
        try refuseExisting(at: target)
        try disk.rename(temporary.path, to: target)
      }
    }
  }

  /// Puts new contents in place only if the file still holds what the caller last read.
  ///
  /// The comparison is of the bytes, made again when the old file has lost its name, so it costs three
  /// reads of the file. It holds against all writers that use this type, in every process, and against
  /// programs that put a file of their own in place or write into it before. Where the file system cannot
  /// exchange two files' names, as network file systems cannot, another program can slip in between.
  ///
  /// - Parameters:
  ///   - expected: What ``readIfPresent()`` gave: nil when there was no file.
  ///   - data: The contents from now on.
  ///   - durability: What the write is safe from once the call returns.
  ///   - permissions: The file's from now on; nil keeps the old file's, or means `.ownerOnly`.
  /// - Throws: ``FileError``: `.changed` when something else is there now.
  public func replace(
    _ expected: Data?, with data: Data, durability: Durability = .full,
    permissions: Permissions? = nil
  ) throws {
    // Nothing is written, and nothing synced, for a race that is lost already.
    try refuseChange(since: expected)
    try put(data, durability, permissions) { _, target, temporary in
      let isPlaced = try swap(temporary, target) { found in
        try found.status == nil ? expected == nil : found.contents() == expected
      }
      guard isPlaced else { throw try changed }
    }
  }

  /// Reads, lets `change` make the new contents, and replaces; again when another writer was quicker.
  ///
  /// - Parameters:
  ///   - durability: What the write is safe from once the call returns.
  ///   - attempts: How often it is tried at most.
  ///   - change: Gets the contents, nil when there is no file, and returns the new ones, or nil to
  ///     leave all as it is. It may run several times.
  /// - Returns: What the file holds now.
  /// - Throws: ``FileError``: `.busy` when other writers were quicker `attempts` times; and whatever
  ///   `change` throws.
  @discardableResult
  public func update(
    durability: Durability = .full, attempts: Int = 100, _ change: (Data?) throws -> Data?
  ) throws -> Data? {
    for _ in 0..<attempts {
      let old = try readIfPresent()
      guard let new = try change(old) else { return old }
      do {
        try replace(old, with: new, durability: durability)
        return new
      } catch let error as FileError where error.code == .changed {
        continue
      }
    }
    throw FileError(
      code: .busy, message: "Other writers were quicker each of \(attempts) times.",
      path: try url.checkedPath)
  }

  /// Removes what writers that died left in a directory, and returns how many files that were.
  ///
  /// The next write of the same file does this for that file by itself; call this for a directory
  /// whose files have all kinds of names. It costs a listing of the directory. Temporary files of
  /// writers that live are left alone.
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
  /// What a finished write is safe from.
  ///
  /// Every level survives the end of the process, `kill -9` included: the system has the bytes. They
  /// differ in what a loss of power, or a crash of the system, may undo. Measured on ext4, a sync takes
  /// between 0.3 ms on an idle disk and 8 ms on a busy one.
  public enum Durability: Sendable, Hashable, CaseIterable {
    /// Nothing is synced. After a loss of power the file may be old, new or, on some file systems, empty.
    case none
    /// The contents are synced before they take the name: after a loss of power the file is the old one
    /// or the new one, whole. One sync.
    case file
    /// The name is synced, too: once the call returns, the new file stays. Two syncs.
    case full
  }

  /// Who may read and write a file, as the mode bits of POSIX.
  public struct Permissions: RawRepresentable, Hashable, Sendable {
    /// The bits as `chmod` takes them.
    public var rawValue: UInt16

    /// Permissions from the bits that `chmod` takes.
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0o7777 }

    /// The owner reads and writes, nobody else does: 0600.
    public static let ownerOnly = Permissions(rawValue: 0o600)
    /// The owner writes, everyone reads: 0644.
    public static let everyoneReads = Permissions(rawValue: 0o644)
  }
}

extension AtomicFile {
  /// Writes a temporary file and lets `place` give it the name while the directory is locked.
  private func put(
    _ data: Data, _ durability: Durability, _ permissions: Permissions?,
    _ place: (any Disk, _ target: String, TemporaryFile) throws -> Void
  ) throws {
    let target = try disk.resolveLinks(url.checkedPath)
    let temporary = try draft(of: data, for: target, permissions: permissions)
    defer { temporary.finish() }
    if durability != .none { try temporary.sync() }
    try placeLocked(temporary, target, durability, place)
  }

  /// A temporary file with new contents, and with what the old file has beside its contents.
  func draft(
    of data: Data, for target: String, permissions: Permissions?
  ) throws -> TemporaryFile {
    let old = try disk.status(at: target)
    if let old, old.kind != .file {
      throw FileError(
        code: .notAFile, message: "Only a plain file can be replaced.", path: target)
    }
    let temporary = try TemporaryFile(beside: target, on: disk)
    do {
      try temporary.write(data)
      try temporary.takeOver(old, permissions: permissions ?? old?.permissions ?? .ownerOnly)
      return temporary
    } catch {
      temporary.finish()
      throw error
    }
  }

  private func placeLocked(
    _ temporary: TemporaryFile, _ target: String, _ durability: Durability,
    _ place: (any Disk, String, TemporaryFile) throws -> Void
  ) throws {
    let directory = target.directoryPath
    try disk.withLockedDirectory(directory, wait: lockWait) { descriptor in
      try place(disk, target, temporary)
      // A rename is durable only once its directory is synced; ext4 may lose it otherwise.
      if durability == .full { try disk.sync(descriptor, path: directory) }
    }
  }

  private func refuseExisting(at path: String) throws {
    guard try disk.status(at: path) != nil else { return }
    throw FileError(
      code: .alreadyExists, message: "There is something of that name already.", path: path)
  }

  private func refuseChange(since expected: Data?) throws {
    guard try readIfPresent() == expected else { throw try changed }
  }

  private var changed: FileError {
    get throws {
      FileError(
        code: .changed, message: "The file is no longer what was read.", path: try url.checkedPath)
    }
  }
}

extension FileStatus {
  fileprivate var permissions: AtomicFile.Permissions { .init(rawValue: UInt16(mode)) }
}
