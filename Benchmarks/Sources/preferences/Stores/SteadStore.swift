import Foundation
import SteadPreferences

/// Preferences of a suite, with the whole search list, as an app has them.
struct SteadStore: LargeValueStore {
  static let suite = "bench"
  let preferences: Preferences

  /// The directory is in `XDG_CONFIG_HOME`, where preferences look by themselves.
  init(directory: URL) throws {
    preferences = Preferences.inMemory(Self.suite)
  }

  static func fill(_ keys: Keys, in directory: URL) throws {
    let store = try SteadStore(directory: directory)
    try store.set(keys, from: 0)
  }

  func set(_ keys: Keys, from first: Int) throws {
    var value = first
    for name in keys.names {
      try preferences.setPropertyList(.integer(Int64(value)), forKey: name)
      value += 1
    }
  }

  func sum(_ keys: Keys) throws -> Int {
    var sum = 0
    for name in keys.names {
      if case .integer(let value) = preferences.propertyList(forKey: name) { sum += Int(value) }
    }
    return sum
  }

  func set(_ data: Data, for key: String) throws {
    try preferences.setPropertyList(.data(data), forKey: key)
  }

  func data(for key: String) -> Data? {
    if case .data(let data) = preferences.propertyList(forKey: key) { data } else { nil }
  }

  func flush() throws {}
}
