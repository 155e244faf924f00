import Foundation
import SteadSync
import SteadTestSupport
import SwiftData
import Testing

/// What an earlier version has synced opens, keeps the edits that it has not sent, and goes on to sync.
///
/// The server is a new one each time, so the device also brings back what the old one had.
@Suite(.hangLimit) struct EarlierZoneTests {
  private let directory: TemporaryDirectory
  private let server = LocalSyncServer()

  /// Copies the files.
  init() throws {
    directory = try TemporaryDirectory()
    let zones = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "EarlierZones", directoryHint: .isDirectory)
    for name in ["voyage.store", ".voyage.store_external", "settings.sqlite"] {
      try FileManager.default.copyItem(at: zones.file(name), to: directory.file(name))
    }
  }

  private func content(of container: ModelContainer) throws -> [String] {
    try Voyage.content(container)
  }

  @Test func `a store opens with its objects and is sound`() throws {
    for _ in 1...2 {
      let container = try Voyage.open(in: directory.url)
      #expect(try content(of: container) == Voyage.expected)
      let check = try container.check()
      #expect(check.isSound, "\(check)")
    }
  }

  @Test func `a store is synced, and other devices get all of it`() async throws {
    let container = try Voyage.open(in: directory.url)
    let engine = try SyncEngine(container, transport: server)
    try await engine.syncNow()
    #expect(try content(of: container) == Voyage.expected)
    #expect(try await engine.quarantine().isEmpty)
    #expect(try await engine.conflicts().isEmpty)

    let far = try TemporaryDirectory()
    let farContainer = try Voyage.open(in: far.url)
    let farEngine = try SyncEngine(farContainer, transport: server)
    try await farEngine.syncNow()
    #expect(try content(of: farContainer) == Voyage.expected)
  }

  @Test func `edits of both devices meet`() async throws {
    let container = try Voyage.open(in: directory.url)
    let engine = try SyncEngine(container, transport: server)
    try await engine.syncNow()
    let far = try TemporaryDirectory()
    let farContainer = try Voyage.open(in: far.url)
    let farEngine = try SyncEngine(farContainer, transport: server)
    try await farEngine.syncNow()

    let context = ModelContext(farContainer)
    for ship in try context.fetch(FetchDescriptor<Voyage.Ship>()) {
      switch ship.name {
      case "Zeta": ship.visits += 10
      case "Nu": context.delete(ship)
      default: ship.note = "seen"
      }
    }
    try context.save()
    let here = ModelContext(container)
    for ship in try here.fetch(FetchDescriptor<Voyage.Ship>()) where ship.name == "Zeta" {
      ship.visits += 100
      ship.chart = Data(Voyage.chart.reversed())
    }
    try here.save()
    // The first exchange sends, and the second one fetches what the other device has sent.
    for engine in [engine, farEngine, engine, farEngine] { try await engine.syncNow() }
    let found = try content(of: container)
    #expect(try content(of: farContainer) == found)
    let ships = try ModelContext(container).fetch(FetchDescriptor<Voyage.Ship>())
    #expect(Set(ships.map(\.name)) == ["Zeta", "Alpha", "Late"])
    let zeta = try #require(ships.first { $0.name == "Zeta" })
    #expect(zeta.visits == 115 && zeta.chart == Data(Voyage.chart.reversed()))
  }

  @Test func `key-value pairs are there, change and are synced`() async throws {
    let store = try SyncedKeyValueStore(file: directory.file("settings.sqlite"))
    func expectValues(_ store: SyncedKeyValueStore) {
      #expect(store.string(forKey: "text") == "é 🚢")
      #expect(store.longLong(forKey: "number") == .max)
      #expect(store.double(forKey: "double") == 0.1)
      #expect(store.bool(forKey: "flag"))
      #expect(store.data(forKey: "data") == Data([0, 255]))
      #expect(store.array(forKey: "list") as? [String] == ["a", "b"])
      #expect(store.object(forKey: "removed") == nil)
      #expect(store.string(forKey: "changed") == "changed offline")
      #expect(store.string(forKey: "late") == "set offline")
    }
    expectValues(store)
    store.set("new", forKey: "new")
    let zones = [Voyage.settingsZone: store]
    try await SyncEngine(keyValueStores: zones, transport: server).syncNow()
    expectValues(store)
    let far = SyncedKeyValueStore.inMemory()
    try await SyncEngine(keyValueStores: [Voyage.settingsZone: far], transport: server).syncNow()
    expectValues(far)
    #expect(far.string(forKey: "new") == "new")
  }
}
