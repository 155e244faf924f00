import Foundation
import SteadSync
import SteadTestSupport
import SwiftData
import SyncTestSupport
import Testing

/// A device whose disk is full: its sync stops with an error, loses nothing, and goes on when there is room.
@Suite(.needs(.smallDisk), .hangLimit) struct FullDiskTests {
  private static let noteCount = 400

  /// A store with its tables on a disk of 16 MB, and a server with more than what will be left of it.
  private func fullDevice() async throws -> (device: Device, far: Device, disk: SmallDisk) {
    let server = LocalSyncServer()
    let far = try Device(server)
    let disk = try SmallDisk(byteCount: 16 << 20)
    var options = SyncEngine.Options()
    options.pageSize = 20
    let device = try Device(server, in: disk.directory.url, options: options)
    try await device.engine.syncNow()
    for number in 0..<Self.noteCount {
      let note = Note("note \(number)")
      note.text = String(repeating: "x", count: 2_000)
      far.context.insert(note)
    }
    try far.context.save()
    try await far.engine.syncNow()
    return (device, far, disk)
  }

  @Test func `the fetch stops and goes on`() async throws {
    let (device, far, disk) = try await fullDevice()
    try disk.fill(leaving: 512 << 10)
    let error = await #expect(throws: (any Error).self) { try await device.engine.syncNow() }
    #expect("\(try #require(error))".contains("full"))
    let shown = try device.content.count
    #expect(shown < Self.noteCount)
    #expect(try device.container.check().problems.isEmpty)
    try disk.empty()
    try await device.engine.syncNow()
    #expect(try device.content == far.content)
    #expect(device.engine.status.isUpToDate)
  }

  @Test func `what was saved before is sent afterwards and once`() async throws {
    let (device, far, disk) = try await fullDevice()
    device.context.insert(Note("mine"))
    try device.context.save()
    try disk.fill()
    await #expect(throws: (any Error).self) { try await device.engine.syncNow() }
    #expect(try device.note("mine") != nil)
    try disk.empty()
    try await device.engine.syncNow()
    try await far.engine.syncNow()
    #expect(try device.content == far.content)
    #expect(try far.content.count { $0.hasPrefix("note mine") } == 1)
    #expect(try await device.engine.conflicts().isEmpty)
  }

  @Test func `a shared value that is not saved is not shown`() throws {
    let disk = try SmallDisk(byteCount: 4 << 20)
    let store = try SyncedKeyValueStore(file: disk.directory.file("values.sqlite"))
    store.set("old", forKey: "kept")
    try disk.fill()
    // What is in the log already may be written over.
    var number = 0
    while number < 100 {
      store.set(String(repeating: "x", count: 10_000), forKey: "key \(number)")
      guard store.string(forKey: "key \(number)") != nil else { break }
      number += 1
    }
    #expect(number < 100, "the disk is full")
    #expect(store.string(forKey: "kept") == "old")
    #expect(store.dictionaryRepresentation.count == number + 1)
    try disk.empty()
    store.set("new", forKey: "key \(number)")
    let other = try SyncedKeyValueStore(file: disk.directory.file("values.sqlite"))
    #expect(other.dictionaryRepresentation.count == number + 2)
    #expect(other.string(forKey: "key \(number)") == "new")
    #expect(other.string(forKey: "kept") == "old")
  }
}
