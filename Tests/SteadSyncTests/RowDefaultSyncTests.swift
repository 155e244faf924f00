import Foundation
import SteadSync
import SteadTestSupport
import SwiftData
import SyncTestSupport
import Testing

private enum Older {
  @Model final class Parcel {
    var number: Int = 0
    init(_ number: Int) { self.number = number }
  }
}

private enum Newer {
  struct Label: Codable, Equatable {
    var text = "none"
    var id = UUID()
  }

  @Model final class Parcel {
    var number: Int = 0
    var id: UUID = UUID()
    @Attribute(.unique) var key: String = UUID().uuidString
    var label = Label()
    init(_ number: Int) { self.number = number }
  }
}

/// Records of an earlier version of the app, whose rows lack properties with default values such as `UUID()`.
///
/// All of them got the same value, and with a unique one all but one had no row.
@Suite(.hangLimit) struct RowDefaultSyncTests {
  private static let count = 12
  private let server = LocalSyncServer()
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open(
    _ type: any PersistentModel.Type, _ name: String
  ) throws -> (ModelContext, SyncEngine) {
    let schema = Schema([type])
    let container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(
        schema: schema, url: directory.file(name), sync: .zone(Device.zone)))
    return (ModelContext(container), try SyncEngine(container, transport: server))
  }

  @Test func `each record's row gets its own values, and keeps them`() async throws {
    let (old, oldEngine) = try open(Older.Parcel.self, "old.store")
    for number in 1...Self.count { old.insert(Older.Parcel(number)) }
    try old.save()
    try await oldEngine.syncNow()
    let (new, engine) = try open(Newer.Parcel.self, "new.store")
    var first: [Int: String] = [:]
    for turn in 0..<3 {
      try await engine.syncNow()
      let parcels = try new.fetch(FetchDescriptor<Newer.Parcel>())
      #expect(parcels.count == Self.count)
      #expect(Set(parcels.map(\.id)).count == Self.count)
      #expect(Set(parcels.map(\.key)).count == Self.count)
      #expect(Set(parcels.map(\.label.id)).count == Self.count)
      let values = Dictionary(
        uniqueKeysWithValues: parcels.map { ($0.number, "\($0.id) \($0.key) \($0.label.id)") })
      if turn == 0 { first = values } else { #expect(values == first) }
    }
  }
}
