import Foundation
import SteadFiles

/// A directory for copies of stores that only its owner may read, removed with the last reference.
final class TemporaryStoreDirectory: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appending(path: "stead-\(UUID().uuidString)", directoryHint: .isDirectory)
    try POSIXDisk().makeDirectory(url.path, mode: 0o700)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
