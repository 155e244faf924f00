import Foundation

/// A small file system in memory that can really be full, and really be read-only.
package final class SmallDisk {
  /// Mounting one takes the superuser of a Linux machine that lets containers mount.
  package static let isAvailable: Bool = (try? SmallDisk()) != nil

  package let directory: TemporaryDirectory

  /// - Parameter byteCount: How much room there is.
  package init(byteCount: Int = 256 << 10) throws {
    directory = try TemporaryDirectory()
    try Self.run([
      "mount", "-t", "tmpfs", "-o", "size=\(byteCount)", "tmpfs", directory.url.filePath,
    ])
  }

  deinit { try? Self.run(["umount", "--lazy", directory.url.filePath]) }

  /// Leaves fewer than `bytes` bytes free, in whole pages.
  ///
  /// By another process: a child of this one that is just being started may keep its open files for
  /// a moment, and the room that they take.
  package func fill(leaving bytes: Int = 0) throws {
    let page = 4096
    let filler = directory.file("filler")
    // It ends with an error, since the disk is full then.
    try? Self.run(
      [
        "dd", "if=/dev/zero", "of=\(filler.filePath)", "bs=\(page)", "oflag=append",
        "conv=notrunc", "status=none",
      ])
    let size = try FileManager.default.attributesOfItem(atPath: filler.filePath)[.size] as? Int
    let left = ((size ?? 0) / page * page) - bytes
    try Self.run(["truncate", "--size=\(left)", filler.filePath])
  }

  /// Waits until no open file takes room that has no name any more.
  ///
  /// A thread that replaces files gives back the room of the old ones a moment later.
  package func waitForRemovedFiles() throws {
    while try takenByteCount() != namedByteCount() { sched_yield() }
  }

  private func takenByteCount() throws -> UInt64 {
    var status = statvfs()
    guard statvfs(directory.url.filePath, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
    return UInt64(status.f_blocks - status.f_bfree) * UInt64(status.f_frsize)
  }

  private func namedByteCount() throws -> UInt64 {
    let files = try FileManager.default.subpathsOfDirectory(atPath: directory.url.filePath)
    return files.reduce(0) { sum, file in
      var status = stat()
      // One that has just been removed takes none.
      guard lstat(directory.file(file).filePath, &status) == 0 else { return sum }
      return sum + UInt64(status.st_blocks) * 512
    }
  }

  package func empty() throws { try FileManager.default.removeItem(at: directory.file("filler")) }

  /// From here on nothing can be changed. No file may be open for writing.
  package func makeReadOnly() throws {
    try Self.run(["mount", "-o", "remount,ro", directory.url.filePath])
  }

  /// Takes back ``makeReadOnly()``.
  package func makeWritable() throws {
    try Self.run(["mount", "-o", "remount,rw", directory.url.filePath])
  }

  private static func run(_ arguments: [String]) throws {
    try ToolRun.text(arguments)
  }
}
