import Foundation
import SteadSQLite
import SteadSync
import SteadTestSupport
import SwiftData
import SyncTestSupport
import Testing

/// A store that several programs share, and that each of them syncs.
@Suite(.hangLimit) struct SharedStoreTests {
  private static let editCount = 10
  /// The most turns that an edit may cost two engines: each sends, fetches and waits again.
  private static let turnsPerEdit: Int64 = 12

  /// The number of turns that a file's zone has had.
  private func turns(_ file: URL) throws -> Int64 {
    let connection = try SQLiteConnection(SQLiteOptions(.file(file.path)))
    return try connection.integer(
      "SELECT CAST(value AS INTEGER) FROM stead_sync WHERE key = 'turn'") ?? 0
  }

  @Test func `two engines of one store come to rest`() async throws {
    let server = LocalSyncServer()
    let directory = try TemporaryDirectory()
    let store = directory.url.appending(path: "shelf.store")
    let devices = try [0, 1].map { _ in try Device(server, in: directory.url) }
    let far = try Device(server)
    for device in devices {
      try await device.engine.syncNow()
      await device.engine.start()
    }
    let before = try turns(store)
    for number in 0..<Self.editCount {
      devices[number % 2].context.insert(Note("note \(number)"))
      try devices[number % 2].context.save()
      while try far.content.count <= number { try await far.engine.syncNow() }
    }
    // Long enough for hundreds of turns, if each engine's turn made the other one have a turn.
    for _ in 0..<300 { try await far.engine.syncNow() }
    #expect(try turns(store) - before <= Int64(Self.editCount) * Self.turnsPerEdit)
    for device in devices { await device.engine.pause() }
    #expect(try devices[0].content == far.content)
  }

  @Test func `to read shared values writes nothing`() throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("values.sqlite")
    let stores = try [0, 1].map { _ in try SyncedKeyValueStore(file: file) }
    stores[0].set("first", forKey: "key")
    let before = try turns(file)
    for _ in 0..<10 {
      for store in stores { #expect(store.string(forKey: "key") == "first") }
    }
    #expect(try turns(file) == before)
    stores[1].set("second", forKey: "key")
    for store in stores { #expect(store.string(forKey: "key") == "second") }
    #expect(try turns(file) == before + 1)
  }
}
