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
