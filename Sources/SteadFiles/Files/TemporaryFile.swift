import Foundation
import SteadEncoding

/// A file that is written next to the one that it will replace.
///
/// Its writer holds a lock on it until it is closed. The lock ends with the process, however that ends, so a
/// temporary file that can be locked was left by a dead writer. A process identifier in the name would be
/// less reliable, since identifiers are reused and mean nothing in another container.
///
/// Each target has few and fixed temporary names, so the next write of the same file finds what the last one
/// left, and removes it without listing the directory.
package struct TemporaryFile {
  /// How many writers may prepare a new version of one file at the same time.
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
      code: .busy, message: "\(Self.slotLimit) other writers are replacing it; try again.",
      path: target)
  }

  /// Wraps an open temporary file that is locked through its descriptor.
  init(locked descriptor: Int32, at path: String, on disk: any Disk) {
    (self.path, self.descriptor, self.disk) = (path, descriptor, disk)
  }

  /// Everything of a temporary file's path but the slot's number.
  static func stem(of target: String) -> String {
    // 255 bytes is the longest name on every file system in use; the target's name may be that long already.
    let longestName = 200
    let name = target.fileName
    let shortName =
      name.utf8.count <= longestName ? name : SHA256.hexadecimal(name.utf8)
    return target.directoryPath + "/." + shortName + marker
  }

  /// Whether a name is one of our temporary files' names.
  static func isName(_ name: String) -> Bool {
    guard name.hasPrefix("."), let range = name.range(of: marker, options: .backwards) else {
      return false
    }
    let slot = name[range.upperBound...]
    // As many digits as the slots below ``slotLimit`` have. A user's file with a longer name is left alone.
    return (1...3).contains(slot.count) && slot.allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// Creates and locks a new file; nil when another writer has that name.
  ///
  /// Invariant: the file that is returned is locked and has the name, so no cleaner can remove it: a cleaner removes only what it has
  /// locked and what still has the name then.
  private static func claim(_ path: String, on disk: any Disk) throws -> Int32? {
    let descriptor: Int32
    do {
      descriptor = try disk.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
    } catch let error as FileError where error.code == .alreadyExists {
      guard try removeIfStale(path, on: disk) else { return nil }
      // Another writer may take the freed name first. The next attempt then finds it locked.
      return try claim(path, on: disk)
    }
    do {
      // A cleaner can find the file between its creation and its locking; the file then belongs to the cleaner.
      if try disk.lock(descriptor, wait: false, path: path),
        try isSameFile(path, as: descriptor, on: disk)
      {
        return descriptor
      }
    } catch {
      // On a file system without locks nobody could ever tell that its writer is gone, and remove it.
      try? disk.remove(path)
      disk.close(descriptor)
      throw error
    }
    disk.close(descriptor)
    return nil
  }

  /// Removes a temporary file whose writer is gone, and returns whether the name is free. The lock decides, not an age.
  static func removeIfStale(_ path: String, on disk: any Disk) throws -> Bool {
    do {
      return try disk.withDescriptor(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { descriptor in
        guard try disk.lock(descriptor, wait: false, path: path) else { return false }
        // The writer may have finished meanwhile, and the name may belong to another file.
        if try isSameFile(path, as: descriptor, on: disk) { try disk.remove(path) }
        return true
      }
    } catch let error as FileError where error.code == .notFound {
      return true
    } catch is FileError {
      // A link or a directory put there by someone else, or another user's file: not ours to remove.
      return false
    }
  }

  /// Whether a path still names an open file. It remains so while the file is locked, since only who has the lock removes it.
  private static func isSameFile(
    _ path: String, as descriptor: Int32, on disk: any Disk
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

  /// Gives the file the permissions and, as far as allowed, the owner of the file that it replaces.
  ///
  /// A new file written by the superuser gets the directory's owner.
  func copyOwnership(of old: FileStatus?, permissions: AtomicFile.Permissions) throws {
    // The superuser's file in a user's directory must stay the user's; otherwise it would lock the user out.
    let owner = try old ?? (geteuid() == 0 ? disk.statusFollowingLinks(path.directoryPath) : nil)
    if let owner, try disk.status(descriptor, path: path).isOwnedDifferently(from: owner) {
      // Only the superuser may give files away; for everyone else the new file keeps the writer as its owner.
      try? disk.setOwner(descriptor, user: owner.user, group: owner.group, path: path)
    }
    // After the owner: `chown` may clear the set-user-ID and set-group-ID bits.
    if permissions != .ownerOnly {
      try disk.setMode(descriptor, mode_t(permissions.rawValue), path: path)
    }
  }

  func sync() throws { try disk.sync(descriptor, path: path) }

  /// Ends the work on the file, and removes it if it did not take its target's name.
  package func finish() {
    let descriptor = finishKeepingOpen()
    // Unlocked explicitly, since a child process that is just being started briefly has the file open, too.
    disk.unlock(descriptor)
    disk.close(descriptor)
  }

  /// Ends the work like ``finish()``, and leaves the file to the caller, open and locked.
  func finishKeepingOpen() -> Int32 {
    // After a rename the old name is free, and another writer's temporary file may have it.
    if (try? Self.isSameFile(path, as: descriptor, on: disk)) == true { try? disk.remove(path) }
    return descriptor
  }
}

extension FileStatus {
  fileprivate func isOwnedDifferently(from other: FileStatus) -> Bool {
    user != other.user || group != other.group
  }
}
