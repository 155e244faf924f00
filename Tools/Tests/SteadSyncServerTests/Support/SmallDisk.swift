import Foundation

/// A file system in memory that can really be full.
final class SmallDisk {
  /// Mounting one takes the superuser of a Linux machine that lets containers mount.
  static let isAvailable: Bool = (try? SmallDisk(bytes: 1 << 20)) != nil

  private let directory: Directory
  var path: String { directory.path }

  init(bytes: Int) throws {
    directory = try Directory()
    try Self.run(["mount", "-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", directory.path])
  }

  deinit {
    // What stays mounted goes with the container.
    try? Self.run(["umount", "--lazy", directory.path])
  }

  /// Leaves no room.
  func fill() throws {
    // It ends with an error, since the disk is full then.
    try? Self.run(["dd", "if=/dev/zero", "of=\(path)/filler", "bs=4096", "status=none"])
  }

  func empty() throws { try FileManager.default.removeItem(atPath: path + "/filler") }

  private static func run(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
