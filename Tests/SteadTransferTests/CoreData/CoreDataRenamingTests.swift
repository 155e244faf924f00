import Foundation
import SwiftData
import Testing

@testable import SteadTransfer

private enum Cards {
  @Model final class Card {
    @Attribute(originalName: "back") var front: String = ""
    @Attribute(originalName: "front") var back: String = ""
    @Attribute(originalName: "name") var fullName: String = ""
    var name: String = "short"
    @Relationship(originalName: "work") var home: Place?
    @Relationship(originalName: "home") var work: Place?
    init() {}
  }

  @Model final class Place {
    var city: String = ""
    init() {}
  }

  /// The class that was `Book`.
  @Model final class Volume {
    var title: String = ""
    init() {}
  }

  @Model final class Book {
    var title: String = ""
    init() {}
  }

  @Model final class Twice {
    @Attribute(originalName: "name") var one: String = ""
    @Attribute(originalName: "name") var two: String = ""
    init() {}
  }
}

extension Cards.Volume: RenamedModel {
  static var originalName: String { "Book" }
}

/// An original name decides which property takes what of a store, and a name only where nothing else claims it.
///
/// The name came first, so `@Attribute(originalName: "name") var fullName` beside a new `name` stayed empty, and two
/// properties that swapped names kept their old values; the original names of classes were not looked at.
@Suite struct CoreDataRenamingTests {
  private static let system = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"

  private func container() throws -> ModelContainer {
    try memoryContainer(
      Cards.Card.self, Cards.Place.self, Cards.Volume.self, Cards.Book.self)
  }

  private func fixture(
    _ card: [ModelCache.Property]?, columns: String, values: String
  ) throws -> CoreDataFixture {
    let cache = try card.map {
      try ModelCache.literal([
        "Book": [.attribute("title", 700)], "Card": $0, "Place": [.attribute("city", 700)],
      ])
    }
    return try CoreDataFixture(
      entities: [.init(1, "Book"), .init(2, "Card"), .init(3, "Place")],
      """
      CREATE TABLE ZBOOK (\(Self.system), ZTITLE VARCHAR);
      CREATE TABLE ZCARD (\(Self.system), ZHOME INTEGER, ZWORK INTEGER, \(columns));
      CREATE TABLE ZPLACE (\(Self.system), ZCITY VARCHAR);
      INSERT INTO ZBOOK VALUES (1, 1, 1, 'Emma');
      INSERT INTO ZPLACE VALUES (1, 3, 1, 'Rome'), (2, 3, 1, 'Oslo');
      INSERT INTO ZCARD VALUES (1, 2, 1, 1, 2, \(values));
      \(cache.map { "INSERT INTO Z_MODELCACHE VALUES (\($0));" } ?? "")
      """)
  }

  private static let earlier: [ModelCache.Property] = [
    .attribute("front", 700), .attribute("back", 700), .attribute("name", 700), .toOne("home"),
    .toOne("work"),
  ]

  @Test(arguments: [false, true])
  func `a store of the version before is read by the original names`(hasModel: Bool) throws {
    let container = try container()
    try fixture(
      hasModel ? Self.earlier : nil, columns: "ZFRONT VARCHAR, ZBACK VARCHAR, ZNAME VARCHAR",
      values: "'f', 'b', 'Ada Lovelace'"
    ).importing(to: container).run()
    let context = ModelContext(container)
    let card = try #require(try context.fetch(FetchDescriptor<Cards.Card>()).first)
    #expect(card.front == "b" && card.back == "f")
    #expect(card.fullName == "Ada Lovelace" && card.name == "short")
    #expect(card.home?.city == "Oslo" && card.work?.city == "Rome")
    #expect(try context.fetch(FetchDescriptor<Cards.Volume>()).map(\.title) == ["Emma"])
    #expect(try context.fetchCount(FetchDescriptor<Cards.Book>()) == 0)
  }

  /// Its model has the renaming identifiers: nothing was renamed since.
  @Test func `a store of the same version is read by the names`() throws {
    let container = try container()
    try fixture(
      [
        .renamed(.attribute("front", 700), "back"), .renamed(.attribute("back", 700), "front"),
        .renamed(.attribute("fullName", 700), "name"), .attribute("name", 700),
        .renamed(.toOne("home"), "work"), .renamed(.toOne("work"), "home"),
      ], columns: "ZFRONT VARCHAR, ZBACK VARCHAR, ZFULLNAME VARCHAR, ZNAME VARCHAR",
      values: "'f', 'b', 'Ada Lovelace', 'Ada'"
    ).importing(to: container).run()
    let card = try #require(try ModelContext(container).fetch(FetchDescriptor<Cards.Card>()).first)
    #expect(card.front == "f" && card.back == "b")
    #expect(card.fullName == "Ada Lovelace" && card.name == "Ada")
    #expect(card.home?.city == "Rome" && card.work?.city == "Oslo")
  }

  /// What had a name first in the store's model isn't what has it now: `name` got the values of what was left out.
  @Test func `a name means what has it in the store`() throws {
    let container = try container()
    var mapping = CoreDataMapping()
    mapping.leftOut["Card"] = ["short"]
    try fixture(
      [
        .attribute("front", 700), .attribute("back", 700),
        .renamed(.attribute("short", 700), "name"), .attribute("name", 700), .toOne("home"),
        .toOne("work"),
      ], columns: "ZFRONT VARCHAR, ZBACK VARCHAR, ZSHORT VARCHAR, ZNAME VARCHAR",
      values: "'f', 'b', 'Ada', 'Ada Lovelace'"
    ).importing(to: container, mapping: mapping).run()
    let card = try #require(try ModelContext(container).fetch(FetchDescriptor<Cards.Card>()).first)
    #expect(card.fullName == "Ada Lovelace" && card.name == "short")
  }

  @Test func `two claims on one property are refused`() throws {
    let container = try memoryContainer(Cards.Twice.self)
    let cache = try ModelCache.literal(["Twice": [.attribute("name", 700)]])
    let fixture = try CoreDataFixture(
      entities: [.init(1, "Twice")],
      """
      CREATE TABLE ZTWICE (\(Self.system), ZNAME VARCHAR);
      INSERT INTO ZTWICE VALUES (1, 1, 1, 'a');
      INSERT INTO Z_MODELCACHE VALUES (\(cache));
      """)
    let error = try transferError { try fixture.importing(to: container).run() }
    #expect(error.message.contains("Twice.one and Twice.two"))
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Cards.Twice>()) == 0)
  }
}
