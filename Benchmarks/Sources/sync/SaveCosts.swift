import BenchmarkHarness
import Foundation
import SteadSync
import SwiftData

/// What a save costs in a store that is synced, beside one in a store with a history alone.
enum SaveCosts {
  static let limit = 1.3

  static var comparisons: [Comparison] {
    [
      saves("save-one", "300 saves of one object") { context in
        for number in 0..<300 {
          context.insert(Reading(number: number))
          try context.save()
        }
      },
      saves("save-many", "a save of 10,000 objects") { context in
        for number in 0..<10_000 { context.insert(Reading(number: number)) }
        try context.save()
      },
    ]
  }

  /// The engine waits meanwhile, so that what it does in its own time isn't taken for the save's.
  private static func saves(
    _ name: String, _ title: String, _ body: @escaping (ModelContext) throws -> Void
  ) -> Comparison {
    Comparison(name: name, title: title, limit: .ratio(limit)) { directory in
      func peer(_ name: String, isSynced: Bool) -> Comparison.Peer {
        Comparison.Peer(name: name) {
          let url = directory.appending(path: "\(UUID().uuidString).store")
          let container = try ReadingStore.open(url, isSynced: isSynced)
          let engine =
            isSynced ? try SyncEngine(container, transport: LocalSyncServer()) : nil
          defer { keep(engine) }
          return try timed { try body(ModelContext(container)) }
        }
      }
      return [peer("synced", isSynced: true), peer("history", isSynced: false)]
    }
  }
}
