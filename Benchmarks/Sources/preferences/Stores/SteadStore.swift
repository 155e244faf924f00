import Foundation
import SteadPreferences

/// Preferences of a suite, with the whole search list, as an app has them.
struct SteadStore: LargeValueStore {
  static let suite = "bench"
  let preferences: Preferences

  /// The directory is in `XDG_CONFIG_HOME`, where preferences look by themselves.
  init(directory: URL) throws {
    guard let preferences = Preferences(suiteName: Self.suite) else {
      throw StoreError(peer: .stead, code: 1)
    }
    self.preferences = preferences
  }

  static func fill(_ keys: Keys, in directory: URL) throws {
    let store = try SteadStore(directory: directory)
    try store.set(keys, from: 0)
    guard store.preferences.synchronize() else { throw StoreError(peer: .stead, code: 2) }
  }

  func set(_ keys: Keys, from first: Int) throws {
    var value = first
    for name in keys.names {
      preferences.set(value, forKey: name)
      value += 1
    }
  }

  func sum(_ keys: Keys) throws -> Int {
    // A program has its keys in constants. In a loop over the array each would be retained.
    let all = keys.names
    let names = all.span
    var sum = 0
    for index in names.indices { sum += preferences.integer(forKey: names[index]) }
    return sum
  }

  func set(_ data: Data, for key: String) throws {
    preferences.set(data, forKey: key)
  }

  func data(for key: String) -> Data? {
    preferences.data(forKey: key)
  }

  func flush() throws { try preferences.flush() }
}
