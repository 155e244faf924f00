import CSteadFiles
import Foundation

/// A file that is written as a whole on a file system that cannot lock files by `flock` or map them, as some network and
/// container file systems can't.
///
/// Writers take turns by a record lock (`fcntl`) on a file beside it, `NAME.lock`. Where the file system has no record locks
/// either, nothing keeps two writers apart. Each still writes a temporary file of its own. So a reader finds the old contents
/// or those of one writer, as a whole.
package struct PlainFile: Sendable {
  /// The age in seconds at which a temporary file's writer must be gone, since without locks nobody can tell.
  package static let staleAge: Int64 = 3_600

  package let path: String
  private let lockPath: String
  private let disk: any Disk

  /// - Parameters:
  ///   - url: The file.
  ///   - lock: The file that writers lock.
  package init(_ url: URL, lock: URL) { self.init(url, lock: lock, disk: POSIXDisk()) }

  init(_ url: URL, lock: URL, disk: any Disk) {
    self.disk = disk
    path = url.path(percentEncoded: false)
    lockPath = lock.path(percentEncoded: false)
  }

  /// What the system knows about the file; nil when there is none.
  package func status() throws -> FileStatus? { try disk.statusFollowingLinks(path) }

  /// The contents.
  ///
  /// For a mount point that a killed writer has left half written, these are the contents that it was about to write.
  ///
  /// - Throws: ``FileError``, as ``AtomicFile/read()``.
  package func read() throws -> Data {
    for _ in 0..<Self.readingLimit {
      let before = try status()
      let data = try disk.contents(of: path, limit: AtomicFile.sizeLimit)
      if let pending = try pendingContents(beginningWith: data) { return pending }
      // Between the two reads a writer may have finished the file and removed the pending contents. Only an unchanged status
      // shows that what was read is whole.
      if try status() == before { return data }
    }
    throw FileError(
      code: .busy, message: "The file was replaced again and again while it was read; try again.",
      path: path)
  }

  /// How often writers may replace the file while it is read.
  private static let readingLimit = 1_000

  /// The contents; nil when there is no file.
  package func readIfPresent() throws -> Data? {
    do { return try read() } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  /// The contents that are being written to a mount point, if the file has a part of them.
  private func pendingContents(beginningWith part: Data) throws -> Data? {
    do {
      let pending = try disk.contents(
        of: Self.pendingPath(of: disk.resolveLinks(path)), limit: AtomicFile.sizeLimit)
      // Longer, since equal contents are complete already.
      return pending.count > part.count && pending.starts(with: part) ? pending : nil
    } catch let error as FileError where [.notFound, .notAFile].contains(error.code) {
      return nil
    }
  }

  /// The name of the contents that are being written to a mount point.
  private static func pendingPath(of target: String) -> String { stem(of: target) + "next" }

  /// Runs `body` while no other process writes the file.
  ///
  /// It doesn't wait: its callers have locks that others need.
  ///
  /// - Throws: ``FileError`` `.busy` when another process has the lock.
  package func withLock<Result>(_ body: () throws -> Result) throws -> Result {
    try disk.makeDirectories(path.directoryPath)
    let descriptor = try disk.open(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    defer { disk.close(descriptor) }
    let error = stead_file_lock_record(descriptor)
    if error == EAGAIN || error == EACCES {
      throw FileError(
        code: .busy, message: "Another process has locked the file; try again.", path: lockPath)
    }
    if error != 0 {
      let failure = FileError(errno: error, doing: "lock the file", path: lockPath)
      // Without any lock each writer still renames a whole file of its own. Only a mount point can get parts of two.
      guard failure.isUnsupported else { throw failure }
    }
    // Closing isn't enough: the child of a concurrent fork has the file open, too.
    defer { _ = stead_file_unlock_record(descriptor) }
    return try body()
  }

  /// Replaces the contents durably, and returns the new file's status; nil if that isn't known. Requires the lock.
  ///
  /// When it throws, ``read()`` finds the old contents, unless only the durability of a renaming failed.
  ///
  /// - Parameter whenIncomplete: Called with an error after which the new contents count, and a mount point has only a part of
  ///   them. The next replacement writes all of it.
  package func replace(
    with data: Data, whenIncomplete: (any Error) -> Void = { _ in }
  ) throws -> FileStatus? {
    let target = try disk.resolveLinks(path)
    let old = try disk.status(at: target)
    let temporary = Self.stem(of: target) + Self.suffix()
    do {
      try write(data, to: temporary, O_EXCL, like: old)
      // After the write: the new file's modification time is the current time of the file system's clock.
      removeStale(beside: target, newest: temporary)
      do {
        try disk.rename(temporary, to: target)
        // Left from a time when the target was a mount point.
        try? disk.remove(Self.pendingPath(of: target))
      } catch let error as FileError where error.isMountPointBusy {
        try overwrite(target, with: data, from: temporary, whenIncomplete)
        return (try? disk.status(at: target)) ?? nil
      }
    } catch {
      try? disk.remove(temporary)
      throw error
    }
    try syncDirectory(target.directoryPath)
    return try disk.status(at: target)
  }

  /// Writes a mount point in place, which no rename can replace.
  ///
  /// The new contents are first beside it as a whole, under ``pendingPath(of:)``, and are removed last. A reader that finds the target to be
  /// a proper prefix of them takes them instead. So after a kill at any moment readers find the old contents or the new ones:
  ///
  /// | killed after | target | pending | readers find |
  /// |---|---|---|---|
  /// | the pending file is durable | old | new | old, unless the old ones are a prefix of the new |
  /// | a part was written | a prefix of the new | new | new |
  /// | all was written | new | new | new |
  private func overwrite(
    _ target: String, with data: Data, from temporary: String,
    _ whenIncomplete: (any Error) -> Void
  ) throws {
    let pending = Self.pendingPath(of: target)
    try disk.rename(temporary, to: pending)
    do {
      try syncDirectory(target.directoryPath)
    } catch {
      try? disk.remove(pending)
      throw error
    }
    do {
      try write(data, to: target, O_TRUNC, like: nil)
      try disk.remove(pending)
      try syncDirectory(target.directoryPath)
    } catch {
      // Once the target has been truncated, the pending contents are the only whole ones, so they must stay and count as written.
      guard try read() == data else {
        try? disk.remove(pending)
        throw error
      }
      whenIncomplete(error)
    }
  }

  /// A rename is durable only once its directory is synced, where the file system and the directory's permissions allow that.
  private func syncDirectory(_ path: String) throws {
    do {
      try disk.withDescriptor(path, O_RDONLY | O_DIRECTORY) { try disk.sync($0, path: path) }
    } catch let error as FileError where error.isUnsupported || error.code == .denied {}
  }

  /// Removes the temporary files of writers that were killed.
  ///
  /// Without locks the age decides. It is the difference of two times of the file system, since a file server has a
  /// clock of its own. In case of doubt the file stays: a writer whose file was removed could not rename it.
  private func removeStale(beside target: String, newest: String) {
    let (stem, directory) = (Self.stem(of: target), target.directoryPath)
    guard let now = (try? disk.status(at: newest))??.modifiedNanoseconds,
      let names = try? disk.names(in: directory)
    else { return }
    for path in names.map({ directory + "/" + $0 }) where path.hasPrefix(stem) && path != newest {
      guard path.utf8.count == newest.utf8.count, let status = (try? disk.status(at: path)) ?? nil,
        status.kind == .file,
        now - status.modifiedNanoseconds > Self.staleAge * 1_000_000_000
      else { continue }
      try? disk.remove(path)
    }
  }

  /// The beginning of the names of temporary files. 16 hexadecimal digits follow, or the word of ``pendingPath(of:)``.
  private static func stem(of target: String) -> String {
    TemporaryFile.stem(of: target) + "plain-"
  }

  private static func suffix() -> String {
    let number = UInt64.random(in: 0 ... .max)
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// - Parameter flag: `O_EXCL` for a new file, `O_TRUNC` for one that may exist.
  private func write(
    _ data: Data, to path: String, _ flag: Int32, like old: FileStatus?
  ) throws {
    let descriptor = try disk.open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | flag, mode: 0o600)
    defer { disk.close(descriptor) }
    if let old { try? disk.setMode(descriptor, old.mode, path: path) }
    // The superuser leaves it to the user whose directory it is.
    if geteuid() == 0, let owner = try old ?? disk.statusFollowingLinks(path.directoryPath),
      owner.user != 0
    {
      try? disk.setOwner(descriptor, user: owner.user, group: owner.group, path: path)
    }
    try data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let buffer = UnsafeRawBufferPointer(rebasing: rest)
        rest = rest.dropFirst(try disk.write(descriptor, from: buffer, path: path))
      }
    }
    try disk.sync(descriptor, path: path)
  }
}

extension FileError {
  /// Whether the file system cannot perform the operation at all, such as locking or mapping a file.
  package var isUnsupported: Bool {
    guard code == .failed, let cause = cause as? POSIXError else { return false }
    let unsupported = [ENODEV, ENOLCK, ENOSYS, ENOTSUP, EOPNOTSUPP, EINVAL]
    return unsupported.contains(cause.code.rawValue)
  }
}
