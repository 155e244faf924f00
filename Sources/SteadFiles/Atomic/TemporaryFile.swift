import Foundation

/// A file that takes shape beside the one that it is to replace.
///
/// Its writer holds a lock on it until it is closed. The lock goes with the process, whatever ends it,
/// so a temporary file that can be locked is one that a dead writer left; a process identifier in the
/// name would say less, since they come again and mean nothing in another container.
///
/// The names are few and fixed for each target, so that the next write of the same file meets what
/// the last one left, and clears it away without listing the directory.
package struct TemporaryFile {
  /// How many writers may prepare a new version of one file at once.
  static let slotLimit = 1_000
  private static let marker = ".stead-"

  package let path: String
  let descriptor: Int32
  private let disk: any Disk

  package init(beside target: String, on disk: any Disk) throws {
    let stem = Self.stem(of: target)
    for slot in 0..<Self.slotLimit {
      let path = "\(stem)\(slot)"
      if let descriptor = try Self.claim(path, on: disk) {
        (self.path, self.descriptor, self.disk) = (path, descriptor, disk)
        return
      }
    }
    throw FileError(
      code: .busy, message: "\(Self.slotLimit) other writers are at work on it.", path: target)
  }

  /// A file of this kind that is open, and locked by its descriptor.
  init(locked descriptor: Int32, at path: String, on disk: any Disk) {
    (self.path, self.descriptor, self.disk) = (path, descriptor, disk)
  }

  /// Everything of a temporary file's path but the slot's number.
  private static func stem(of target: String) -> String {
    // 255 bytes is the longest name on every file system in use; the target may have used them up.
    let longestName = 200
    let name = target.fileName
    let shortName =
      name.utf8.count <= longestName ? name : SHA256.hexadecimal(Data(name.utf8))
    return target.directoryPath + "/." + shortName + marker
  }

  /// Whether a name is one that a temporary file of ours has.
  static func isName(_ name: String) -> Bool {
    guard name.hasPrefix("."), let range = name.range(of: marker, options: .backwards) else {
      return false
    }
    let slot = name[range.upperBound...]
    return (1...3).contains(slot.count) && slot.allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// The locked descriptor of a new file; nil when another writer has that name.
  private static func claim(_ path: String, on disk: any Disk) throws -> Int32? {
    let descriptor: Int32
    do {
      descriptor = try disk.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    } catch let error as FileError where error.code == .alreadyExists {
      guard try removeIfStale(path, on: disk) else { return nil }
      return try claim(path, on: disk)
    }
    do {
      // One who clears away can meet the file between its making and its locking; it is theirs then.
      if try disk.lock(descriptor, wait: false, path: path),
        try leads(path, to: descriptor, on: disk)
      {
        return descriptor
      }
    } catch {
      disk.close(descriptor)
      throw error
    }
    disk.close(descriptor)
    return nil
  }

  /// Removes a temporary file whose writer is gone, and says whether it was one.
  static func removeIfStale(_ path: String, on disk: any Disk) throws -> Bool {
    do {
      return try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
        guard try disk.lock(descriptor, wait: false, path: path) else { return false }
        // Its writer may have finished and the name be another's by now.
        if try leads(path, to: descriptor, on: disk) { try disk.remove(path) }
        return true
      }
    } catch let error as FileError where error.code == .notFound {
      return true
    } catch is FileError {
      // A link or a directory that somebody put there, or another user's file: not ours to clear.
      return false
    }
  }

  /// Whether a path is still a name of an open file. While that file is locked, it stays so.
  private static func leads(
    _ path: String, to descriptor: Int32, on disk: any Disk
  ) throws -> Bool {
    try disk.status(at: path)?.identity == disk.status(descriptor, path: path).identity
  }

  func write(_ data: Data) throws { try data.withUnsafeBytes { try write($0) } }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let buffer = UnsafeRawBufferPointer(rebasing: rest)
      let count = try disk.write(descriptor, from: buffer, path: path)
      rest = rest.dropFirst(count)
    }
  }

  /// Gives the file the owner of the one it replaces, as far as may be, and permissions.
  ///
  /// A new file of the superuser's is the directory's owner's.
  func takeOver(_ old: FileStatus?, permissions: AtomicFile.Permissions) throws {
    // The superuser's work in a user's directory stays the user's; else it would lock the user out.
    let owner = try old ?? (geteuid() == 0 ? disk.statusFollowingLinks(path.directoryPath) : nil)
    if let owner, try disk.status(descriptor, path: path).isOwnedDifferently(from: owner) {
      // Only the superuser may give files away; for everyone else the new file is the writer's own.
      try? disk.setOwner(descriptor, user: owner.user, group: owner.group, path: path)
    }
    if permissions != .ownerOnly {
      try disk.setMode(descriptor, mode_t(permissions.rawValue), path: path)
    }
  }

  func sync() throws { try disk.sync(descriptor, path: path) }

  /// Ends the work on the file, and removes it where it did not take its target's name.
  package func finish() {
    let descriptor = finishKeepingOpen()
    // Said aloud, since a child that is just being started has the file open, too, for a moment.
    disk.unlock(descriptor)
    disk.close(descriptor)
  }

  /// Ends the work as ``finish()`` does, and leaves the file to the caller, open and locked.
  func finishKeepingOpen() -> Int32 {
    // After a rename the old name is free, and another writer's temporary file may have it.
    if (try? Self.leads(path, to: descriptor, on: disk)) == true { try? disk.remove(path) }
    return descriptor
  }
}

extension FileStatus {
  fileprivate func isOwnedDifferently(from other: FileStatus) -> Bool {
    user != other.user || group != other.group
  }
}
