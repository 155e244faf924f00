import Foundation
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

@Suite("Backups of a store that is in use") struct BackupTests {
  private let directory: URL
  private var target: URL { directory.file("copy.store") }

  init() throws { directory = try TestFiles.directory() }

  private func open(_ url: URL, as store: UpkeepStore) throws -> ModelContainer {
    try ModelContainer(for: store.store.schema, configurations: ModelConfiguration(url: url))
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
  }

  @Test(arguments: StorePlace.allCases)
  func `a backup has every object and every large value`(place: StorePlace) throws {
    let store = try UpkeepStore(place)
    let pending = store.store.context()
    pending.insert(Club(name: "pending"))
    try store.container.backUp(to: target)
    #expect(try target.mode == 0o600)
    let copy = try open(target, as: store)
    #expect(try copy.check().rowCounts == store.container.check().rowCounts)
    #expect(try copy.check().problems.isEmpty)
    let context = ModelContext(copy)
    #expect(try context.only(Headline.self).picture == UpkeepStore.picture)
    #expect(try context.only(Club.self).members.map(\.name) == (0..<3).map { "Member \($0)" })
    #expect(try context.only(Driver.self).garage.map(\.name) == ["big", "mini"])
    // It is a store of its own.
    try copy.erase()
    #expect(try store.store.reopened().only(Headline.self).picture == UpkeepStore.picture)
  }

  @Test func `a backup replaces nothing`() throws {
    let store = try UpkeepStore()
    try Data("mine".utf8).write(to: target)
    let error = try #require(throws: SwiftDataError.self) { try store.container.backUp(to: target) }
    #expect(error.code == .fileExists)
    #expect(try Data(contentsOf: target) == Data("mine".utf8))
    #expect(try names() == ["copy.store"])
  }

  @Test(arguments: [StoreProgress.Phase.copyingFiles, .copyingPages])
  func `a backup that is ended early leaves nothing`(phase: StoreProgress.Phase) throws {
    let store = try UpkeepStore()
    #expect(throws: CancellationError.self) {
      try store.container.backUp(to: target) {
        if $0.phase == phase, $0.completed == $0.total { throw CancellationError() }
      }
    }
    #expect(try names() == [])
  }

  @Test
  func `a backup is as of one commit while another process saves, and keeps nobody from saving`()
    throws
  {
    let url = try StoreFile().url
    let container = try openLedgers(at: url)
    let worker = try Worker(url, "write", "worker", "1", "100000")
    for number in 1...4 {
      let saved = try #require(worker.number())
      let copy = directory.file("copy-\(number).store")
      var hasBegun = false
      var savesMeanwhile = 0
      try container.backUp(to: copy) { _ in
        // What the worker has printed before is at hand without a save.
        if hasBegun { return }
        hasBegun = true
        _ = worker.linesAtHand()
        // The first may be of a save before; the second's save began after it was printed.
        for _ in 0..<2 where worker.number() != nil { savesMeanwhile += 1 }
      }
      #expect(savesMeanwhile == 2)
      let context = ModelContext(try openLedgers(at: copy))
      #expect(try context.all(Ledger.self).allSatisfy { $0.isWhole })
      #expect(try context.count(Ledger.self) >= saved)
      #expect(try context.container.check().problems.isEmpty)
    }
    worker.end()
  }

  /// It compared the store's file with the one at its path by the writer's connection, which a thread that saved was using. The
  /// thread sanitizer reported it.
  @Test
  func `a backup is made while another thread saves and compacts, also behind a link`() async throws
  {
    let link = directory.file("link")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: try TestFiles.directory())
    for round in 1...5 {
      let copy = directory.file("copy-\(round).store")
      let container = try ModelContainer(
        for: Unrelated.self, configurations: ModelConfiguration(url: link.file("test.store")))
      try await withThrowingTaskGroup { group in
        group.addTask { try container.backUp(to: copy) }
        group.addTask {
          let context = ModelContext(container)
          context.insert(Unrelated(number: round))
          try context.save()
          try container.compact()
        }
        try await group.waitForAll()
      }
      let backup = try ModelContainer(
        for: Unrelated.self, configurations: ModelConfiguration(url: copy))
      let count = try ModelContext(backup).count(Unrelated.self)
      #expect([round - 1, round].contains(count))
    }
  }

  @Test
  func `a large value that is deleted while others are copied is in the backup, or its row is not`()
    throws
  {
    let store = try UpkeepStore()
    let context = store.store.context()
    let first = try context.only(Headline.self)
    var changes = 0
    try store.container.backUp(to: target) { progress in
      guard progress.phase == .copyingFiles, progress.completed == 0, changes < 3 else { return }
      changes += 1
      first.picture = Data(repeating: UInt8(changes), count: 200_000)
      try context.save()
    }
    #expect(changes == 3)
    let copy = try open(target, as: store)
    #expect(try copy.check().problems.isEmpty)
    #expect(try ModelContext(copy).only(Headline.self).picture == first.picture)
  }

  /// The backup failed.
  @Test(arguments: ["", "/etc/passwd", String(repeating: "0", count: 64)])
  func `a row that names no file is in the backup as it is`(name: String) throws {
    let store = try UpkeepStore()
    try store.sql("UPDATE Headline SET picture = '\(name)'")
    try store.container.backUp(to: target)
    let copy = try open(target, as: store)
    #expect(try copy.check().problems.map(\.kind) == [.missingFile])
    #expect(try ModelContext(copy).only(Headline.self).title == "zugzwang")
  }

  @Test(
    .needs(.smallDisk),
    arguments: [true, false])
  func `a backup on a full disk says so, and leaves nothing`(hasFiles: Bool) throws {
    let store = try UpkeepStore()
    if !hasFiles {
      let context = store.store.context()
      try context.only(Headline.self).picture = nil
      try context.save()
    }
    let disk = try SmallDisk(byteCount: 1 << 20)
    try disk.fill(leaving: 16 * 1024)
    let copy = disk.directory.file("copy.store")
    let error = try #require(throws: SwiftDataError.self) { try store.container.backUp(to: copy) }
    #expect(error.code == .storageFull, "\(error)")
    #expect(!error.message.contains("pending"))
    let names = try FileManager.default.contentsOfDirectory(atPath: disk.directory.url.path)
    #expect(names == ["filler"])
    try disk.empty()
    try store.container.backUp(to: copy)
    #expect(try open(copy, as: store).check().problems.isEmpty)
  }

  @Test func `several stores are backed up to a directory`() throws {
    let files = try TestFiles.directory()
    let configurations = [
      ModelConfiguration("one", schema: Schema([Unrelated.self]), url: files.file("a.db")),
      ModelConfiguration("two", schema: Schema([Headline.self]), url: files.file("b.db")),
    ]
    let container = try ModelContainer(
      for: Schema([Unrelated.self, Headline.self]), configurations: configurations)
    let context = ModelContext(container)
    context.insertAll(Unrelated(number: 7), Headline(title: "seven"))
    try context.save()
    let folder = directory.file("folder")
    try container.backUp(to: folder)
    let copies = ["one", "two"].map { folder.file("\($0).store") }
    let one = try ModelContainer(
      for: Unrelated.self, configurations: ModelConfiguration(url: copies[0]))
    let two = try ModelContainer(
      for: Headline.self, configurations: ModelConfiguration(url: copies[1]))
    #expect(try ModelContext(one).only(Unrelated.self).number == 7)
    #expect(try ModelContext(two).only(Headline.self).title == "seven")
    #expect(throws: SwiftDataError.fileExists) { try container.backUp(to: folder) }
  }
}
