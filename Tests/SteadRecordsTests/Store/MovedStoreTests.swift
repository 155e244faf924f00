import Foundation
import SteadFiles
import SwiftData
import Testing

@testable import SteadRecords

/// A program whose store was removed or moved away went on saving without an error, into a file that nobody could find; the
/// saves were gone when it ended.
struct MovedStoreTests {
  enum Fate: CaseIterable {
    case removed, fileRemoved, moved, directoryMoved, replaced

    /// Returns what moves the store back; nil if it is gone.
    func befall(_ store: TestStore) throws -> (() throws -> Void)? {
      let files = FileManager.default
      let paths = ["", "-wal", "-shm"].map { store.url.path + $0 }
      switch self {
      case .removed:
        for path in paths { try files.removeItem(atPath: path) }
        return nil
      case .fileRemoved:
        try files.removeItem(atPath: paths[0])
        return nil
      case .moved:
        for path in paths { try files.moveItem(atPath: path, toPath: path + ".away") }
        return { for path in paths { try files.moveItem(atPath: path + ".away", toPath: path) } }
      case .directoryMoved:
        let (here, away) = (store.directory.path, store.directory.path + ".away")
        try files.moveItem(atPath: here, toPath: away)
        return { try files.moveItem(atPath: away, toPath: here) }
      case .replaced:
        try files.moveItem(atPath: paths[0], toPath: paths[0] + ".away")
        try Data("another file".utf8).write(to: store.url)
        return {
          try files.removeItem(atPath: paths[0])
          try files.moveItem(atPath: paths[0] + ".away", toPath: paths[0])
        }
      }
    }
  }

  enum Write: CaseIterable {
    case save, delete

    func run(_ context: ModelContext) throws {
      switch self {
      case .save: try context.save()
      case .delete: try context.delete(model: Member.self)
      }
    }
  }

  @Test(arguments: Fate.allCases, Write.allCases)
  func `a store that is not at its path any more is not written`(fate: Fate, write: Write) throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let context = store.context()
    context.insert(Member(name: "Ann"))
    try context.save()
    let moveBack = try fate.befall(store)
    if write == .save { context.insert(Member(name: "Bob")) }
    let error = try #require(throws: SwiftDataError.self) { try write.run(context) }
    #expect(error.code == .unreadableStore, "\(error)")
    // A deletion reads first, and may find at the path that it cannot.
    if write == .save {
      #expect(error.message.contains(store.url.path), "\(error)")
      #expect(error.message.contains("move the file back, with"))
    }
    #expect(context.insertedModelsArray.count == (write == .save ? 1 : 0))
    guard let moveBack else { return }
    try moveBack()
    try write.run(context)
    #expect(try store.reopened().count(Member.self) == (write == .save ? 2 : 0))
  }

  /// What opens the store's file again.
  enum Opening: CaseIterable {
    case container, readOnlyContainer, reader, check, backup

    func run(_ store: TestStore) throws {
      switch self {
      case .container: #expect(try ModelContext(store.secondContainer()).count(Member.self) == 1)
      case .readOnlyContainer:
        let configuration = ModelConfiguration(url: store.url, allowsSave: false)
        _ = try ModelContainer(for: store.schema, configurations: configuration)
      case .reader:
        // The second one is new: the first one is lent.
        let records = store.container.stores[0]
        try records.read(.newest) { _, _ in try records.read(.newest) { _, _ in } }
      case .check: #expect(try store.container.check().isSound)
      case .backup:
        try store.container.backUp(to: store.directory.file("\(UUID().uuidString).store"))
      }
    }
  }

  /// The error said that the disk had failed.
  @Test(arguments: Opening.allCases)
  func `a log that was moved away is named, until it is back`(opening: Opening) throws {
    let store = try TestStore(.file, Club.self, Member.self, Skill.self)
    let context = store.context()
    context.insert(Member(name: "Ann"))
    try context.save()
    let log = store.url.path + "-wal"
    try FileManager.default.moveItem(atPath: log, toPath: log + ".away")
    let error = try #require(throws: SwiftDataError.self) { try opening.run(store) }
    #expect(error.code == .unreadableStore, "\(error)")
    #expect(error.message.contains("test.store-wal, was removed, moved away"), "\(error)")
    try? FileManager.default.removeItem(atPath: log)
    try FileManager.default.moveItem(atPath: log + ".away", toPath: log)
    try opening.run(store)
    context.insert(Member(name: "Bob"))
    try context.save()
    #expect(try store.reopened().count(Member.self) == 2)
  }

  /// One process showed two stores at one path, and nothing said so.
  @Test(.exitTests) func `an empty store at the path of one that is open is reported`() async {
    await #expect(processExitsWith: .success) {
      let received = Box<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.change { $0.append(problem) } }
      let store = try TestStore(.file, Club.self, Member.self, Skill.self)
      let context = store.context()
      context.insert(Member(name: "Ann"))
      try context.save()
      _ = try store.reopened()
      #expect(received.value.isEmpty)
      _ = try Fate.removed.befall(store)
      #expect(try store.reopened().count(Member.self) == 0)
      #expect(received.value.map(\.code) == [.storeDisplaced])
      context.insert(Member(name: "Bob"))
      #expect(throws: SwiftDataError.self) { try context.save() }
    }
  }
}
