import CacheSuite
import Foundation

/// The part of the public suite of HTTP cache tests that lies beside this file.
enum PublicSuite {
  static func read() throws -> [CacheSuite] {
    try CacheSuite.read(
      URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "http-cache-tests.json"))
  }
}
