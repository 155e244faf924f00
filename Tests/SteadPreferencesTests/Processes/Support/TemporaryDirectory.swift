import Foundation

/// An empty directory of a test's own, which goes when the last reference to it does.
final class TemporaryDirectory: Sendable {
  let url: URL

  /// - Parameter parent: A directory that goes later, with what is made in this one while it goes.
  init(in parent: TemporaryDirectory? = nil) throws {
    let name = "stead-tests-\(UUID().uuidString)"
    url = (parent?.url ?? Self.parent).appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// In memory where the system offers it: thousands of files are made and synced.
  private static let parent: URL = {
    let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
    if access(memory.filePath, W_OK) == 0 { return memory }
    return FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
  }()

  func file(_ name: String) -> URL { url.file(name) }

  /// All names, hidden ones included.
  var names: Set<String> {
    get throws { Set(try FileManager.default.contentsOfDirectory(atPath: url.filePath)) }
  }
}

extension URL {
  var filePath: String { path(percentEncoded: false) }

  func file(_ name: String) -> URL { appending(path: name, directoryHint: .notDirectory) }
}
