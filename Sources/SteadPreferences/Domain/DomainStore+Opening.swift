import Foundation
import SteadFiles

// Stores in memory stand in for files.

extension DomainStore {
  private struct WeakStore: Sendable {
    weak var store: DomainStore?
  }

  private static let open = ForkSafeLock<[String: WeakStore]>([:])

  /// The domain whose property list is `directory/domain.plist`: one object for each file.
  static func open(domain: String, directory: URL, options: DomainOptions) throws -> DomainStore {
    let path = path(domain, directory)
    let made = DomainStore(inMemory: domain)
    return open.withLock { stores in
      if let store = stores[path]?.store { return store }
      stores[path] = WeakStore(store: made)
      return made
    }
  }

  /// Whether the domain has a file, or is open and may come to have one.
  static func isPresent(domain: String, directory: URL) -> Bool {
    let path = path(domain, directory)
    return open.withLock { stores in stores[path]?.store != nil }
  }

  private static func path(_ domain: String, _ directory: URL) -> String {
    directory.appending(path: "\(domain).plist").standardizedFileURL.path(percentEncoded: false)
  }
}
