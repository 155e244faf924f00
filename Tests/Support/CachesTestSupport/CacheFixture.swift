package import Foundation
package import SteadCaches
internal import SteadFiles
package import SteadTestSupport
internal import Synchronization

/// A cache in a directory of a test's own, with a clock that the test sets.
package final class CacheFixture: Sendable {
  package let parent: TemporaryDirectory
  package let url: URL
  private let moment = Mutex(Date(timeIntervalSince1970: 1_000_000_000))

  /// - Parameter parent: The directory that the cache's directory is in.
  package init(in parent: TemporaryDirectory? = nil) throws {
    self.parent = try parent ?? TemporaryDirectory(inMemory: true)
    url = self.parent.url.appending(path: "cache", directoryHint: .isDirectory)
  }

  package var database: URL { url.file("DiskCache.sqlite") }
  package var values: URL { url.appending(path: "values", directoryHint: .isDirectory) }
  package var valueNames: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: values.filePath)) ?? []
  }

  package var now: Date {
    get { moment.withLock { $0 } }
    set { moment.withLock { $0 = newValue } }
  }

  /// A cache as another program would open it.
  package func cache(_ limits: DiskCache.Limits = .init()) -> DiskCache {
    DiskCache(
      path: try? url.checkedPath, directory: url, limits: limits, now: { self.now },
      retryInterval: .zero)
  }

  /// Bytes that differ from seed to seed.
  package static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
    var random = SplitMix(seed: seed)
    var data = Data()
    while data.count < min(count, 1024) {
      withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) }
    }
    // Random numbers take long in a debug build.
    while data.count < count { data.append(data) }
    return data.prefix(count)
  }
}
