import BenchmarkHarness
import Foundation
import SteadCaches

/// `DiskCache` beside SQLite's own interface and Python's diskcache: 10,000 values of 10 KB, and room for half of them.
enum DiskMeasures {
  static let entryCount = 10_000
  static let valueSize = 10_000
  static let sizeLimit = 50_000_000
  /// The newest entries, all of which are still there when all have been set.
  static let keptCount = 4_500
  static let getCount = 50_000

  static var comparisons: [Comparison] {
    let bySQLite = [
      Comparison(
        name: "disk-set", title: "sets 10,000 values of 10 KB within 50 MB, beside SQLite",
        limit: .ratio(1.3)
      ) { [set(in: $0), plainSet(in: $0)] },
      Comparison(
        name: "disk-get", title: "gets them in a random order, beside SQLite", limit: .ratio(1.3)
      ) { [try get(in: $0), try plainGet(in: $0)] },
    ]
    guard PythonCache.isAvailable else {
      print("Python has no diskcache, so nothing is compared with it: pip install diskcache")
      return bySQLite
    }
    return bySQLite + [
      Comparison(
        name: "disk-set-python", title: "sets them, beside Python's diskcache",
        limit: .ratio(1 / 1.5)
      ) { [set(in: $0), PythonCache.peer("set", in: $0)] },
      Comparison(
        name: "disk-get-python", title: "gets them, beside Python's diskcache",
        limit: .ratio(1 / 1.5)
      ) { [try get(in: $0), PythonCache.peer("get", in: $0)] },
    ]
  }

  static func key(_ number: Int) -> String { "https://example.org/pictures/\(number).jpeg" }

  private static let keys = (0..<entryCount).map(key)
  private static let value = Data((0..<valueSize).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  /// The keys of the gets.
  private static let order: [String] = (0..<getCount).map { _ in
    key(entryCount - 1 - Int.random(in: 0..<keptCount))
  }

  private static func fill(_ cache: DiskCache) throws {
    for key in keys where !cache.setData(value, for: key) { throw UsageError() }
  }

  private static func set(in place: URL) -> Comparison.Peer {
    Comparison.Peer(name: "DiskCache") {
      let directory = place.appending(path: UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: directory) }
      let cache = DiskCache(directory: directory, limits: .init(totalSizeLimit: sizeLimit))
      return try timed { try fill(cache) } / Double(entryCount)
    }
  }

  private static func get(in place: URL) throws -> Comparison.Peer {
    let cache = DiskCache(
      directory: place.appending(path: "cache"), limits: .init(totalSizeLimit: sizeLimit))
    try fill(cache)
    return Comparison.Peer(name: "DiskCache") {
      let time = timed {
        for key in order { keep(cache.data(for: key)) }
      }
      guard cache.statistics.misses == 0 else { throw UsageError() }
      return time / Double(getCount)
    }
  }

  private static func plainSet(in place: URL) -> Comparison.Peer {
    Comparison.Peer(name: "SQLite") {
      let file = place.appending(path: UUID().uuidString)
      let cache = try PlainCache(file.path, limit: sizeLimit)
      defer { cache.removeFiles() }
      return try timed {
        for key in keys { try cache.set(value, for: key) }
      } / Double(entryCount)
    }
  }

  private static func plainGet(in place: URL) throws -> Comparison.Peer {
    let cache = try PlainCache(place.appending(path: "plain").path, limit: sizeLimit)
    for key in keys { try cache.set(value, for: key) }
    return Comparison.Peer(name: "SQLite") {
      try timed {
        for key in order {
          guard let value = try cache.value(for: key) else { throw UsageError() }
          keep(value)
        }
      } / Double(getCount)
    }
  }
}
