import Foundation
import SteadSQLite
import SwiftData
import Testing

@testable import SteadRecords

@Suite("Inverses that several relationships share: schema and store")
struct SharedInverseLayoutTests {
  private func layout(_ types: any PersistentModel.Type...) throws -> StoreLayout {
    try StoreLayout(schema: Schema(types))
  }

  private func connection(_ url: URL, writable: Bool = false) throws -> StoreConnection {
    try StoreFile(ModelConfiguration(url: url)).open(writable: writable)
  }

  @Test func `the to-one has the first list as its inverse, and knows all of them`() throws {
    let layout = try layout(Backyard.self)
    let yard = try #require(layout.entity(for: Backyard.self))
    let plants = try #require(yard.property(named: "plants"))
    let archive = try #require(yard.property(named: "archive"))
    let plant = try #require(layout.entity(for: Plant.self))
    let toOne = try #require(plant.property(named: "backyard"))
    #expect(toOne.relationship?.inverse == plants.index)
    #expect(
      toOne.relationship?.lists == [
        SharedList(property: plants.index, number: 0),
        SharedList(property: archive.index, number: 1),
      ])
    #expect(toOne.listColumn == "_backyard_list")
    #expect(plants.relationship?.inverse == toOne.index)
    #expect(plants.relationship?.list == 0)
    #expect(archive.relationship?.inverse == toOne.index)
    #expect(archive.relationship?.list == 1)
    guard case .toMany(.inverse(toOneProperty: toOne.index), _) = archive.kind else {
      Issue.record("\(archive.kind)")
      return
    }
  }

  @Test func `to-one relationships that share an inverse have a column, too`() throws {
    let layout = try layout(Gate.self)
    let gate = try #require(layout.entity(for: Gate.self))
    let keeper = try #require(gate.property(named: "keeper"))
    let deputy = try #require(gate.property(named: "deputy"))
    let toOne = try #require(layout.entity(for: Keeper.self)?.property(named: "gate"))
    #expect(toOne.relationship?.inverse == keeper.index)
    #expect(toOne.relationship?.lists.map(\.property) == [keeper.index, deputy.index])
    #expect(toOne.listColumn == "_gate_list")
    #expect(deputy.relationship?.inverse == toOne.index)
  }

  @Test func `a relationship that shares no inverse has no list`() throws {
    let layout = try layout(Album.self)
    let album = try #require(layout.entity(for: Track.self)?.property(named: "album"))
    #expect(album.relationship?.lists == [])
    #expect(album.listColumn == nil)
    #expect(layout.entity(for: Album.self)?.property(named: "tracks")?.relationship?.list == nil)
  }

  @Test func `predicates over lists that share an inverse see their own objects`() throws {
    let store = try TestStore(.file, Backyard.self, Plant.self)
    try connection(store.url, writable: true).execute(
      """
      INSERT INTO "Backyard" ("_id", "name") VALUES (1, 'north'), (2, 'south');
      INSERT INTO "Plant" ("_id", "name", "backyard", "_backyard_list")
        VALUES (1, 'fern', 1, NULL), (2, 'rose', 1, 1), (3, 'oak', 2, 0), (4, 'elm', NULL, NULL);
      """)
    let context = store.context()
    func names(_ predicate: Predicate<Backyard>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)]))
        .map(\.name)
    }
    #expect(try names(#Predicate { $0.plants.contains { $0.name == "fern" } }) == ["north"])
    #expect(try names(#Predicate { $0.archive.contains { $0.name == "fern" } }) == [])
    #expect(try names(#Predicate { $0.archive.contains { $0.name == "rose" } }) == ["north"])
    #expect(try names(#Predicate { $0.plants.count == 1 }) == ["north", "south"])
    #expect(try names(#Predicate { $0.archive.isEmpty }) == ["south"])
  }

  /// A second list was declared before the first; all rows of the first would have moved to it.
  @Test func `rows stay in their list when lists are added, turned round and renamed`() throws {
    let file = try StoreFile()
    func lists() throws -> [[SQLValue]] {
      try connection(file.url).rows(
        #"SELECT "name", ifnull("_yard_list", 0) FROM "Shrub" ORDER BY "_id""#)
    }
    do {
      let context = ModelContext(try file.open(OneListSchema.Yard.self))
      let yard = OneListSchema.Yard()
      context.insert(yard)
      yard.shrubs.append(OneListSchema.Shrub(name: "box"))
      try context.save()
    }
    _ = try file.open(TwoListSchema.Yard.self)
    #expect(try lists() == [[.text("box"), .integer(1)]])
    try connection(file.url, writable: true).execute(
      #"INSERT INTO "Shrub" ("_id", "name", "yard") VALUES (9, 'ivy', 1)"#)
    _ = try file.open(TwoListSchema.Yard.self)
    #expect(try lists() == [[.text("box"), .integer(1)], [.text("ivy"), .integer(0)]])
    _ = try file.open(TurnedListSchema.Yard.self)
    #expect(try lists() == [[.text("box"), .integer(0)], [.text("ivy"), .integer(1)]])
    _ = try file.open(TurnedListSchema.Yard.self)
    #expect(try lists() == [[.text("box"), .integer(0)], [.text("ivy"), .integer(1)]])
  }

  @Test func `a to-one relationship with a new name keeps lists and orders`() throws {
    let file = try StoreFile()
    func open(_ type: any PersistentModel.Type) throws -> ModelContext {
      ModelContext(try file.open(type))
    }
    do {
      let context = try open(TwoListSchema.Yard.self)
      let yard = TwoListSchema.Yard()
      context.insert(yard)
      let (box, ivy) = (TwoListSchema.Shrub(name: "box"), TwoListSchema.Shrub(name: "ivy"))
      yard.shrubs = [box, ivy]
      yard.wanted = [TwoListSchema.Shrub(name: "yew")]
      try context.save()
      yard.shrubs = [ivy, box]
      try context.save()
    }
    let yard = try open(RenamedListSchema.Yard.self).only(RenamedListSchema.Yard.self)
    #expect(yard.shrubs.map(\.name) == ["ivy", "box"])
    #expect(yard.wanted.map(\.name) == ["yew"])
  }

  @Test
  func `four unnamed lists and one to-one open, each for itself, and are reported once`() throws {
    let store = try TestStore(.file, ShopAccount.self, MailingAddress.self)
    #expect(store.schema.entities.flatMap(\.relationships).allSatisfy { $0.inverseName == nil })
    let note = try #require(store.schema.findings.notes.first)
    #expect(store.schema.findings.notes.count == 1)
    for list in ["billing", "shipping", "former", "shared"] {
      #expect(note.contains("ShopAccount.\(list)"))
    }
    #expect(note.contains(#"@Relationship(inverse: \MailingAddress.account)"#))
    let context = store.context()
    let account = ShopAccount()
    context.insert(account)
    account.shipping.append(MailingAddress(street: "Elm Street"))
    #expect(account.shipping.first?.account == nil)
    try context.save()
    let reader = try store.reopened().only(ShopAccount.self)
    #expect(reader.shipping.map(\.street) == ["Elm Street"])
    #expect(reader.billing.isEmpty && reader.former.isEmpty && reader.shared.isEmpty)
  }

  @Test func `three unnamed relationships to the class itself open, each for itself`() throws {
    let store = try TestStore(.file, Relative.self)
    let context = store.context()
    let (ann, ben) = (Relative(name: "Ann"), Relative(name: "Ben"))
    context.insert(ann)
    context.insert(ben)
    ben.mother = ann
    #expect(ann.children.isEmpty)
    ann.children.append(ben)
    #expect(ben.father == nil)
    try context.save()
    let reader = try store.reopened()
    let relatives = try reader.fetch(FetchDescriptor<Relative>(sortBy: [SortDescriptor(\.name)]))
    #expect(relatives[1].mother === relatives[0])
    #expect(relatives[0].children.map(\.name) == ["Ben"])
    #expect(store.schema.findings.notes.count == 1)
  }
}
