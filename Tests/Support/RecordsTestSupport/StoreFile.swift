import Foundation
import SteadTestSupport
import SwiftData

/// The directory of all stores that the tests make, removed when the process ends.
///
/// Not earlier: a context may outlive the test's reference to its store, and goes on reading.
package enum TestFiles {
  private static let root: Result<TemporaryDirectory, any Error> = Result {
    let root = try TemporaryDirectory()
    atexit {
      if let root = try? TestFiles.root.get() { try? FileManager.default.removeItem(at: root.url) }
    }
    return root
  }

  /// A new, empty directory.
  package static func directory() throws -> URL {
    let directory = try root.get().url.appending(
      path: UUID().uuidString, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    return directory
  }
}

/// The file of a store that a test opens itself, in a directory of its own.
package struct StoreFile: Sendable {
  package let directory: URL

  package var url: URL { directory.file("test.store") }

  package init() throws { directory = try TestFiles.directory() }

  package func open(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: ModelConfiguration(url: url))
  }
}
