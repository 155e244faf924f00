import Foundation

/// The directory of copies of stores, which is removed with the last reference.
final class PastStores: Sendable {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appending(path: "stead-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: directory) }
}
