import BenchmarkHarness
import Foundation

/// Who does the work.
enum Peer: String, CaseIterable {
  case sqlite, stead, grdb
}

/// One piece of work, done the same by all peers.
struct Workload: Sendable {
  /// One timed run of each peer; everything around it is not timed.
  struct Runs {
    let sqlite: () throws -> Double
    let stead: () throws -> Double
    let grdb: () throws -> Double

    subscript(peer: Peer) -> () throws -> Double {
      switch peer {
      case .sqlite: sqlite
      case .stead: stead
      case .grdb: grdb
      }
    }
  }

  let name: String
  let title: String
  /// The greatest time of Stead's that is good enough, in times of SQLite's.
  let limit: Double
  /// Operations in one run, for the column of times.
  let count: Int
  let prepare: @Sendable (Fixtures) throws -> Runs

  static let all: [Workload] = [
    .insert, .saves, .savesInOldProcess, .savesBesideIdleContexts, .fetch, .fetchAndRead, .refetch,
    .lookup, .lookupAlone, .query, .families, .update, .delete,
  ]
}
