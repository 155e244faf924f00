import Foundation
import SwiftData
import Testing
import WorkerModels

@Suite("Full disks, foreign and damaged files", .serialized, .ownThread) struct DamageTests {
  @Test(.needs(.smallDisk))
  func `a full disk is an error, the changes stay pending, the file stays whole`() throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let url = disk.directory.file("full.store")
    try saveUntilFull(disk, url)
    // Another launch of the program finds what was saved.
    let reader = ModelContext(try openLedgers(at: url))
    #expect(try reader.count(Ledger.self) == 2)
    #expect(try reader.all(Ledger.self).allSatisfy { $0.isWhole })
  }

  private func saveUntilFull(_ disk: SmallDisk, _ url: URL) throws {
    let context = ModelContext(try openLedgers(at: url))
    context.insert(Ledger(number: 1, writer: "test", amounts: [1, 2, 3]))
    try context.save()
    try disk.fill(leaving: 64 * 1024)

    let large = Ledger(number: 2, writer: "test", amounts: Array(0..<20_000))
    context.insert(large)
    #expect(throws: SwiftDataError.storageFull) { try context.save() }
    #expect(context.hasChanges)
    #expect(large.hasChanges)
    #expect(large.persistentModelID.isTemporary)
    #expect(context.insertedModelsArray.count == 20_001)
    #expect(try ModelContext(context.container).count(Ledger.self) == 1)
    #expect(throws: SwiftDataError.storageFull) { try context.save() }

    try disk.empty()
    try context.save()
    #expect(!context.hasChanges)
    #expect(!large.persistentModelID.isTemporary)
  }

  @Test(arguments: Intruder.allCases)
  func `files that are no stores give an error and are left untouched`(_ intruder: Intruder) throws
  {
    let url = try StoreFile().url
    try intruder.write(to: url)
    let before = try Data(contentsOf: url)
    #expect(throws: SwiftDataError.unreadableStore) { _ = try openLedgers(at: url) }
    #expect(try Data(contentsOf: url) == before)
    let left = try FileManager.default.contentsOfDirectory(
      atPath: url.deletingLastPathComponent().filePath)
    #expect(left == [url.lastPathComponent])
  }

  @Test func `a store with a damaged page gives errors, never a trap`() throws {
    let url = try StoreFile().url
    do {
      let context = ModelContext(try openLedgers(at: url))
      for number in 0..<80 {
        context.insert(Ledger(number: number, writer: "test", amounts: Array(0..<20)))
      }
      try context.save()
    }
    let whole = try Data(contentsOf: url)
    try #require(whole.count > 40_000)
    for seed in 1...6 {
      var damaged = whole
      let start = 4096 * (1 + seed * 7 % (whole.count / 4096 - 1))
      for offset in 0..<256 { damaged[start + offset] = UInt8(truncatingIfNeeded: offset &* seed) }
      try damaged.write(to: url)
      // Whatever is thrown is an error of ours; what is read is what it says.
      do {
        let context = ModelContext(try openLedgers(at: url))
        for ledger in try context.all(Ledger.self) { _ = ledger.entries.map(\.amount) }
      } catch let error as SwiftDataError {
        #expect(!error.message.isEmpty)
      }
      for suffix in ["-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: url.path + suffix)
      }
    }
  }
}

/// Files that a program may find where it expects its store.
enum Intruder: String, CaseIterable, Sendable {
  case text, shortText, randomBytes, foreignDatabase, truncatedStore, headerOnly

  func write(to url: URL) throws {
    switch self {
    case .text: try Data(String(repeating: "not a store\n", count: 1_000).utf8).write(to: url)
    case .shortText: try Data("x".utf8).write(to: url)
    case .randomBytes:
      var random = SplitMix(seed: Effort.seed)
      try Data((0..<10_000).map { _ in UInt8.random(in: 1...255, using: &random) }).write(to: url)
    case .foreignDatabase: try Self.foreignDatabase().write(to: url)
    case .truncatedStore: try Self.store().prefix(5_000).write(to: url)
    case .headerOnly: try Self.store().prefix(100).write(to: url)
    }
  }

  /// The bytes of a store with a few rows.
  private static func store() throws -> Data {
    let url = try StoreFile().url
    // Closing the container moves everything from the log into the file.
    do {
      let context = ModelContext(try openLedgers(at: url))
      for number in 0..<50 {
        context.insert(Ledger(number: number, writer: "test", amounts: Array(0..<20)))
      }
      try context.save()
    }
    let data = try Data(contentsOf: url)
    try #require(data.count > 20_000)
    return data
  }

  /// A database of another program: a store whose mark in the header is another's.
  private static func foreignDatabase() throws -> Data {
    var data = try store()
    // Bytes 68 to 71 of a SQLite file name the program that it belongs to.
    for (offset, byte) in [UInt8](arrayLiteral: 0x47, 0x50, 0x4B, 0x47).enumerated() {
      data[68 + offset] = byte
    }
    return data
  }
}
