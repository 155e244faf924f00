import Foundation
import SteadFiles

/// A file that is kept open for reading.
///
/// As long as it is open, the system gives its inode number to no other file. So if the status of the file at
/// the path is still ``status``, it is this file, and unchanged.
final class OpenFile: Sendable {
  private let descriptor: Int32
  private let path: String
  /// The file's status when it was opened.
  let status: FileStatus

  /// Opens the file at a path without reading it; nil when it does not exist.
  ///
  /// A symbolic link is refused: the caller has followed links once, and checked the directory that it arrived at.
  init?(readingIfPresent path: String) throws(SecretError) {
    let disk = POSIXDisk()
    let opened: (Int32, FileStatus)? = try SecretError.files {
      do {
        // Without O_NONBLOCK, opening a FIFO waits for a writer. FileSafety refuses it afterwards.
        let descriptor = try disk.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: 0)
        do {
          return (descriptor, try disk.status(descriptor, path: path))
        } catch {
          disk.close(descriptor)
          throw error
        }
      } catch let error as FileError where error.code == .notFound {
        return nil
      } catch let error as FileError where (error.cause as? POSIXError)?.code == .ELOOP {
        throw SecretError(
          code: .accessDenied,
          message:
            "A symbolic link has replaced the file \(path) since its path was looked up. Put the file back, or "
            + "open it anew by the path that is to be followed.", cause: error)
      }
    }
    guard let opened else { return nil }
    (descriptor, status) = opened
    self.path = path
  }

  deinit { POSIXDisk().close(descriptor) }

  /// The whole contents, whose length must be that of the file when it was opened.
  func data(limit: Int) throws(SecretError) -> Data {
    let size = try size(limit: limit)
    // After the limit was checked, since the size is the file's own and may be anything.
    var data = Data(count: size)
    try SecretError.files {
      try data.withUnsafeMutableBytes { try read(into: $0) }
    }
    return data
  }

  /// The same as ``data(limit:)``, in memory that is wiped.
  func secret(limit: Int) throws(SecretError) -> SecretBytes {
    try SecretBytes(count: try size(limit: limit)) { (memory) throws(SecretError) in
      try SecretError.files { try read(into: memory) }
    }
  }

  /// Whether the file begins with these bytes.
  func begins(with bytes: Data) -> Bool {
    var found = Data(count: bytes.count)
    let isRead: Void? = try? found.withUnsafeMutableBytes { try read(into: $0) }
    return isRead != nil && found == bytes
  }

  private func size(limit: Int) throws(SecretError) -> Int {
    guard let size = Int(exactly: status.size), size <= limit else {
      throw SecretError(
        code: .corrupt,
        message:
          "The file \(path) has \(status.size) bytes, more than the \(limit) that it "
          + "can have. Check it, and replace it with the right one.")
    }
    return size
  }

  private func read(into memory: UnsafeMutableRawBufferPointer) throws {
    var offset = 0
    // By offset, not by the descriptor's position, which the child of a fork shares.
    while offset < memory.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: memory[offset...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError(errno: errno, doing: "read the file", path: path) }
      // Writers replace whole files, so only another program can have cut this one off.
      guard count > 0 else {
        throw SecretError.damagedVault("it became shorter while it was read")
      }
      offset += count
    }
  }
}
