import Foundation

/// Foundation's own, which keeps what it is given only from `synchronize()` on.
struct FoundationStore: LargeValueStore {
  static let suite = "bench"
  private let defaults: UserDefaults

  /// The directory is `XDG_CONFIG_HOME` of this process.
  init(directory: URL) throws {
    guard let defaults = UserDefaults(suiteName: Self.suite) else {
      throw StoreError(peer: .foundation, code: 1)
    }
    self.defaults = defaults
  }

  /// Writes the file as it would: with `set`, many keys take minutes.
  static func fill(_ keys: Keys, in directory: URL) throws {
    let numbers = zip(keys.names, 0...).map { ($0, $1) }
    let values = Dictionary(uniqueKeysWithValues: numbers)
    let data = try PropertyListSerialization.data(
      fromPropertyList: values, format: .xml, options: 0)
    try data.write(to: directory.appendingPathComponent("\(suite).plist"))
  }

  func set(_ keys: Keys, from first: Int) throws {
    var value = first
    for name in keys.names {
      defaults.set(value, forKey: name)
      guard defaults.synchronize() else { throw StoreError(peer: .foundation, code: 2) }
      value += 1
    }
  }

  func sum(_ keys: Keys) throws -> Int {
    let all = keys.names
    let names = all.span
    var sum = 0
    for index in names.indices { sum += defaults.integer(forKey: names[index]) }
    return sum
  }

  func set(_ data: Data, for key: String) throws {
    defaults.set(data, forKey: key)
    guard defaults.synchronize() else { throw StoreError(peer: .foundation, code: 2) }
  }

  func data(for key: String) -> Data? { defaults.data(forKey: key) }
}
