import BenchmarkHarness
import Foundation

/// Whole numbers, got and set one at a time, in a random order of keys that are there.
enum Scalars {
  static func get<S: Store>(
    _ type: S.Type, _ peer: Peer, _ keyCount: Int, _ directory: URL
  ) throws -> [String: Double] {
    let store = try S(directory: directory)
    let all = Keys(min(getCount(peer, keyCount), max(keyCount, 10_000)), of: keyCount)
    let some = (0..<100).map { Keys.name($0 * (keyCount / 100)) }
    let few = Keys((0..<max(1, all.names.count / 100)).flatMap { _ in some.shuffled() })
    return [
      "all": try time(of: all, store, getCount(peer, keyCount)),
      "few": try time(of: few, store, getCount(peer, keyCount)),
    ]
  }

  /// The time of one look-up, when a list of keys is looked up again and again.
  private static func time(of keys: Keys, _ store: some Store, _ count: Int) throws -> Double {
    keep(try store.sum(keys))
    let passes = max(1, count / keys.names.count)
    let times = try (0..<3).map { _ in
      try timed { for _ in 0..<passes { keep(try store.sum(keys)) } }
    }
    return Sample(times).median / Double(passes * keys.names.count)
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

  /// The longest of many sets: what a frame or an answer to a request has to wait for.
  static func worst<S: Store>(
    _ type: S.Type, _ peer: Peer, _ keyCount: Int, _ directory: URL
  ) throws -> [String: Double] {
    let store = try S(directory: directory)
    let count = setCount(peer, keyCount)
    // The first ones meet pages and files that are not there yet.
    try store.set(Keys(max(count / 10, 1), of: keyCount), from: keyCount)
    let keys = Keys(count, of: keyCount).names.map { Keys([$0]) }
    var times: [Double] = []
    times.reserveCapacity(count)
    for (number, key) in keys.enumerated() {
      times.append(try timed { try store.set(key, from: 2 * keyCount + number) })
    }
    times.sort()
    return ["worst": times[count - 1], "thousandth": times[count - 1 - count / 1_000]]
  }

  /// UserDefaults' cost grows with the number of keys, and a run must come to an end.
  private static func getCount(_ peer: Peer, _ keyCount: Int) -> Int {
    switch peer {
    case .stead, .lmdb, .lmdbMap: 200_000
    case .sqlite: 50_000
    case .foundation: max(10, 200_000 / keyCount)
    }
  }

  private static func setCount(_ peer: Peer, _ keyCount: Int) -> Int {
    switch peer {
    case .stead, .lmdb, .lmdbMap: 100_000
    case .sqlite: 10_000
    case .foundation: max(2, min(50, 20_000 / keyCount))
    }
  }
}
