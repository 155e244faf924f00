import Foundation
import SteadFiles
import SwiftData
import Testing

@testable import SteadRecords

/// A program whose store was removed or moved away went on saving without an error, into a file that nobody could find; the
/// saves were gone when it ended. Later, what it refused to commit had been written in part: the mark of the log, and large
/// values at the old place.
struct MovedStoreTests {
  enum Fate: CaseIterable {
    case removed, fileRemoved, moved, directoryMoved, replaced

    /// Returns what moves the store back; nil if it is gone.
    func befall(_ store: RecordsTestSupport.StoreFile) throws -> (() throws -> Void)? {
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
      // One statement, without a fetch before it, which may find at the path that it cannot read.
      case .delete: try context.delete(model: Unrelated.self)
      }
    }
  }

  /// What the container had done before its file was moved.
  enum Past: CaseIterable { case opened, saved }

  /// Every file in a store's directory, and in the one that it was moved to, except the index of the log, in which locks and readers are
  /// noted.
  static func files(of store: RecordsTestSupport.StoreFile) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for directory in [store.directory.path, store.directory.path + ".away"] {
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
      for name in names where !name.contains("-shm") {
        let path = directory + "/" + name
        found[path] = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
      }
    }
    return found
  }

  private func headline(_ title: String) -> Headline {
    let headline = Headline(title: title)
    headline.picture = Data(repeating: UInt8(title.utf8.count), count: 200_000)
    return headline
  }

  @Test(arguments: Fate.allCases, Write.allCases)
  func `a store that is not at its path any more is not written`(fate: Fate, write: Write) throws {
    for past in Past.allCases { try checkIsNotWritten(fate, write, past) }
  }

  private func checkIsNotWritten(_ fate: Fate, _ write: Write, _ past: Past) throws {
    let store = try RecordsTestSupport.StoreFile()
    func open() throws -> ModelContext {
      ModelContext(try store.open(Unrelated.self, Headline.self))
    }
    try {
      let context = try open()
      context.insertAll(Unrelated(number: 1), headline("old"))
      try context.save()
    }()
    let context = try open()
    if past == .saved {
      context.insert(Unrelated(number: 2))
      try context.save()
    }
    let moveBack = try fate.befall(store)
    if write == .save { context.insertAll(Unrelated(number: 3), headline("newer")) }
    let before = try Self.files(of: store)
    let error = try #require(throws: SwiftDataError.self) { try write.run(context) }
    #expect(error.code == .unreadableStore, "\(error)")
    #expect(error.message.contains(store.url.path), "\(error)")
    #expect(error.message.contains("move the file back, with"))
    #expect(context.insertedModelsArray.count == (write == .save ? 2 : 0))
    #expect(try Self.files(of: store) == before, "\(fate) \(past)")
    guard let moveBack else { return }
    try moveBack()
    try write.run(context)
    let again = try open()
    let count = past == .saved ? 2 : 1
    #expect(try again.count(Unrelated.self) == (write == .save ? count + 1 : 0))
    #expect(try again.container.check().problems.isEmpty)
  }

  /// The stores before the one that had moved were written, and again by each further save.
  @Test(arguments: [0, 1], [false, true])
  func `a save to several stores writes none if one of them is not at its path`(
    place: Int, isInTransaction: Bool
  ) throws {
    let files = try [RecordsTestSupport.StoreFile(), RecordsTestSupport.StoreFile()]
    let types: [any PersistentModel.Type] = [Unrelated.self, Headline.self]
    func open() throws -> ModelContext {
      let configurations = zip(files, types).map {
        ModelConfiguration("\($1)", schema: Schema([$1]), url: $0.url)
      }
      return ModelContext(try ModelContainer(for: Schema(types), configurations: configurations))
    }
    let context = try open()
    context.insertAll(Unrelated(number: 1), headline("old"))
    try context.save()
    var moveBack: (() throws -> Void)?
    func write() throws {
      context.insertAll(Unrelated(number: 2), headline("newer"))
      if moveBack == nil { moveBack = try Fate.moved.befall(files[place]) }
    }
    let first = #expect(throws: SwiftDataError.self) {
      if isInTransaction { return try context.transaction { try write() } }
      try write()
      try context.save()
    }
    #expect(
      first?.code == .unreadableStore && first?.message.contains("move the file back") == true)
    #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(throws: SwiftDataError.self) { try context.transaction {} }
    #expect(context.insertedModelsArray.count == 2)
    try moveBack?()
    try context.save()
    for context in [context, try open()] {
      #expect(try context.all(Unrelated.self).map(\.number).sorted() == [1, 2])
      #expect(try context.all(Headline.self).map(\.title).sorted() == ["newer", "old"])
    }
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
      case .check: #expect(try store.container.check().problems.isEmpty)
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

  /// A deployment switched `current` to the next release, and what was saved afterwards was found in the last one's directory.
  @Test(arguments: [
    "nowhere", "an empty directory", "a directory with another file", "the same directory",
  ])
  func `a store whose directory's link leads elsewhere is not written`(goal: String) throws {
    let store = try StoreFile()
    let files = FileManager.default
    let (first, link) = (
      store.directory.appending(path: "1"), store.directory.appending(path: "now")
    )
    try files.createDirectory(at: first, withIntermediateDirectories: false)
    try files.createSymbolicLink(atPath: link.path, withDestinationPath: "1")
    func open() throws -> ModelContext {
      let configuration = ModelConfiguration(url: link.appending(path: "test.store"))
      return ModelContext(
        try ModelContainer(
          for: Club.self, Member.self, Skill.self, configurations: configuration))
    }
    let context = try open()
    context.insert(Member(name: "Ann"))
    try context.save()
    let second = store.directory.appending(path: "2")
    switch goal {
    case "an empty directory":
      try files.createDirectory(at: second, withIntermediateDirectories: false)
    case "a directory with another file":
      try files.createDirectory(at: second, withIntermediateDirectories: false)
      try Data("another file".utf8).write(to: second.appending(path: "test.store"))
    case "the same directory":
      try files.createSymbolicLink(atPath: second.path, withDestinationPath: "1")
    default: break
    }
    try files.removeItem(at: link)
    try files.createSymbolicLink(atPath: link.path, withDestinationPath: "2")
    context.insert(Member(name: "Bob"))
    if goal != "the same directory" {
      let error = try #require(throws: SwiftDataError.self) { try context.save() }
      #expect(error.code == .unreadableStore, "\(error)")
      try files.removeItem(at: link)
      try files.createSymbolicLink(atPath: link.path, withDestinationPath: "1")
    }
    try context.save()
    #expect(try open().fetchCount(FetchDescriptor<Member>()) == 2)
  }

  /// Names of directories to which a link leads: one whose bytes aren't UTF-8, and two that Swift's strings take for one. In the
  /// first nothing could be saved, and with the others another directory's file was taken for the store's.
  @Test(
    arguments: [
      ([0x31, 0xE9], "now"), ([0xC3, 0xA9], "now"), (Array("e\u{301}".utf8), "\u{E9}"),
    ] as [([UInt8], String)])
  func `a store behind a link is written as long as the link leads to it`(
    name: [UInt8], link: String
  ) throws {
    let store = try StoreFile()
    let directory = store.directory.path
    let bytes = Array(directory.utf8) + [0x2F] + name
    let first = (bytes + [0]).map { CChar(bitPattern: $0) }
    let path = directory + "/" + link
    func makeLink(to target: [CChar]) throws {
      unlink(path)
      try #require(symlink(target, path) == 0)
    }
    try #require(mkdir(first, 0o700) == 0)
    try makeLink(to: first)
    let configuration = ModelConfiguration(url: URL(filePath: path + "/test.store"))
    let context = ModelContext(
      try ModelContainer(
        for: Club.self, Member.self, Skill.self, configurations: configuration))
    for name in ["Ann", "Bob"] {
      context.insert(Member(name: name))
      try context.save()
    }
    let second = (directory + "/other").utf8CString
    try #require(mkdir(Array(second), 0o700) == 0)
    try makeLink(to: Array(second))
    context.insert(Member(name: "Cleo"))
    #expect(throws: SwiftDataError.unreadableStore) { try context.save() }
    try makeLink(to: first)
    try context.save()
  }

  /// Other ways to write a path.
  enum Spelling: CaseIterable {
    case same, link, dots

    func url(_ store: RecordsTestSupport.StoreFile) throws -> URL {
      switch self {
      case .same: return store.url
      case .link:
        let link = store.directory.path + ".link"
        try FileManager.default.createSymbolicLink(
          atPath: link, withDestinationPath: store.directory.path)
        return URL(filePath: link + "/test.store")
      case .dots:
        return URL(
          filePath: store.directory.path + "/../" + store.directory.lastPathComponent
            + "/test.store")
      }
    }
  }

  /// One process showed two stores at one path, and nothing said so.
  @Test(.exitTests) func `an empty store at the path of one that is open is reported`() async {
    await #expect(processExitsWith: .success) {
      let received = Box<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.change { $0.append(problem) } }
      for spelling in Spelling.allCases {
        received.change { $0 = [] }
        let store = try RecordsTestSupport.StoreFile()
        let context = ModelContext(try store.open(Unrelated.self))
        context.insert(Unrelated(number: 1))
        try context.save()
        _ = try store.open(Unrelated.self)
        #expect(received.value.isEmpty)
        _ = try Fate.removed.befall(store)
        let configuration = ModelConfiguration(url: try spelling.url(store))
        let second = try ModelContainer(for: Unrelated.self, configurations: configuration)
        #expect(try ModelContext(second).count(Unrelated.self) == 0)
        #expect(received.value.map(\.code) == [.storeDisplaced], "\(spelling)")
        context.insert(Unrelated(number: 2))
        #expect(throws: SwiftDataError.self) { try context.save() }
      }
    }
  }
}
