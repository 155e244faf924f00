import Foundation
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// A renaming identifier decides which values a property gets, and a name only where nothing else claims it.
///
/// The old property of the same name was looked for first, and the renaming identifier counted only for a name that was
/// new. Two properties that swapped names kept their own values, `@Attribute(originalName: "name") var fullName` beside a
/// new `name` stayed empty while the new one got the old full name, and a property that took another's name dropped its
/// values.
@Suite struct RenamingMigrationTests {
  private let directory: TemporaryDirectory
  private let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("cards.store")
  }

  @discardableResult
  private func open(
    _ models: [any PersistentModel.Type], _ plan: (any SchemaMigrationPlan.Type)? = nil,
    version: Schema.Version = Schema.Version(1, 0, 0)
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(models, version: version), migrationPlan: plan,
      configurations: ModelConfiguration(url: url))
  }

  private func fill() throws {
    let context = ModelContext(try open(Cards1.models))
    let cities = ["Rome", "Oslo", "Bern"].map { Cards1.City($0) }
    for number in 0..<3 {
      let card = Cards1.Card("name \(number)")
      context.insert(card)
      (card.front, card.back) = ("front \(number)", "back \(number)")
      (card.from, card.to) = (cities[0], cities[1])
      (card.stops, card.sights) = ([cities[2], cities[0]], [cities[1]])
      context.insert(Cards1.Book("book \(number)"))
    }
    context.insert(Cards1.Journal("journal"))
    try context.save()
  }

  private func checkSwapped(_ container: ModelContainer, front: String = "", back: String = "")
    throws
  {
    let context = ModelContext(container)
    let cards = try context.fetch(
      FetchDescriptor<Cards2.Card>(sortBy: [SortDescriptor(\.fullName)]))
    #expect(cards.map(\.front) == (0..<3).map { "back \($0)" })
    #expect(cards.map(\.back) == (0..<3).map { "front \($0)\(front)\(back)" })
    #expect(cards.map(\.fullName) == (0..<3).map { "name \($0)" })
    #expect(cards.map(\.name) == ["short", "short", "short"])
    #expect(cards.allSatisfy { $0.from?.name == "Oslo" && $0.to?.name == "Rome" })
    #expect(cards.allSatisfy { $0.stops.map(\.name) == ["Oslo"] })
    #expect(cards.allSatisfy { $0.sights.map(\.name) == ["Bern", "Rome"] })
    #expect(try context.fetch(FetchDescriptor<Cards2.Book>()).map(\.title) == ["journal"])
    let journals = try context.fetch(
      FetchDescriptor<Cards2.Journal>(sortBy: [SortDescriptor(\.title)]))
    #expect(journals.map(\.title) == ["book 0", "book 1", "book 2"])
    #expect(try container.check().problems.isEmpty)
  }

  /// SQLite misses no column where two have each other's names: a program that had the store open read the other
  /// property's values.
  @Test func `models from before a swap read no values of the other name`() throws {
    try fill()
    let old = try open(Cards1.models)
    let (context, lookups) = (ModelContext(old), ModelContext(old))
    let cards = try context.fetch(FetchDescriptor<Cards1.Card>())
    let identifiers = cards.map(\.persistentModelID)
    let seen = Dictionary(uniqueKeysWithValues: cards.map { ($0.persistentModelID, $0.front) })
    try open(Cards2.models)
    let reads: [(String, (ModelContext) throws -> Void)] = [
      ("fetch", { _ = try $0.fetch(FetchDescriptor<Cards1.Card>()) }),
      ("count", { _ = try $0.fetchCount(FetchDescriptor<Cards1.Book>()) }),
      ("identifiers", { _ = try $0.fetchIdentifiers(FetchDescriptor<Cards1.City>()) }),
      ("enumerate", { try $0.enumerate(FetchDescriptor<Cards1.Card>()) { _ in } }),
    ]
    for (name, read) in reads {
      for context in [context, lookups, ModelContext(old)] {
        let error = try #require(throws: SwiftDataError.self, "\(name)") { try read(context) }
        #expect(error.code == .unknownSchema && error.message.contains("Nothing was read"))
      }
    }
    for card in identifiers {
      guard let found = lookups.model(for: card) as? Cards1.Card else { continue }
      #expect(found.front == "" || found.front == seen[card])
    }
    context.insert(Cards1.Book("late"))
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(error.code == .unknownSchema && error.message.contains("Nothing was saved"))
    try checkSwapped(open(Cards2.models))
  }

  /// Only saves are refused: what was added is not read.
  @Test func `models from before an addition read what they know`() throws {
    let old = try open([Cards1.Card.self, Cards1.City.self])
    let context = ModelContext(old)
    context.insert(Cards1.Card("first"))
    try context.save()
    let new = ModelContext(try open(Cards1.models))
    new.insert(Cards1.Card("second"))
    new.insert(Cards1.Book("book"))
    try new.save()
    for _ in 0..<2 {
      #expect(try ModelContext(old).fetchCount(FetchDescriptor<Cards1.Card>()) == 2)
      context.insert(Cards1.Card("third"))
      let error = try #require(throws: SwiftDataError.self) { try context.save() }
      #expect(error.code == .unknownSchema && error.message.contains("Nothing was saved"))
    }
    #expect(try context.fetch(FetchDescriptor<Cards1.Card>()).count == 4)
  }

  @Test func `attributes, relationships and classes that swap names keep their values`() throws {
    try fill()
    try checkSwapped(open(Cards2.models))
    // Opened again, the names are what they were renamed to.
    try checkSwapped(open(Cards2.models))
    #expect(try open(Cards2.models).migrations.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a stage of a plan swaps names once`(isCustom: Bool) throws {
    try fill()
    let plan: any SchemaMigrationPlan.Type = isCustom ? CustomCardsPlan.self : CardsPlan.self
    let (front, back) = isCustom ? ("!", "?") : ("", "")
    try checkSwapped(open(Cards2.models, plan), front: front, back: back)
    try checkSwapped(open(Cards2.models, plan), front: front, back: back)
  }

  /// A container that names its classes gives them version 1.0.0, which is that of the first version of the plan.
  @Test func `a store that was made with the swapped names is not swapped by a plan`() throws {
    let context = ModelContext(try open(Cards2.models))
    let card = Cards2.Card("name")
    context.insert(card)
    (card.front, card.back) = ("front", "back")
    try context.save()
    let again = ModelContext(try open(Cards2.models, CardsPlan.self))
    let cards = try again.fetch(FetchDescriptor<Cards2.Card>())
    #expect(cards.map(\.front) == ["front"] && cards.map(\.back) == ["back"])
  }

  @Test(arguments: [false, true])
  func `a name means what has it in the version before, not what once had it`(
    hasPlan: Bool
  ) throws {
    try fill()
    try open(Cards2.models, version: Schema.Version(2, 0, 0))
    let container = try open(
      Cards3.models, hasPlan ? LaterCardsPlan.self : nil, version: Schema.Version(3, 0, 0))
    let context = ModelContext(container)
    let cards = try context.fetch(FetchDescriptor<Cards3.Card>(sortBy: [SortDescriptor(\.title)]))
    // It says what it said in the version before, and so it stays what it is.
    #expect(cards.map(\.front) == (0..<3).map { "back \($0)" })
    // The version before has a property of that name; only where it has none the first name of a chain is meant.
    #expect(cards.map(\.title) == ["short", "short", "short"])
    #expect(cards.allSatisfy { $0.start?.name == "Oslo" })
    // What had these names first is removed. Under them, its values would be another property's.
    #expect(cards.map(\.name) == ["new", "new", "new"])
    #expect(cards.allSatisfy { $0.from == nil })
    // The version before gave the name to the other class, which has it no more: a class of that name is new.
    #expect(try context.fetch(FetchDescriptor<Cards3.Work>()).map(\.title) == ["journal"])
    #expect(try context.fetchCount(FetchDescriptor<Cards3.Book>()) == 0)
  }

  @Test func `classes and properties of a hierarchy swap names`() throws {
    let context = ModelContext(try open(Ships1.models))
    let (ferry, tug) = (Ships1.Ferry("ferry"), Ships1.Tug("tug"))
    context.insert(ferry)
    context.insert(tug)
    (ferry.label, tug.label) = ("F", "T")
    (ferry.cars, ferry.cabins, tug.power) = (1, 2, 3)
    try context.save()
    for _ in 0..<2 {
      let container = try open(Ships2.models)
      let again = ModelContext(container)
      let wasFerry = try #require(try again.fetch(FetchDescriptor<Ships2.Tug>()).first)
      let wasTug = try #require(try again.fetch(FetchDescriptor<Ships2.Ferry>()).first)
      #expect(wasFerry.label == "ferry" && wasFerry.name == "F")
      #expect(wasFerry.cabins == 1 && wasFerry.cabs == 2)
      #expect(wasTug.label == "tug" && wasTug.name == "T" && wasTug.cars == 3)
      #expect(try again.fetchCount(FetchDescriptor<Ships2.Ship>()) == 2)
      #expect(try container.check().problems.isEmpty)
    }
  }

  @Test func `a subclass cannot take a property that its superclass keeps`() throws {
    let context = ModelContext(try open(Ships1.models))
    context.insert(Ships1.Ferry("ferry"))
    try context.save()
    let error = #expect(throws: SwiftDataError.self) { try open(Ships3.models) }
    #expect(error?.message.contains("Ferry.route") == true)
    #expect(error?.message.contains("Ship.label") == true)
    try open(Ships1.models)
  }

  /// Earlier versions of the library did not record what classes were called before. A store with the same version
  /// number may have been opened with the same models, which then were not swapped.
  @Test(arguments: [false, true])
  func `a store without a record of renamed classes is taken for the version it has`(
    isNewer: Bool
  ) throws {
    try fill()
    try forgetClassNames()
    let version = Schema.Version(isNewer ? 2 : 1, 0, 0)
    let context = ModelContext(try open(Cards2.models, version: version))
    let titles = try context.fetch(FetchDescriptor<Cards2.Book>()).map(\.title).sorted()
    #expect(titles == (isNewer ? ["journal"] : ["book 0", "book 1", "book 2"]))
  }

  private func forgetClassNames() throws {
    let store = try SQLiteConnection.foreign(url)
    guard
      case .text(let text)? = try store.rows(
        "SELECT value FROM stead_metadata WHERE key = 'schema'"
      ).first?.first
    else {
      Issue.record("The store has no schema.")
      return
    }
    var schema = try #require(
      JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let entities = try #require(schema["entities"] as? [[String: Any]])
    schema["entities"] = entities.map { entity in entity.filter { $0.key != "originalName" } }
    let data = try JSONSerialization.data(withJSONObject: schema)
    try store.run(
      "UPDATE stead_metadata SET value = '\(String(decoding: data, as: UTF8.self))' WHERE key = 'schema'"
    )
  }
}
