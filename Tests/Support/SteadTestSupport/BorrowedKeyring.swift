import Foundation
import Synchronization

/// A keyring without items, of a session that tests use one after the other.
///
/// For tests that only use items: to start a bus and a daemon takes longer than most of them. Whoever locks the keyring,
/// ends its daemon or counts its starts takes a ``KeyringSession`` of its own.
package final class BorrowedKeyring: Sendable {
  package let session: KeyringSession

  /// Empties a keyring that a test has returned, and starts one where there is none.
  package init() throws {
    while let session = Self.returned.withLock({ $0.popLast() }) {
      // One that cannot be emptied, or not soon, goes.
      if (try? session.removeItems(upTo: Self.itemLimit)) == true {
        self.session = session
        return
      }
    }
    session = try KeyringSession()
  }

  deinit {
    _ = Self.cleaning
    Self.returned.withLock { $0.append(session) }
  }

  /// To remove as many takes about as long as to start a daemon.
  private static let itemLimit = 20
  private static let returned = Mutex<[KeyringSession]>([])
  /// Ends the sessions before their directories are removed, as a daemon may write into its own.
  private static let cleaning: Void = {
    atexit { BorrowedKeyring.returned.withLock { $0 = [] } }
  }()
}

extension KeyringSession {
  /// Deletes what is in the keyring and in the session's collection, or nothing if that is more than a limit.
  ///
  /// - Returns: Whether both are empty.
  fileprivate func removeItems(upTo limit: Int) throws -> Bool {
    var items: [Substring] = []
    for collection in ["login", "session"] {
      let path = "\(Self.path)/collection/\(collection)"
      let list = try bus.call(
        Self.name, path, "org.freedesktop.DBus.Properties.Get",
        "string:org.freedesktop.Secret.Collection", "string:Items")
      items += list.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix(path + "/") }
    }
    guard items.count <= limit else { return false }
    for item in items {
      try bus.call(Self.name, String(item), "org.freedesktop.Secret.Item.Delete")
    }
    return true
  }
}
