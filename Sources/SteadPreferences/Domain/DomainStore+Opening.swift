import Dispatch
import Foundation
import SteadFiles

extension DomainStore {
  private struct Place: Hashable {
    var path: String
    var options: DomainOptions
  }

  private struct Opened {
    weak var store: DomainStore?
  }

  private static let opened = ForkSafeLock<[Place: Opened]>([:])

  /// The domain in `directory/NAME.plist` and `directory/NAME.journal`, one object for all who ask.
  ///
  /// Opening reads the journal, in time proportional to its length, and makes directory and journal
  /// where they are missing and may be made.
  ///
  /// - Throws: ``PreferencesError`` when the files cannot be read, or are of a newer version.
  static func open(
    domain: String, directory: URL, options: DomainOptions = DomainOptions()
  ) throws -> DomainStore {
    let path = directory.standardizedFileURL.appending(path: domain).path(percentEncoded: false)
    let place = Place(path: path, options: options)
    if let store = opened.withLock({ opened in opened[place]?.store }) { return store }
    // Not under the lock: another domain's opening need not wait for this one's. Two threads may both
    // read the files; the first to be done is kept.
    let new: DomainStore
    do {
      new = try DomainStore(domain, directory: directory, options: options)
    } catch {
      throw PreferencesError(error, domain: domain)
    }
    let store = opened.withLock { opened -> DomainStore in
      if let store = opened[place]?.store { return store }
      opened[place] = Opened(store: new)
      if opened.count > 64 { opened = opened.filter { $0.value.store != nil } }
      return new
    }
    if store === new { store.watchLater() }
    return store
  }

  /// Whether the domain is open or has a file.
  static func isPresent(domain: String, directory: URL) -> Bool {
    let base = directory.appending(path: domain).path(percentEncoded: false)
    return [".journal", ".plist"].contains { FileManager.default.fileExists(atPath: base + $0) }
  }

  /// A program that is done in a moment should not wait for what only long-lived ones need.
  private func watchLater() {
    DispatchQueue.global(qos: .utility).async { [weak self] in self?.startWatching() }
  }
}
