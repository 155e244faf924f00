import Foundation

/// An empty directory of a test's own, which goes when the last reference to it does.
final class TemporaryDirectory: Sendable {
  let url: URL

  init() throws {
    let name = "stead-tests-\(UUID().uuidString)"
    url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: name)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

  /// All names, hidden ones included.
  var names: Set<String> {
    get throws {
      Set(try FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false)))
    }
  }
}

extension URL {
  var filePath: String { path(percentEncoded: false) }

  var mode: Int {
    get throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: filePath)
      return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
  }

  func setMode(_ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: filePath)
  }

  var isSymbolicLink: Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: filePath)) != nil
  }
}
