/// Who does the work.
enum Peer: String, CaseIterable {
  case sqlite, stead, grdb
}

/// One piece of work, done the same by all peers.
struct Workload {
  /// One timed run of each peer; everything around it is not timed.
  struct Runs {
    let sqlite: () throws -> Duration
    let stead: () throws -> Duration
    let grdb: () throws -> Duration

    subscript(peer: Peer) -> () throws -> Duration {
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
  let prepare: (Fixtures) throws -> Runs

  static let all: [Workload] = [
    .insert, .saves, .fetch, .refetch, .lookup, .lookupAlone, .query, .families, .update, .delete,
  ]
}

/// Times a body. What it returns is let go of after the clock has stopped.
func timed<Result>(_ body: () throws -> Result) rethrows -> Duration {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try body()
  let duration = clock.now - start
  keep(result)
  return duration
}

/// Makes the optimizer believe that a value is used.
@inline(never) func keep<Value>(_ value: Value) { withExtendedLifetime(value) {} }

extension Duration {
  var nanoseconds: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}
