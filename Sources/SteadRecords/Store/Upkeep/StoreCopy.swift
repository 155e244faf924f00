import Foundation
import SteadFiles

/// A copy of a store under another path, which is there as a whole or not at all.
struct StoreCopy {
  let path: String

  /// Where the copy's files of large values lie.
  var blobDirectory: URL { StoreFile.blobDirectory(of: path) }

  /// Copies what a connection sees, which costs a reading and a writing of the whole store. The copy is its owner's alone,
  /// and survives a loss of power when this returns.
  ///
  /// - Parameter isReplacing: Whether the copy may replace a file. Without it a file that another process has made
  ///   meanwhile makes this throw.
  func write(
    from connection: StoreConnection, isReplacing: Bool,
    _ progress: (_ copied: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws {
    let disk = POSIXDisk()
    let draft = try TemporaryFile(beside: path, on: disk)
    defer { draft.finish() }
    try connection.copy(to: draft.path, progress)
    if isReplacing {
      try disk.rename(draft.path, to: path)
    } else {
      do {
        // A rename would replace a file that is made in this moment.
        try disk.link(draft.path, to: path)
      } catch let error as FileError where error.code != .alreadyExists {
        // File systems of cameras and sticks have no links.
        guard try disk.status(at: path) == nil else { throw error }
        try disk.rename(draft.path, to: path)
      }
    }
    try disk.syncDirectory(path.directoryPath)
  }

  /// Gives the copy the files of large values that the store has now, and no others.
  ///
  /// They are links to the store's files, which never change: they cost no room, and stay when the store removes its
  /// own. Where the file system has no links, they are copies.
  func linkFiles(of file: StoreFile) throws {
    let names = try Self.link(from: file.blobDirectory, to: blobDirectory)
    _ = try BlobFiles(directory: blobDirectory).sweep(keeping: names)
  }

  /// Gives a store that is put back the files that it had.
  func returnFiles(to file: StoreFile) throws {
    try Self.link(from: blobDirectory, to: file.blobDirectory)
  }

  @discardableResult
  private static func link(from source: URL, to target: URL) throws -> Set<String> {
    let names = try BlobFiles(directory: source).references()
    guard !names.isEmpty else { return names }
    let disk = POSIXDisk()
    try disk.makeDirectories(target.path)
    for name in names {
      let (old, new) = ("\(source.path)/\(name)", "\(target.path)/\(name)")
      do {
        try disk.link(old, to: new)
      } catch let error as FileError where error.code == .alreadyExists {
        continue
      } catch {
        try FileManager.default.copyItem(atPath: old, toPath: new)
      }
    }
    return names
  }

  /// Removes the copy and its files, those of its log among them.
  func remove() throws {
    let paths = [path, path + "-wal", path + "-shm", blobDirectory.path]
    for path in paths where try POSIXDisk().status(at: path) != nil {
      try FileManager.default.removeItem(atPath: path)
    }
  }
}
