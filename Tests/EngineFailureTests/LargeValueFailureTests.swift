import SteadSQLite

/// A picture in a file, on a wall.
@Model final class Poster {
  var number: Int
  @Attribute(.externalStorage) var picture: Data?
  var wall: Wall?

  init(number: Int, picture: Data? = nil) {
    self.number = number
    self.picture = picture
  }
}

@Model final class Wall {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Poster.wall) var posters: [Poster] = []
  init(name: String) { self.name = name }
}

@Suite("Large values that come back") struct LargeValueFailureTests {
  private static func picture(_ number: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: number), count: 150_000)
  }

  /// They stayed until the store was compacted, and took the space that the save had lacked.
  @Test(.needs(.smallDisk), arguments: [false, true])
  func `a save that is refused leaves no files of large values`(isInTransaction: Bool) throws {
    let disk = try SmallDisk(byteCount: 8 << 20)
    let url = disk.directory.file("test.store")
    let container = try ModelContainer(
      for: Poster.self, Wall.self, configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    let kept = Poster(number: 0, picture: Self.picture(0))
    context.insert(kept)
    try context.save()
    func files() throws -> [String] {
      let files = disk.directory.file(".test.store_external")
      return try FileManager.default.contentsOfDirectory(atPath: files.path).sorted()
    }
    let before = try files()
    #expect(before.count == 1)
    // The one that is stored, too, whose file must stay.
    for number in 0..<100 {
      context.insert(Poster(number: number, picture: Self.picture(number)))
    }
    #expect(throws: SwiftDataError.storageFull) {
      if isInTransaction {
        try context.transaction {}
      } else {
        try context.save()
      }
    }
    #expect(try files() == before)
    context.rollback()
    context.insert(Poster(number: 7, picture: Self.picture(7)))
    try context.save()
    #expect(try files().count == 2)
    #expect(kept.picture == Self.picture(0))
    let stored = try ModelContext(container).fetch(FetchDescriptor<Poster>())
    #expect(stored.allSatisfy { $0.picture == Self.picture($0.number) } && stored.count == 2)
  }

  /// How a large value leaves its row.
  enum Leaving: CaseIterable { case isCleared, isReplaced, objectIsDeleted, isDeletedWithItsWall }

  private func undoing(_ context: ModelContext) -> UndoManager {
    let manager = UndoManager()
    context.undoManager = manager
    return manager
  }

  /// The save removed the file, and the undo gave the row its name again: 0 bytes and a line in the log.
  @Test(arguments: Leaving.allCases, [false, true])
  func `undo after a save brings a large value back`(_ way: Leaving, wasRead: Bool) throws {
    let store = try TestStore(Poster.self, Wall.self)
    let writer = store.context()
    let wall = Wall(name: "w")
    writer.insert(wall)
    wall.posters = [Poster(number: 1, picture: Self.picture(1))]
    try writer.save()

    let context = store.context()
    let poster = try context.only(Poster.self)
    if wasRead { #expect(poster.picture == Self.picture(1)) }
    let manager = undoing(context)
    switch way {
    case .isCleared: poster.picture = nil
    case .isReplaced: poster.picture = Self.picture(2)
    case .objectIsDeleted: context.delete(poster)
    case .isDeletedWithItsWall: context.delete(try context.only(Wall.self))
    }
    try context.save()
    context.processPendingChanges()
    manager.undo()
    #expect(poster.picture == Self.picture(1))
    try context.save()
    #expect(try store.reopened().only(Poster.self).picture == Self.picture(1))
    manager.redo()
    try context.save()
    manager.undo()
    try context.save()
    #expect(try store.reopened().only(Poster.self).picture == Self.picture(1))
    #expect(try store.container.check().problems.isEmpty)
  }

  /// A context that had not seen the commit read 0 bytes.
  @Test func `an object of another context keeps its large value until it is read again`() throws {
    let store = try TestStore(Poster.self, Wall.self)
    let (writer, reader) = (store.context(), store.context())
    let poster = Poster(number: 1, picture: Self.picture(1))
    writer.insert(poster)
    try writer.save()
    let held = try reader.only(Poster.self)
    poster.picture = nil
    try writer.save()
    #expect(held.picture == Self.picture(1))
    reader.processPendingChanges()
    #expect(held.picture == nil)
  }

  /// A deleted object led to no file any more. It came back without its value, also in another store.
  @Test func `a deleted object can be inserted again with its large value`() throws {
    let (store, second) = (
      try TestStore(Poster.self, Wall.self), try TestStore(.memory, Poster.self, Wall.self)
    )
    let writer = store.context()
    writer.insert(Poster(number: 1, picture: Self.picture(1)))
    try writer.save()
    for target in [store, second] {
      let context = store.context()
      let poster = try context.only(Poster.self)
      context.delete(poster)
      try context.save()
      let other = target.context()
      other.insert(poster)
      try other.save()
      #expect(try target.reopened().only(Poster.self).picture == Self.picture(1))
    }
  }

  /// A save within the block of a transaction removed the file before the transaction was committed.
  @Test func `a file stays until the transaction is committed`() throws {
    let store = try TestStore(Poster.self, Wall.self)
    let (writer, other) = (store.context(), store.context())
    writer.insert(Poster(number: 1, picture: Self.picture(1)))
    try writer.save()
    try writer.transaction {
      other.delete(try other.only(Poster.self))
      try other.save()
      #expect(try files(of: store) == 1)
    }
    #expect(try files(of: store) == 0)
  }

  /// Old rows keep their files.
  @Test func `a store as of an earlier commit has the large value of then`() throws {
    let file = try StoreFile()
    let container = try ModelContainer(
      for: Poster.self, Wall.self,
      configurations: ModelConfiguration(url: file.url, history: .withOldValues))
    let context = ModelContext(container)
    let poster = Poster(number: 1, picture: Self.picture(1))
    context.insert(poster)
    try context.save()
    let token = try #require(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    ).token
    poster.picture = Self.picture(2)
    try context.save()
    context.delete(poster)
    try context.save()
    let then = ModelContext(try container.asOf(token))
    #expect(try then.only(Poster.self).picture == Self.picture(1))
  }

  /// Nothing may stay behind: neither what an undo could have brought back, nor more files than are kept open.
  @Test func `files go when nothing leads to them`() throws {
    let store = try TestStore(Poster.self, Wall.self)
    let writer = store.context()
    let count = 70
    for number in 0..<count { writer.insert(Poster(number: number, picture: Self.picture(number))) }
    try writer.save()
    let context = store.context()
    var posters = try context.all(Poster.self)
    #expect(try files(of: store) == count)
    let manager = undoing(context)
    for poster in posters { context.delete(poster) }
    try context.save()
    #expect(try files(of: store) < 10)
    #expect(posters.allSatisfy { $0.picture == Self.picture($0.number) })
    manager.removeAllActions()
    posters = []
    context.insert(Wall(name: "w"))
    try context.save()
    #expect(try files(of: store) == 0)
  }

  /// Another process removes a file when its last row goes, whatever objects of this process lead to it. These read 0
  /// bytes, which nobody had saved.
  @Test(
    arguments: ["NULL", "x'0102'", "(SELECT picture FROM Poster WHERE number = 2)"], [false, true])
  func `a value that another process has dropped reads as the newest one`(
    new: String, wasSaved: Bool
  ) throws {
    let store = try TestStore(Poster.self, Wall.self)
    let writer = store.context()
    for number in 1...2 {
      writer.insert(Poster(number: number, picture: Self.picture(number)))
    }
    try writer.save()
    let context = store.context()
    let poster = try context.only(Poster.self, where: #Predicate { $0.number == 1 })
    if wasSaved {
      poster.wall = Wall(name: "w")
      try context.save()
    }
    let directory = store.directory.appending(path: ".test.store_external")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.filePath)
    let other = try connection(to: store)
    let old = try other.rows("SELECT picture FROM Poster WHERE number = 1", [])
    guard case .text(let name)? = old.first?.first else {
      Issue.record("The value has no file.")
      return
    }
    _ = try other.rows("UPDATE Poster SET picture = \(new) WHERE number = 1", [])
    let file = try #require(names.first { name.hasPrefix($0) })
    try FileManager.default.removeItem(at: directory.appending(path: file))
    let expected = new == "NULL" ? nil : new.hasPrefix("x") ? Data([1, 2]) : Self.picture(2)
    #expect(poster.picture == expected)
    context.processPendingChanges()
    #expect(poster.picture == expected)
  }

  enum Return: CaseIterable { case undo, otherStore }

  /// A name that is no digest made the save say that the file could not be written, and to save again.
  @Test(
    arguments: ["", "/etc/passwd", "../x", String(repeating: "A", count: 64), nil],
    Return.allCases)
  func `a large value whose file is not there cannot come back`(name: String?, way: Return) throws {
    let store = try TestStore(Poster.self, Wall.self)
    let writer = store.context()
    writer.insert(Poster(number: 1, picture: Self.picture(1)))
    try writer.save()
    let missing = String(repeating: "0", count: 64)
    try connection(to: store).run("UPDATE Poster SET picture = ?1", [.text(name ?? missing)])
    let target = way == .undo ? store : try TestStore(Poster.self, Wall.self)
    let (context, other) = (store.context(), target.context())
    let manager = undoing(context)
    let poster = try context.only(Poster.self)
    context.delete(poster)
    try context.save()
    context.processPendingChanges()
    let last = way == .undo ? context : other
    if way == .undo { manager.undo() } else { last.insert(poster) }
    let error = try #require(throws: SwiftDataError.self) { try last.save() }
    #expect(error.code == .modelValidationFailure, "\(error)")
    #expect(error.message.contains("Poster.picture") && error.message.contains("again."))
    #expect(error.message.contains(name == nil ? "is gone" : "something else than the name"))
    // What the message says.
    poster.picture = Self.picture(2)
    try last.save()
    #expect(try target.reopened().only(Poster.self).picture == Self.picture(2))
  }

  /// The file stays, since another row has the same value.
  @Test func `a large value whose file is damaged cannot come into another store`() throws {
    let (store, target) = (
      try TestStore(Poster.self, Wall.self), try TestStore(Poster.self, Wall.self)
    )
    let writer = store.context()
    for number in 1...2 { writer.insert(Poster(number: number, picture: Self.picture(1))) }
    try writer.save()
    let directory = store.directory.appending(path: ".test.store_external")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.filePath)
    #expect(names.count == 1)
    try Data("other".utf8).write(to: directory.appending(path: names[0]))
    let (context, other) = (store.context(), target.context())
    let poster = try context.only(Poster.self, where: #Predicate { $0.number == 1 })
    context.delete(poster)
    try context.save()
    other.insert(poster)
    let error = try #require(throws: SwiftDataError.self) { try other.save() }
    #expect(error.code == .modelValidationFailure, "\(error)")
    #expect(error.message.contains("Its file is damaged"), "\(error)")
  }

  /// Random changes, saves, undos and compactions, against the values that the stack had.
  @Test func `random undos bring every value back`() async throws {
    for seed in 0..<UInt64(Effort.times(6)) {
      try PictureTrial(seed: seed, picture: Self.picture).run()
      await Task.yield()
    }
  }

  /// The store as another program has it open.
  private func connection(to store: TestStore) throws -> SQLiteConnection {
    var options = SQLiteOptions(.file(store.url.path))
    options.isWritable = true
    options.trustsSchema = true
    return try SQLiteConnection(options)
  }

  private func files(of store: TestStore) throws -> Int {
    let directory = store.directory.appending(path: ".test.store_external")
    return try FileManager.default.contentsOfDirectory(atPath: directory.filePath).count
  }
}

