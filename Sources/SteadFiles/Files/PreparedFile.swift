import CSteadFiles
import Foundation

/// New contents of a file, written and synced, that have yet to take the file's name.
///
/// The new file's distinguishing status is known before anybody sees the file, so the owner can record it first.
package final class PreparedFile {
  /// The status of the new file; the rename changes nothing in it.
  package let status: FileStatus
  private var temporary: TemporaryFile?
  private let target: String
  private let file: AtomicFile

  fileprivate init(_ temporary: TemporaryFile, _ target: String, of file: AtomicFile) throws {
    (self.temporary, self.target, self.file) = (temporary, target, file)
    var status = try file.disk.status(temporary.descriptor, path: target)
    // The file at a mount point keeps its number: it is overwritten.
    if stead_file_is_mount(target) != 0, let old = try file.disk.status(at: target) {
      status.identity = old.identity
    }
    self.status = status
  }

  deinit { discard() }

  /// Renames the file if the old one still holds what is expected, and returns whether it did. It can be
  /// called once, and again after it threw `.busy`.
  ///
  /// It holds against every program where the file system can exchange two files' names, as all local ones of
  /// Linux and macOS can: the old file is read again after it has lost the name, and gets the name back if it
  /// is something else. A reader within that window of some 50 us finds the new contents. A program that has
  /// the old file open and writes into it later is not noticed.
  ///
  /// A file that is a mount point, as containers mount single files, cannot be replaced. It is emptied and written in
  /// place: a reader may find the beginning of the new contents, and so does everybody after a kill.
  ///
  /// - Parameter isExpected: Called with the file that has the name; perhaps twice.
  /// - Throws: ``FileError``, such as `.busy` when another program has the directory locked.
  package func place(ifStill isExpected: (FoundFile) throws -> Bool) throws -> Bool {
    guard let temporary else { return false }
    let isInstalled: Bool
    do {
      isInstalled = try file.disk.withLockedDirectory(target.directoryPath, wait: file.lockWait) {
        _ in
        try file.swap(temporary, target, mayOverwrite: true, isExpected)
      }
    } catch let error as FileError where error.code == .busy {
      throw error
    } catch {
      discard()
      throw error
    }
    discard()
    return isInstalled
  }

  /// Removes a prepared file that was not put in place, as releasing this object does.
  package func discard() {
    temporary?.finish()
    temporary = nil
  }
}

extension AtomicFile {
  /// Writes new contents to be put in place later.
  ///
  /// The file's date is the current time at a finer resolution than the system's own dates, so that a later
  /// write into the file gives it another date, however soon that write comes.
  ///
  /// - Throws: ``FileError``, as ``replace(with:durability:permissions:)`` does.
  package func prepare(_ data: Data) throws -> PreparedFile {
    let target = try disk.resolveLinks(url.checkedPath)
    let temporary = try draft(of: data, for: target, permissions: nil)
    do {
      // If the date cannot be set, the file has the system's own, which tells two files apart less reliably.
      _ = stead_file_mark(temporary.descriptor)
      try temporary.sync()
      return try PreparedFile(temporary, target, of: self)
    } catch {
      temporary.finish()
      throw error
    }
  }

