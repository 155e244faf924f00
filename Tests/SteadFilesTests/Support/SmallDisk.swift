import Foundation

/// A file system of 256 KB in memory that can really be full.
final class SmallDisk {
  /// Mounting one takes the superuser of a Linux machine that lets containers mount.
  static let isAvailable: Bool = (try? SmallDisk()) != nil

  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    guard
      Self.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", directory.url.filePath])
    else { throw CocoaError(.fileWriteUnknown) }
  }

  deinit { _ = Self.run(["umount", directory.url.filePath]) }

  /// Leaves fewer than `bytes` bytes free, in whole pages.
  func fill(leaving bytes: Int) throws {
    let page = 4096
    let filler = directory.file("filler")
    try Data().write(to: filler)
    let handle = try FileHandle(forWritingTo: filler)
    while (try? handle.write(contentsOf: Data(count: page))) != nil {}
    let end = try handle.seekToEnd()
    try handle.truncate(atOffset: end / UInt64(page) * UInt64(page) - UInt64(bytes))
    try handle.close()
  }

  /// From now on nothing on it can be changed.
  func setReadOnly() throws {
    guard Self.run(["mount", "-o", "remount,ro", directory.url.filePath]) else {
      throw CocoaError(.fileWriteVolumeReadOnly)
    }
  }

  func empty() throws { try FileManager.default.removeItem(at: directory.file("filler")) }

  private static func run(_ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
