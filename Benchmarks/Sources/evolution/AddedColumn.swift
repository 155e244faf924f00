import BenchmarkHarness
import Foundation
import SwiftData

/// A property more with a default: opening the store, beside an opening without a change and SQLite's bare `ALTER TABLE`.
enum AddedColumn {
  /// Times an opening and the bare statement, with ``rowCount`` rows.
  static let limit = 1.5
  static let rowCount = 1_000_000

  static var comparisons: [Comparison] {
    [10_000, rowCount].flatMap { count in
      [
        Comparison(
          name: "column-\(count)", title: "a column with a default, \(count.grouped) rows",
          limit: count == rowCount ? .ratio(limit) : nil
        ) { directory in
          let store = try makeStore(directory, count)
          return [
            peer("migration", store, directory) { try ParcelStore.open(ParcelsV2.self, $0) },
            peer("by hand", store, directory) { url in
              try (ParcelStore.open(ParcelsV1.self, url), alter(url))
            },
            peer("ALTER TABLE", store, directory) { try alter($0) },
          ]
        }
      ]
    }
  }

  private static func peer<Result>(
    _ name: String, _ store: URL, _ directory: URL, _ body: @escaping (URL) throws -> Result
  ) -> Comparison.Peer {
    Comparison.Peer(name: name) {
      let url = try copy(store, directory)
      defer { remove(url) }
      return try timed { try body(url) }
    }
  }

  private static func alter(_ url: URL) throws -> PlainDatabase {
    let database = try PlainDatabase(url.path)
    try database.execute("ALTER TABLE \"Parcel\" ADD COLUMN pieces INTEGER NOT NULL DEFAULT 1")
    return database
  }

  private static func makeStore(_ directory: URL, _ count: Int) throws -> URL {
    let url = directory.appending(path: "parcels.store")
    try ParcelStore.make(ParcelsV1.self, url, count: count) {
      ParcelsV1.Parcel(number: $0, title: "parcel \($0)", weight: Double($0))
    }
    return url
  }

  private static func copy(_ store: URL, _ directory: URL) throws -> URL {
    let url = directory.appending(path: "\(UUID().uuidString).store")
    try FileManager.default.copyItem(at: store, to: url)
    return url
  }

  private static func remove(_ url: URL) {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
  }
}
