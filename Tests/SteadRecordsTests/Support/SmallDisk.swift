import Foundation

/// A file system of 2 MB in memory that can really be full.
final class SmallDisk {
  /// Mounting one takes the superuser of a Linux machine that lets containers mount.
  static let isAvailable: Bool = (try? SmallDisk()) != nil

  let directory: StoreDirectory

  init() throws {
    directory = try StoreDirectory()
    guard
      Self.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory.url.path])
    else { throw CocoaError(.fileWriteUnknown) }
  }

  deinit { _ = Self.run(["umount", "--lazy", directory.url.path]) }

  /// Leaves less than `bytes` bytes free, in whole pages.
  func fill(leaving bytes: Int) throws {
    let page = 4096
    let filler = directory.file("filler")
    _ = FileManager.default.createFile(atPath: filler.path, contents: nil)
    let handle = try FileHandle(forWritingTo: filler)
    while (try? handle.write(contentsOf: Data(count: page))) != nil {}
    let end = try handle.seekToEnd()
    try handle.truncate(atOffset: end / UInt64(page) * UInt64(page) - UInt64(bytes))
    try handle.close()
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
