import Foundation
import SteadTestSupport
import SwiftData
import Testing

enum Shelf1: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Shelf.self] }

  struct Size: Codable {
    var width = 1
    var note = "note"
  }

  @Model final class Shelf {
    var title: String
    var size = Size()
    var place = 1
    init(_ title: String) { self.title = title }
  }
}

enum Shelf2: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Shelf.self] }

  struct Size: Codable {
    var width = 1
    var id = UUID()
  }

  @Model final class Shelf {
    var body = ""
    var size = Size()
    var place = 1.0
    var code: UUID = UUID()
    init() {}
  }
}

/// The file was written whole, as this program's models have it. So a version that had renamed a property, or removed a field,
/// destroyed the old values of all objects when it opened the file, or saved one object. The classes were those of the
/// schema that was made last, not the container's.
@Suite("A JSON file that two versions of an app share") struct JSONStoreVersionTests {
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("shelves.json") }

  init() throws { directory = try TemporaryDirectory() }

  private func container(_ version: any VersionedSchema.Type) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version),
      configurations: [JSONStoreConfiguration(url: url)] as [any DataStoreConfiguration])
  }

  private func text() throws -> String {
    String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }

  /// As another program's save, which changes nothing that counts.
  private func touch() throws { try Data((text() + "\n").utf8).write(to: url) }

  /// Shelves of the first version, with more than it knows of.
  private func write() throws {
    let context = ModelContext(try container(Shelf1.self))
    for number in 0..<4 {
      let shelf = Shelf1.Shelf("title \(number)")
      shelf.size = Shelf1.Size(width: number, note: "note \(number)")
      context.insert(shelf)
    }
    try context.save()
    let later = #""later" : {"list":[1.50,12345678901234567890123,null,"é"]}, "title" :"#
    try Data(text().replacing(#""title" :"#, with: later).utf8).write(to: url)
    try #require(text().contains("12345678901234567890123"))
  }

  private func expectKept(_ titles: [String] = (0..<4).map { "title \($0)" }) throws {
    let context = ModelContext(try container(Shelf1.self))
    let shelves = try context.fetch(FetchDescriptor<Shelf1.Shelf>(sortBy: [.init(\.title)]))
    #expect(shelves.map(\.title) == titles)
    for shelf in shelves {
      let number = String(shelf.title.suffix(1))
      #expect(shelf.size.note == "note \(number)" && "\(shelf.size.width)" == number)
    }
    let file = try text()
    #expect(file.ranges(of: "12345678901234567890123").count == titles.count)
    #expect(file.ranges(of: "\"é\"").count == titles.count)
  }

  // MARK: What the models do not take

  enum Use: CaseIterable { case open, fetch, fetchTwice, insert, deleteNew }
  enum Form: CaseIterable { case text, mark, utf16 }

  @Test(arguments: Use.allCases, Form.allCases)
  func `what no property takes stays in the file, in objects that are not saved`(
    use: Use, form: Form
  ) throws {
    try write()
    switch form {
    case .text: break
    case .mark: try Data([0xEF, 0xBB, 0xBF] + text().utf8).write(to: url)
    case .utf16: try #require(text().data(using: .utf16)).write(to: url)
    }
    let container = try container(Shelf2.self)
    let context = ModelContext(container)
    switch use {
    case .open: break
    case .fetch: _ = try context.fetch(FetchDescriptor<Shelf2.Shelf>())
    case .fetchTwice:
      let codes = try context.fetch(FetchDescriptor<Shelf2.Shelf>()).map(\.code)
      try touch()
      let again = try ModelContext(self.container(Shelf2.self)).fetch(
        FetchDescriptor<Shelf2.Shelf>())
      #expect(Set(codes).count == 4 && Set(again.map(\.code)) == Set(codes))
    case .insert, .deleteNew:
      let shelf = Shelf2.Shelf()
      context.insert(shelf)
      try context.save()
      context.delete(shelf)
      if use == .deleteNew { try context.save() }
    }
    if use == .insert {
      // Which the first version cannot read.
      #expect(try text().ranges(of: "\"title\"").count == 4)
    } else {
      try expectKept()
    }
  }

  @Test func `a saved object has what its model takes, and the others all that they had`() throws {
    try write()
    let context = ModelContext(try container(Shelf2.self))
    let shelf = try #require(
      try context.fetch(FetchDescriptor<Shelf2.Shelf>()).first { $0.size.width == 2 })
    shelf.body = "two"
    try context.save()
    #expect(try !text().contains("title 2"))
    for number in [0, 1, 3] { #expect(try text().contains("title \(number)")) }
    context.delete(shelf)
    try context.save()
    try expectKept(["title 0", "title 1", "title 3"])
  }

  // MARK: The classes

  @Test(arguments: [false, true])
  func `a container reads and writes by its own schema's classes, whichever was made last`(
    opensOther: Bool
  ) throws {
    try write()
    let first = try container(Shelf1.self)
    if opensOther {
      _ = try container(Shelf2.self)
    } else {
      _ = Schema(versionedSchema: Shelf2.self)
    }
    for _ in 0..<3 {
      try touch()
      let context = ModelContext(first)
      let shelves = try context.fetch(FetchDescriptor<Shelf1.Shelf>(sortBy: [.init(\.title)]))
      #expect(shelves.map(\.title) == (0..<4).map { "title \($0)" })
      #expect(shelves.map(\.size.note) == (0..<4).map { "note \($0)" })
      #expect(try text().contains("\"code\"") == opensOther)
      shelves[0].place += 1
      try context.save()
      _ = Schema(versionedSchema: Shelf2.self)
    }
  }

  // MARK: A disk that cannot be written

  /// Occupies all names that a new version of the file may have before it takes the file's own.
  private func blockWrites() throws -> [URL] {
    try (0..<1_000).map { number in
      let place = directory.file(".shelves.json.stead-\(number)")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
      return place
    }
  }

  @Test func `values that cannot be written are made once, and written when the file has changed`()
    throws
  {
    try write()
    let blocks = try blockWrites()
    let container = try container(Shelf2.self)
    func codes() throws -> Set<UUID> {
      Set(try ModelContext(container).fetch(FetchDescriptor<Shelf2.Shelf>()).map(\.code))
    }
    let first = try codes()
    #expect(try first.count == 4 && codes() == first)
    for block in blocks { try FileManager.default.removeItem(at: block) }
    // The content that could not be completed is not tried at each fetch.
    #expect(try codes() == first && !text().contains("\"code\""))
    try touch()
    #expect(try codes().count == 4 && text().contains("\"code\""))
    let last = try codes()
    let again = ModelContext(try self.container(Shelf2.self))
    #expect(try Set(again.fetch(FetchDescriptor<Shelf2.Shelf>()).map(\.code)) == last)
  }
}
