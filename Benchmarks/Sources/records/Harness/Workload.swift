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

/// What is measured: time as a clock on the wall has it, or the processor's on this process.
enum Clock {
  /// Processor time leaves out what other programs do meanwhile, and waiting for the disk.
  // Set once, before anything is measured, and read on the main thread alone.
  nonisolated(unsafe) static var countsProcessorTime = false

  static var now: Double {
    var time = timespec()
    clock_gettime(countsProcessorTime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

/// The nanoseconds of a body. What it returns is let go of after the clock has stopped.
func timed<Result>(_ body: () throws -> Result) rethrows -> Double {
  let start = Clock.now
  let result = try body()
  let time = Clock.now - start
  keep(result)
  return time
}

/// Makes the optimizer believe that a value is used.
@inline(never) func keep<Value>(_ value: Value) { withExtendedLifetime(value) {} }
