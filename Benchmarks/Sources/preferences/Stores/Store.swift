import Foundation

/// Whose store it is.
enum Peer: String, CaseIterable {
  case stead, lmdb, lmdbMap, sqlite, foundation

  var title: String {
    switch self {
    case .stead: "Stead"
    case .lmdb: "LMDB NOSYNC"
    case .lmdbMap: "LMDB WRITEMAP"
    case .sqlite: "SQLite WAL"
    case .foundation: "UserDefaults"
    }
  }

  var store: any Store.Type {
    switch self {
    case .stead: SteadStore.self
    case .lmdb: LMDBStore.self
    case .lmdbMap: LMDBMapStore.self
    case .sqlite: SQLiteStore.self
    case .foundation: FoundationStore.self
    }
  }
}

/// Keys and whole numbers in files. Whatever was set survives the end of the process, however it comes:
/// a peer that needs a call for that makes it after each `set`.
protocol Store {
  init(directory: URL) throws

  /// Gives each key its number, in the way that is fastest for this peer; the store is new.
  static func fill(_ keys: Keys, in directory: URL) throws
  /// Sets the keys one after the other, each by itself, to numbers from `first` on.
  func set(_ keys: Keys, from first: Int) throws
  /// The sum of the keys' values, each read by itself.
  func sum(_ keys: Keys) throws -> Int
}

/// A store that takes large values, as preferences do.
protocol LargeValueStore: Store {
  func set(_ data: Data, for key: String) throws
  func data(for key: String) -> Data?
}

/// What a library of C's has refused.
struct StoreError: Error {
  let peer: Peer
  let code: Int32

  static func check(_ code: Int32, _ peer: Peer, allowing allowed: Int32 = 0) throws {
    guard code == 0 || code == allowed else { throw StoreError(peer: peer, code: code) }
  }
}