  /// Renames a temporary file if the old one still holds what is expected. Requires the directory's lock.
  ///
  /// The directory's lock does not keep out programs that don't know it, such as an editor. So the check is made twice: before, and
  /// once the two files have exchanged names. Whatever has lost the target's name is then out of everybody's reach by path, so it
  /// can be read again without a race. If it isn't what was expected, the names are exchanged back, and no write of the other
  /// program is lost. Readers may see the new contents in between, but never none and never a part.
  ///
  /// - Parameter mayOverwrite: Whether a file that is a mount point is overwritten.
  func swap(
    _ temporary: TemporaryFile, _ target: String, mayOverwrite: Bool = false,
    _ isExpected: (FoundFile) throws -> Bool
  ) throws -> Bool {
    let old: Int32
    do {
      old = try disk.open(target, O_RDONLY | O_NONBLOCK, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return try isExpected(.none) && linkIfFree(temporary, target)
    }
    defer { disk.close(old) }
    // After the exchange the old file has a temporary file's name. Without the lock another writer would take it for a dead
    // writer's leftover and remove it. If somebody else has the lock, that is the file's last writer, about to finish.
    _ = try disk.lock(old, wait: false, path: target)
    defer { disk.unlock(old) }
    guard try isExpected(found(old, target)) else { return false }
    do {
      guard try disk.exchange(temporary.path, with: target) else {
        try disk.rename(temporary.path, to: target)
        return true
      }
    } catch let error as FileError where mayOverwrite && error.isMountPointBusy {
      try overwrite(target, with: temporary)
      return true
    }
    let wasExpected: Bool
    do {
      wasExpected = try isExpected(displaced(temporary, target, old))
    } catch {
      // What can't be read is the other program's, too.
      _ = try? disk.exchange(temporary.path, with: target)
      throw error
    }
    if wasExpected {
      try disk.remove(temporary.path)
    } else {
      _ = try disk.exchange(temporary.path, with: target)
    }
    return wasExpected
  }

  /// Writes the contents and the date of a temporary file into another one, a mount point that no rename can replace. Not
  /// atomic: a reader may find a part, and so does everybody after a kill.
  private func overwrite(_ target: String, with temporary: TemporaryFile) throws {
    guard lseek(temporary.descriptor, 0, SEEK_SET) == 0 else {
      throw FileError(errno: errno, doing: "read it", path: temporary.path)
    }
    let data = try disk.contents(
      of: temporary.descriptor, limit: Self.sizeLimit, path: temporary.path)
    try disk.withDescriptor(target, O_WRONLY | O_TRUNC | O_NONBLOCK) { descriptor in
      try data.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
          let buffer = UnsafeRawBufferPointer(rebasing: rest)
          rest = rest.dropFirst(try disk.write(descriptor, from: buffer, path: target))
        }
      }
      // The date by which its owner knows it.
      _ = stead_file_copy_date(descriptor, temporary.descriptor)
      try disk.sync(descriptor, path: target)
    }
  }

  /// The file that has lost the target's name by the exchange: the one that was open, unless another program was faster.
  private func displaced(
    _ temporary: TemporaryFile, _ target: String, _ old: Int32
  ) throws -> FoundFile {
    let status = try disk.status(at: temporary.path)
    guard try status?.identity == disk.status(old, path: target).identity else {
      return FoundFile(status) {
        try disk.contents(of: temporary.path, limit: Self.sizeLimit)
      }
    }
    return try found(old, target)
  }

  private func found(_ open: Int32, _ target: String) throws -> FoundFile {
    FoundFile(try disk.status(open, path: target)) {
      guard lseek(open, 0, SEEK_SET) == 0 else {
        throw FileError(errno: errno, doing: "read it", path: target)
      }
      return try disk.contents(of: open, limit: Self.sizeLimit, path: target)
    }
  }

  /// Gives a temporary file the target's name; false if something has it by now.
  private func linkIfFree(_ temporary: TemporaryFile, _ target: String) throws -> Bool {
    do {
      try disk.link(temporary.path, to: target)
    } catch let error as FileError where error.code == .alreadyExists {
      return false
    } catch let error as FileError where error.code == .denied || error.code == .failed {
      // FAT and some network file systems have no hard links.
      guard try disk.status(at: target) == nil else { return false }
      try disk.rename(temporary.path, to: target)
    }
    return true
  }
}

/// The file that currently has a name; its contents are read only if its status isn't enough.
package struct FoundFile {
  /// nil when the file does not exist.
  package let status: FileStatus?
  private let read: () throws -> Data

  package init(_ status: FileStatus?, _ read: @escaping () throws -> Data) {
    (self.status, self.read) = (status, read)
  }

  /// No file exists.
  static var none: FoundFile { FoundFile(nil) { Data() } }

  /// The file's contents; empty when it does not exist.
  package func contents() throws -> Data { try read() }
}
