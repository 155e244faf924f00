import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

/// A backup was put in a store's place while that was migrated. The migrated content replaced it, or was written to its log.
struct DisplacedMigrationTests {
  enum Fate: CaseIterable { case moved, replaced }

  enum Way: CaseIterable {
    case plan, automatically

    func open(_ url: URL, _ report: @escaping MigrationProgress.Report) throws {
      switch self {
      case .plan: _ = try ParcelPlan.open(url, report)
      case .automatically:
        _ = try ModelContainer(
          for: Schema([SlimParcels.Parcel.self]), migrationPlan: nil,
          configurations: [ModelConfiguration(url: url)], migrationProgress: report)
      }
    }
  }

  /// The bytes of a store of the first version, which needs no log.
  private func content(codes: Int) throws -> Data {
    let file = try RecordsTestSupport.StoreFile()
    try ParcelPlan.makeStore(at: file.url, codes: codes, labels: 0)
    return try Data(contentsOf: file.url)
  }

  /// It is moved or replaced at each step in turn.
  @Test(arguments: Way.allCases, Fate.allCases)
  func `a store that is not at its path any more is not migrated`(way: Way, fate: Fate) throws {
    let (before, other) = (try content(codes: 10), try content(codes: 4))
    let files = FileManager.default
    var isDone = false
    for stop in 1...100 where !isDone {
      let file = try RecordsTestSupport.StoreFile()
      try before.write(to: file.url)
      let away = file.directory.appending(path: "away")
      var steps = 0
      do {
        try way.open(file.url) { _ in
          steps += 1
          guard steps == stop else { return }
          try files.moveItem(at: file.url, to: away)
          if fate == .replaced { try other.write(to: file.url) }
        }
        #expect(steps < stop, "step \(stop)")
        isDone = true
      } catch let error as SwiftDataError {
        #expect(steps >= stop, "step \(stop): \(error)")
        let found = try? Data(contentsOf: file.url)
        #expect(found == (fate == .replaced ? other : nil), "step \(stop)")
        #expect(try Data(contentsOf: away) == before, "step \(stop)")
        if fate == .replaced { try files.removeItem(at: file.url) }
        try files.moveItem(at: away, to: file.url)
        let container = try ParcelPlan.open(file.url)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<ParcelsV2.Parcel>()) == 10)
      }
    }
    #expect(isDone)
  }
}
