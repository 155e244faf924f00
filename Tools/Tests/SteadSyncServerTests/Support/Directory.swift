import Foundation

/// A directory that is removed with the value.
final class Directory: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "stead-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    // What is left lies in the directory for temporary files.
    try? FileManager.default.removeItem(atPath: path)
  }
}
