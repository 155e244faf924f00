import Foundation

/// A file that only its owner may read or write.
enum PrivateFile {
  /// Replaces the file's contents as a whole: after a crash, the file has either the old or the new contents.
  static func write(_ data: Data, to path: String) throws {
    let temporary = path + ".\(Secret.identifier())"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("be created") }
    do {
      let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
      try handle.write(contentsOf: data)
      try handle.synchronize()
      try handle.close()
      guard rename(temporary, path) == 0 else { throw failure("be replaced") }
      // The rename is durable only once the directory is.
      try synchronizeDirectory(of: path)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  static func synchronizeDirectory(of path: String) throws {
    let directory = open(
      URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false), O_RDONLY)
    guard directory >= 0 else { throw failure("be synchronized") }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw failure("be synchronized") }
  }

  private static func failure(_ action: String) -> ServerError {
    ServerError(
      .failed, "A file in the data directory can't \(action) (errno \(errno)).",
      remedy: "Check the directory's owner, its mode and the free space.")
  }
}
