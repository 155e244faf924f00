import Foundation
import SteadFiles

/// The location of a history's own domain: next to the domain that it belongs to.
struct HistoryStorage {
  let store: DomainStore
  /// nil if domains are kept in memory.
  let blobs: HistoryBlobs?
}

extension SearchPlan {
  /// The domain of a history, created if missing.
  ///
  /// - Throws: ``PreferencesError`` when it cannot be opened.
  func openHistory(_ key: String) throws -> HistoryStorage {
    let isHost = scope == .thisHost
    let name = HistoryName.domain(isHost ? "\(domain).\(environment.host)" : domain, key: key)
    guard let base = directory(of: domain) else {
      return HistoryStorage(
        store: environment.shared.makeMemory(name, options: options), blobs: nil)
    }
    let directory =
      isHost ? base.appending(path: "ByHost", directoryHint: .isDirectory) : base
    let store = try DomainStore.open(domain: name, directory: directory, options: options)
    let blobs = directory.appending(path: "\(name).blobs", directoryHint: .isDirectory)
    return HistoryStorage(store: store, blobs: HistoryBlobs(directory: blobs))
  }
}