/// A sequence of groups that change pictures, saved and undone at random.
private final class PictureTrial {
  private typealias View = [Int: Int?]

  private let seed: UInt64
  private let picture: (Int) -> Data
  private let store: TestStore
  private let context: ModelContext
  private let reader: ModelContext
  private let manager = UndoManager()
  private var random: SplitMix
  /// The number of each poster's picture.
  private var view: View = [:]
  private var undos: [(before: View, after: View)] = []
  private var redos: [(before: View, after: View)] = []

  init(seed: UInt64, picture: @escaping (Int) -> Data) throws {
    self.seed = seed
    self.picture = picture
    random = SplitMix(seed: seed)
    store = try TestStore(Poster.self, Wall.self)
    let writer = store.context()
    for number in 0..<3 {
      writer.insert(Poster(number: number, picture: picture(number)))
      view[number] = number
    }
    try writer.save()
    (context, reader) = (store.context(), store.context())
    manager.groupsByEvent = false
    context.undoManager = manager
  }

  func run() throws {
    for step in 0..<30 {
      let place: Comment = "seed \(seed), step \(step)"
      let held = try reader.all(Poster.self)
      let seen = view(of: held)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4: try change()
      case 4..<6:
        try context.save()
        // Not read again: what it has is of its last fetch.
        #expect(view(of: held) == seen, place)
        #expect(view(of: try store.reopened().all(Poster.self)) == view, place)
      case 6, 7: undo()
      case 8: redo()
      default: _ = try store.container.compact()
      }
      #expect(view(of: try context.all(Poster.self)) == view, place)
    }
    try context.save()
    #expect(view(of: try store.reopened().all(Poster.self)) == view, "seed \(seed)")
    #expect(try store.container.check().problems.isEmpty, "seed \(seed)")
  }

  private func change() throws {
    let before = view
    let posters = try context.all(Poster.self).sorted { $0.number < $1.number }
    manager.beginUndoGrouping()
    let new = Int.random(in: 0..<5, using: &random)
    switch (Int.random(in: 0..<5, using: &random), posters.randomElement(using: &random)) {
    case (0, let poster?):
      context.delete(poster)
      view[poster.number] = nil
    case (1, let poster?):
      poster.picture = nil
      view[poster.number] = .some(nil)
    case (2, let poster?):
      // The value is one of the row again, not one in memory.
      if !context.hasChanges { context.refresh(poster) }
      poster.picture = picture(new)
      view[poster.number] = new
    case (3, let poster?):
      poster.picture = picture(new)
      view[poster.number] = new
    default:
      let number = (undos + redos).flatMap { [$0.before, $0.after] }.flatMap(\.keys).max() ?? 3
      let next = max(number, view.keys.max() ?? 0) + 1
      context.insert(Poster(number: next, picture: picture(new)))
      view[next] = new
    }
    manager.endUndoGrouping()
    undos.append((before, view))
    redos = []
  }

  private func undo() {
    manager.undo()
    guard let step = undos.popLast() else { return }
    redos.append(step)
    view = step.before
  }

  private func redo() {
    manager.redo()
    guard let step = redos.popLast() else { return }
    undos.append(step)
    view = step.after
  }

  private func view(of posters: [Poster]) -> View {
    Dictionary(
      uniqueKeysWithValues: posters.map { poster in
        (poster.number, poster.picture.map { data in (0..<5).first { picture($0) == data } ?? -1 })
      })
  }
}
