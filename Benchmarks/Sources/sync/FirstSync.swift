import BenchmarkHarness
import Foundation
import SteadSync
import SwiftData

/// How long a new device takes to fetch a full zone, and a full store to send itself to a new one.
enum FirstSync {
  static let recordCount = 100_000
  /// Nanoseconds.
  static let limit = 10e9

  /// Returns whether the limit was kept.
  static func run(in directory: URL, at server: SyncServerProcess) async throws -> Bool {
    let old = try SyncDevice(in: try await SyncDevice.folder("old", in: directory, at: server))
    for start in stride(from: 0, to: recordCount, by: 10_000) {
      let context = ModelContext(old.container)
      for number in start..<start + 10_000 { context.insert(Reading(number: number)) }
      try context.save()
    }
    let sent = try await time { try await old.engine.syncNow() }
    let new = try SyncDevice(in: try await SyncDevice.folder("new", in: directory, at: server))
    let fetched = try await time { try await new.engine.syncNow() }
    let count = try ModelContext(new.container).fetchCount(FetchDescriptor<Reading>())
    withExtendedLifetime(server) {}
    guard count == recordCount else {
      throw SyncServerProcess.Failure(description: "Only \(count) objects arrived.")
    }
    let isMet = fetched <= limit
    print("\nfirst  \(recordCount.grouped) records through a server on this machine")
    print("  sent      \(timeText(sent))")
    print(
      "  fetched   \(timeText(fetched))  limit \(timeText(limit))  \(isMet ? "ok" : "MISSED")")
    return isMet
  }

  private static func time(_ body: () async throws -> Void) async throws -> Double {
    let start = Clock.now
    try await body()
    return Clock.now - start
  }
}
