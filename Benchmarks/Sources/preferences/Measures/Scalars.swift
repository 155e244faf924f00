import Foundation

/// Whole numbers, got and set one at a time, in a random order of keys that are there.
enum Scalars {
  static func get<S: Store>(
    _ type: S.Type, _ peer: Peer, _ keyCount: Int, _ directory: URL
  ) throws -> [String: Double] {
    let store = try S(directory: directory)
    let keys = Keys(getCount(peer, keyCount), of: keyCount)
    keep(try store.sum(keys))
    let times = try (0..<3).map { _ in try timed { try store.sum(keys) } }
    return ["time": Sample(times).median / Double(keys.names.count)]
  }

  static func set<S: Store>(
    _ type: S.Type, _ peer: Peer, _ keyCount: Int, _ directory: URL
  ) throws -> [String: Double] {
    let store = try S(directory: directory)
    let count = setCount(peer, keyCount)
    try store.set(Keys(max(count / 10, 1), of: keyCount), from: keyCount)
    let keys = Keys(count, of: keyCount)
    let time = try timed { try store.set(keys, from: 2 * keyCount) }
    return ["time": time / Double(count)]
  }

  /// UserDefaults' cost grows with the number of keys, and a run must come to an end.
  private static func getCount(_ peer: Peer, _ keyCount: Int) -> Int {
    switch peer {
    case .stead, .lmdb: 200_000
    case .sqlite: 50_000
    case .foundation: max(10, 200_000 / keyCount)
    }
  }

  private static func setCount(_ peer: Peer, _ keyCount: Int) -> Int {
    switch peer {
    case .stead, .lmdb: 100_000
    case .sqlite: 10_000
    case .foundation: max(2, min(50, 20_000 / keyCount))
    }
  }
}
