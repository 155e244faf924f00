import Foundation
import SteadRecords
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadTransfer

@Suite struct RecordGraphTests {
  let directory: TemporaryDirectory
  let old: ModelContainer
  let new: ModelContainer

  init() throws {
    directory = try TemporaryDirectory()
    old = try .library(at: directory.file("old.store"))
    new = try .library(at: directory.file("new.store"))
  }

  private func transfer(
    _ options: TransferOptions = .init(), of models: [any PersistentModel.Type] = [],
    graph: StoreDestination.Options = .init()
  ) -> Transfer<StoredRow, StoredRow> {
    Transfer(
      "library", from: .store(old, of: models),
      to: TransferDestination(StoreDestination(new, options: graph)), options: options)
  }

  @Test func `moves every row and relationship once`() throws {
    try old.fillLibrary()
    let before = try old.describeLibrary()
    let report = try transfer().run()
    #expect(report.moved == 11 && report.removed == 11 && report.failures.isEmpty)
    #expect(try new.describeLibrary() == before)
    #expect(
      before.contains("shelf low assets [\"d\", \"a\", \"e\"] owners [\"r\", \"p\"] favourites []"))
    #expect(try old.describeLibrary().isEmpty)
    let url = directory.file("new.store")
    #expect(try sqlite(url, "SELECT count(*) FROM Asset_related") == "3")
    #expect(try sqlite(url, "SELECT count(*) FROM Person_shelves") == "5")
    #expect(try sqlite(url, "SELECT count(*) FROM Shelf_favourites") == "2")
    #expect(try sqlite(directory.file("old.store"), "SELECT count(*) FROM Person_shelves") == "0")
    #expect(try transfer().run().moved == 0)
    #expect(try new.describeLibrary() == before)
  }

  /// Objects that kept their place in a list that was reordered came last, since only the others had one.
  @Test func `keeps the order of lists that were reordered in part`() throws {
    try old.fillLibrary()
    let context = ModelContext(old)
    let shelf = try #require(
      try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.name == "high" })).first)
    shelf.assets.append(Asset(title: "f"))
    try context.save()
    shelf.assets.swapAt(0, 2)
    shelf.owners.swapAt(0, 2)
    try context.save()
    let before = try old.describeLibrary()
    #expect(before.contains { $0.hasPrefix("shelf high assets [\"f\", \"c\", \"b\"]") })
    _ = try transfer().run()
    #expect(try new.describeLibrary() == before)
  }

  /// A source may tell a relationship from one side alone, whichever that is.
  @Test(arguments: [true, false]) func `takes a relationship from one side`(isFirst: Bool) throws {
    try old.fillLibrary()
    let before = try old.describeLibrary()
    let sides = [
      ("Asset", "shelf", "assets"), ("Still", "cover", "still"), ("Person", "shelves", "owners"),
    ]
    let transfer = Transfer("library", from: .store(old), to: .store(new)) { row in
      var row = row
      for (_, one, other) in sides { row.forget(isFirst ? one : other) }
      return row
    }
    try transfer.run()
    // Each side's order is told by that side alone.
    func unordered(_ lines: [String]) -> [String] { lines.map { String($0.sorted()) }.sorted() }
    #expect(try unordered(new.describeLibrary()) == unordered(before))
  }

  @Test func `keeps every kind of value`() throws {
    let context = ModelContext(old)
    let full = Sample(name: "full")
    full.flag = true
    full.small = -128
    full.number = .min
    full.large = .max
    full.real = .nan
    full.short = 0.1
    full.day = Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)
    full.price = Decimal(string: "-12345678901234567890.123456789") ?? 0
    full.link = URL(string: "https://example.org/a%20b?c=d#e")
    full.token = UUID()
    full.bytes = Data([0, 255, 0])
    full.image = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    full.mood = .bright
    full.otherMood = .bright
    full.size = NoteSize(width: 1.25, height: -3)
    full.words = ["a \"quoted\" one", "\u{0}", "é"]
    full.counts = ["b": 2, "a": 1]
    full.opaque = [3, 1]
    full.point = NotePoint(x: 9, y: 8)
    context.insert(full)
    context.insert(Sample(name: "plain"))
    try context.save()
    let columns =
      "name, flag, small, number, large, typeof(large), real, short, hex(day), price, link, hex(token), "
      + "hex(bytes), image, mood, otherMood, size, words, counts, opaque, hex(point)"
    let dump = "SELECT \(columns) FROM Sample ORDER BY name"
    let before = try sqlite(directory.file("old.store"), dump)
    try transfer().run()
    #expect(try sqlite(directory.file("new.store"), dump) == before)
    let moved = try new.all(Sample.self).first { $0.name == "full" }
    let sample = try #require(moved)
    #expect(sample.image == Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) }))
    #expect(sample.large == .max && sample.real.isNaN && sample.point == NotePoint(x: 9, y: 8))
    let files = directory.file(".old.store_external").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: files).isEmpty)
  }

  /// Values that would come out as others; the store's own programs cannot write them.
  @Test(arguments: [
    "small = 200", "flag = 2", "day = 'tomorrow'", "price = 'much'", "token = x'01'",
    "mood = 'sad'", "size = '{\"width\": 1}'", "words = '[1]'", "bytes = 'text'", "link = 'a b:%'",
    "size = '{\"width\": 1, \"height\": 2, \"depth\": 3}'", "point = x'010203'", "short = 1e300",
    "name = NULL", "number = 1.5",
  ]) func `refuses a value that the model cannot hold`(assignment: String) throws {
    let context = ModelContext(old)
    context.insert(Sample(name: "good"))
    context.insert(Sample(name: "bad"))
    try context.save()
    try sqlite(directory.file("old.store"), "UPDATE Sample SET \(assignment) WHERE name = 'bad'")
    let error = #expect(throws: TransferError.self) { try transfer().run() }
    #expect(error?.code == .notConverted && error?.failures.count == 1)
    let property = try #require(assignment.split(separator: " ").first)
    #expect(error?.failures.first?.reason.contains("\(property) ") == true)
    #expect(try new.count(Sample.self) == 0)
    let report = try transfer(.init(acceptsPartial: true)).run()
    #expect(report.moved == 1 && report.failures.count == 1 && report.left == 1)
    #expect(try new.all(Sample.self).map(\.name) == ["good"])
  }

  @Test func `takes the forms of other stores`() throws {
    let token = UUID()
    let row = StoredRow.sample([
      "name": .text("one"), "flag": .integer(1), "number": .real(7), "real": .integer(3),
      "price": .real(12.5), "token": .text(token.uuidString),
      "large": .text("18446744073709551615"),
      "size": .blob(Data("{\"height\": 2.5, \"width\": 1e0}".utf8)),
      "link": .text("https://a.b/c d"),
    ])
    let destination = StoreDestination(new)
    try destination.check(row)
    _ = try move([row], to: destination)
    let sample = try #require(try new.all(Sample.self).first)
    #expect(sample.number == 7 && sample.real == 3 && sample.price == 12.5 && sample.token == token)
    #expect(sample.large == .max && sample.size == NoteSize(width: 1, height: 2.5))
    #expect(sample.link?.absoluteString == "https://a.b/c%20d")
    let url = directory.file("new.store")
    #expect(try sqlite(url, "SELECT size FROM Sample") == "{\"height\":2.5,\"width\":1}")
    #expect(try sqlite(url, "SELECT typeof(number), typeof(real) FROM Sample") == "integer|real")
  }

  @Test func `refuses what the model has not`() throws {
    let row = StoredRow.sample(["name": .text("one"), "colour": .text("red")])
    let error = #expect(throws: TransferError.self) {
      try StoreDestination(new).check(row)
    }
    #expect(error?.message.contains("colour") == true && error?.message.contains("red") == false)
    try StoreDestination(new).check(
      .sample(["name": .text("one"), "colour": .null]))
    var options = StoreDestination.Options()
    options.dropsUnknownProperties = true
    try StoreDestination(new, options: options).check(row)
    _ = try move([row], to: StoreDestination(new, options: options))
    #expect(try new.count(Sample.self) == 1)
    #expect(throws: TransferError.self) {
      try move([row], to: StoreDestination(new), id: "b")
    }
    #expect(try new.count(Sample.self) == 1)
  }

  @Test func `refuses a unique value that is there`() throws {
    let context = ModelContext(new)
    let there = Sample(name: "one")
    there.number = 5
    context.insert(there)
    try context.save()
    let rows = ["two", "one"].enumerated().map {
      StoredRow.sample(["name": .text($1)], number: Int64($0))
    }
    let error = #expect(throws: TransferError.self) {
      try move(rows, to: StoreDestination(new))
    }
    #expect(error?.code == .conflict && error?.failures.map(\.item) == ["Sample 1"])
    #expect(try new.all(Sample.self).map(\.number) == [5])
  }

  @Test func `follows relationships to rows that earlier runs moved`() throws {
    try old.fillLibrary()
    let before = try old.describeLibrary()
    var graph = StoreDestination.Options()
    #expect(throws: TransferError.self) { try transfer(of: [Shelf.self]).run() }
    #expect(try new.describeLibrary().isEmpty)
    graph.dropsMissingDestinations = true
    let keeping = TransferOptions(keepsSource: true)
    #expect(try transfer(keeping, of: [Shelf.self], graph: graph).run().moved == 2)
    #expect(try new.all(Shelf.self).flatMap(\.assets).isEmpty)
    #expect(try transfer(keeping, graph: graph).run().moved == 9)
    #expect(try transfer(keeping, graph: graph).run().moved == 0)
    func withoutShelves(_ lines: [String]) -> [String] {
      lines.filter { !$0.hasPrefix("shelf") && !$0.hasPrefix("person") }
    }
    #expect(try withoutShelves(new.describeLibrary()) == withoutShelves(before))
    #expect(
      try Set(new.all(Shelf.self).first { $0.name == "low" }?.assets.map(\.title) ?? [])
        == ["d", "a", "e"])
    #expect(try sqlite(directory.file("new.store"), "SELECT count(*) FROM Person_shelves") == "5")
  }

  @Test func `removes nothing that a row that stays leads to`() throws {
    try old.fillLibrary()
    let before = try old.describeLibrary()
    var graph = StoreDestination.Options()
    graph.dropsMissingDestinations = true
    let error = #expect(throws: TransferError.self) {
      try transfer(of: [Shelf.self], graph: graph).run()
    }
    #expect(error?.code == .conflict && error?.failures.isEmpty == false)
    #expect(try old.describeLibrary() == before)
  }

  @Test func `leaves a row that was edited since it was moved`() throws {
    let context = ModelContext(old)
    ["a", "b", "c"].forEach { context.insert(Person($0)) }
    try context.save()
    let source = StoreSource(old)
    let entries = try source.read { _ in }.map {
      TransferReceipt.Entry(identity: $0.identity, placement: .init(location: "", digest: ""))
    }
    try sqlite(directory.file("old.store"), "UPDATE Person SET name = 'B' WHERE name = 'b'")
    #expect(try source.remove(entries) == 2)
    #expect(try old.all(Person.self).map(\.name) == ["B"])
    #expect(try source.remove(entries) == 0)
    // A number that was given out once is another row's never.
    try sqlite(directory.file("old.store"), "DELETE FROM Person")
    let fresh = ModelContext(old)
    fresh.insert(Person("d"))
    try fresh.save()
    #expect(try sqlite(directory.file("old.store"), "SELECT _id FROM Person") == "4")
  }

  @Test func `reads what is committed and keeps its names`() throws {
    try old.fillLibrary()
    let items = try StoreSource(old, of: [Clip.self, Person.self]).read { _ in }
    #expect(items.map(\.name) == ["Clip 1", "Clip 4", "Person 1", "Person 2", "Person 3"])
    #expect(Set(items.map(\.identity)).count == 5)
    #expect(
      try StoreSource(old, of: [Clip.self, Person.self]).read { _ in }.map(\.identity)
        == items.map(\.identity))
    #expect(try StoreSource(old, of: [Asset.self]).read { _ in }.count == 5)
  }

  @Test func `tells of rows of a class that the container has not`() throws {
    try old.fillLibrary()
    try sqlite(directory.file("old.store"), "UPDATE Asset SET _entity = 99 WHERE title = 'c'")
    let items = try StoreSource(old).read { _ in }
    #expect(items.count == 11)
    #expect(items.filter { (try? $0.value.get()) == nil }.map(\.name) == ["Asset 3"])
  }

  /// The rows are inserted when the third count begins, and the transaction is still open.
  @Test func `stops when it is cancelled and writes nothing`() throws {
    try old.fillLibrary()
    var beginnings = 0
    #expect(throws: CancellationError.self) {
      try transfer().run {
        guard $0.phase == .writing, $0.completed == 0 else { return }
        beginnings += 1
        if beginnings == 3 { throw CancellationError() }
      }
    }
    #expect(beginnings == 3)
    #expect(try new.describeLibrary().isEmpty)
    let moved = try transfer().run()
    #expect(try new.describeLibrary().count == 11)
    #expect(moved.moved == 11)
  }
}

extension StoredRow {
  static func sample(_ attributes: [String: SQLValue], number: Int64 = 1) -> StoredRow {
    StoredRow(
      key: .init(root: "Sample", number: number), entity: "Sample", attributes: attributes,
      relationships: [:])
  }

  mutating func forget(_ relationship: String) {
    relationships[relationship] = nil
  }
}
