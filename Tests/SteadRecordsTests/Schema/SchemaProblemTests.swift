import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

@Suite("Models that contradict each other") struct SchemaProblemTests {
  private func message(
    _ code: SwiftDataError, _ types: any PersistentModel.Type...
  ) -> String {
    let error = #expect(throws: code) {
      _ = try ModelContainer(
        for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    return error?.message ?? ""
  }

  /// An object without a row looked for its 1,025th column behind the end of the columns.
  @Test
  func `a model with more properties than 1,024 is an error that says how many it may have`() throws
  {
    try StoreLayoutBuilder.check(count: 1024, of: "Form")
    let problem = #expect(throws: SchemaProblem.self) {
      try StoreLayoutBuilder.check(count: 1025, of: "Form")
    }
    #expect(problem?.code == .loadIssueModelContainer)
    #expect(
      problem?.message.hasPrefix(
        "Form has 1025 stored properties, inherited ones included, and may have 1024.")
        == true)
  }

  /// `Author.books` named `\Book.publisher`, which leads to a Publisher. The container opened, and
  /// then each book that was appended was lost.
  @Test func `an inverse that leads to another class is an error that names both sides`() {
    let message = message(.invalidInverse, Inverses.Writer.self)
    #expect(message.contains("Writer.books"))
    #expect(message.contains(#"\Volume.publisher"#))
    #expect(message.contains("leads to Publisher, not to Writer"))
    #expect(message.contains("Name a property of Volume whose type is Writer? or [Writer]."))
  }

  @Test func `an inverse that belongs to a class other than the destination is an error`() {
    let message = message(.invalidInverse, Inverses.Printer.self)
    #expect(message.contains("Printer.volumes"))
    #expect(message.contains(#"\Publisher.name"#))
    #expect(message.contains("leads to Volume"))
  }

  /// The message showed `\Volume.<computed 0x000055f1a25cf360 (String)>`.
  @Test func `an attribute as inverse is an error that names the attribute`() {
    let message = message(.invalidInverse, Inverses.Shelf.self)
    #expect(message.contains("Shelf.volumes"))
    #expect(message.contains(#"\Volume.title"#))
    #expect(message.contains("String"))
    #expect(!message.contains("0x"))
  }

  @Test func `a computed property as inverse is an error`() {
    let message = message(.invalidInverse, Inverses.Reviewer.self)
    #expect(message.contains("Reviewer.volumes"))
    #expect(message.contains("computed"))
    #expect(!message.contains("0x"))
  }

  @Test func `a subclass may name an inverse that it inherits, by its own key path`() throws {
    let schema = Schema([Inverses.Binder.self, Inverses.Atlas.self])
    _ = try ModelContainer(
      for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    #expect(
      schema.entitiesByName["Binder"]?.relationshipsByName["atlases"]?.inverseName == "binder")
  }

  @Test func `two models of one name are an error of their own`() {
    let message = message(.duplicateModel, Inverses.Volume.self, OtherInverses.Volume.self)
    #expect(message.contains("Volume"))
  }

  @Test func `#Unique over a computed property is an error`() {
    let message = message(.unknownProperty, Inverses.Badge.self)
    #expect(message.contains("#Unique of Badge"))
    #expect(message.contains("computed or transient property of type String"))
    #expect(message.contains("reads Badge.first"))
  }

  @Test func `#Index over a transient property is an error`() {
    let message = message(.unknownProperty, Inverses.Place.self, Inverses.Ticket.self)
    #expect(message.contains("#Index of Ticket"))
  }

  @Test func `#Unique and #Index of a subclass may name what it inherits`() throws {
    let schema = Schema([Inverses.Atlas.self])
    _ = try ModelContainer(
      for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    #expect(schema.entitiesByName["Atlas"]?.indices == [["title"]])
  }

  /// SQLite said "duplicate column name", without the class.
  @Test func `properties that differ only in case are an error that names both`() {
    let message = message(.nameClash, Clashes.Film.self)
    #expect(message.contains("Film.title and Film.Title differ only in case"))
  }

  @Test func `a property with the name of a column of every table is an error that names it`() {
    #expect(message(.nameClash, Clashes.Document.self).contains("Document._id has the name"))
  }

  /// Both lay in one column of integers, which changed texts of digits.
  @Test func `properties of sibling classes that share a column have to have one type`() {
    let message = message(.nameClash, Clashes.Call.self, Clashes.Letter.self)
    #expect(message.contains("Call.duration and Letter.duration share a column"))
  }

  // It opened a container, and looked neither at the columns nor at what they kept.
  @Test func `properties of sibling classes with one name and type share a column`() throws {
    let schema = Schema([Clashes.Call.self, Clashes.Meeting.self])
    let layout = try StoreLayout(schema: schema)
    let call = try #require(layout.entity(for: Clashes.Call.self))
    let table = TableLayout(root: layout.entities[call.rootIndex], layout: layout)
    #expect(table.columns.map(\.name).filter { $0.hasPrefix("duration") } == ["duration"])

    let container = try ModelContainer(
      for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let (short, long) = (Clashes.Call(), Clashes.Meeting())
    (short.duration, long.duration) = (3, 60)
    context.insert(short)
    context.insert(long)
    try context.save()
    let other = ModelContext(container)
    #expect(try other.fetch(FetchDescriptor<Clashes.Call>()).map(\.duration) == [3])
    #expect(try other.fetch(FetchDescriptor<Clashes.Meeting>()).map(\.duration) == [60])
  }

  @Test func `models whose names differ only in case are an error that names both`() {
    let message = message(.nameClash, Clashes.Reel.self, Clashes.reel.self)
    #expect(message.contains("Reel and reel differ only in case"))
  }

  /// Pairs of both relationships lay in one table, and SQLite said of a model that the table lacks its columns.
  @Test func `models and relationships whose tables have one name are an error`() {
    let pairs = message(.nameClash, Clashes.Post.self, Clashes.Post_hot.self, Clashes.Tag.self)
    #expect(pairs.contains("the relationship Post.hot_tags, the relationship Post_hot.tags"))
    let cases = message(.nameClash, Clashes.Shelf.self, Clashes.Tag.self)
    #expect(cases.contains("the relationship Shelf.Tags, the relationship Shelf.tags"))
    let model = message(.nameClash, Clashes.Post.self, Clashes.post_hot_tags.self, Clashes.Tag.self)
    #expect(model.contains("the model post_hot_tags, the relationship Post.hot_tags"))
    let search = message(.nameClash, Clashes.Note.self, Clashes.Note_search.self)
    #expect(search.contains("the model Note_search, the search of Note"))
    #expect(message(.nameClash, Clashes.Stead_metadata.self).contains("begins with stead_"))
  }

  /// SQLite made the first index alone, so that two objects could have one key; of a table's name it said that there is
  /// one already.
  @Test func `unique indexes of one name, and indexes of a table's, are an error`() {
    let keys = message(.nameClash, Clashes.Seat.self)
    #expect(
      keys.contains(
        "the unique index of row, number of Seat; the unique index of row_number of Seat"))
    let classes = message(.nameClash, Clashes.Hall.self, Clashes.Hall_row.self)
    #expect(
      classes.contains(
        "the unique index of number of Hall_row; the unique index of row_number of Hall"))
    let table = message(.nameClash, Clashes.Row.self, Clashes.Row_hall.self, Clashes.Stage.self)
    #expect(table.contains("the index of hall of Row; the table Row_hall"))
    let search = message(.nameClash, Clashes.Play.self, Clashes.Stage.self)
    #expect(search.contains("the index of search of Play; the table Play_search"))
    let pairs = message(.nameClash, Clashes.Actor.self, Clashes.Actor_parts_target.self)
    #expect(pairs.contains("the index of target of Actor_parts; the table Actor_parts_target"))
  }

  @Test func `the names of two stores' indexes may be equal`() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let halls = Schema([Clashes.Hall.self])
    let rows = Schema([Clashes.Hall_row.self])
    let container = try ModelContainer(
      for: Schema([Clashes.Hall.self, Clashes.Hall_row.self]),
      configurations: [
        ModelConfiguration("halls", schema: halls, url: directory.url.appending(path: "halls")),
        ModelConfiguration("rows", schema: rows, url: directory.url.appending(path: "rows")),
      ])
    #expect(try container.check().isSound)
  }

  /// SQLite said "duplicate column name", without the class.
  @Test func `a property with the name of a hidden column is an error that names both`() {
    let message = message(.nameClash, Clashes.Stop.self, Clashes.Trip.self)
    #expect(message.contains("Stop._Trip_order has the name of a hidden column"))
    #expect(message.contains("the list over Stop.trip"))
  }

  /// The predicate read the property `place_city` instead.
  @Test func `a property may have the name of the column of a struct's field`() throws {
    let container = try ModelContainer(
      for: Clashes.Visit.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.insert(Clashes.Visit())
    try context.save()
    let other = ModelContext(container)
    func count(_ predicate: Predicate<Clashes.Visit>) throws -> Int {
      try other.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.place.city == "Bern" }) == 1)
    #expect(try count(#Predicate { $0.place.city == "Rome" }) == 0)
    #expect(try count(#Predicate { $0.place_City == "Rome" }) == 1)
    #expect(try count(#Predicate { $0.a.b_c == 1 && $0.a_b.c == 2 }) == 1)
  }

  @Test func `a schema knows its inverses before a container opens`() {
    let schema = Schema([Club.self, Member.self, Skill.self, Album.self])
    let entities = schema.entitiesByName
    #expect(entities["Club"]?.relationshipsByName["members"]?.inverseName == "club")
    #expect(entities["Member"]?.relationshipsByName["club"]?.inverseName == "members")
    #expect(entities["Skill"]?.relationshipsByName["holders"]?.inverseName == "skills")
    #expect(entities["Track"]?.relationshipsByName["album"]?.inverseName == "tracks")
  }
}

enum Clashes {
  @Model final class Seat {
    #Unique<Seat>([\.row_number], [\.row, \.number])
    var row_number = ""
    var row = 0
    var number = 0
    init() {}
  }

  @Model final class Hall {
    @Attribute(.unique) var row_number = ""
    init() {}
  }

  @Model final class Hall_row {
    @Attribute(.unique) var number = 0
    init() {}
  }

  @Model final class Stage {
    init() {}
  }

  @Model final class Row {
    var hall: Stage?
    init() {}
  }

  @Model final class Row_hall {
    init() {}
  }

  @Model final class Play {
    @Attribute(.spotlight) var title = ""
    var search: Stage?
    init() {}
  }

  @Model final class Actor {
    var parts: [Actor_parts_target] = []
    init() {}
  }

  @Model final class Actor_parts_target {
    init() {}
  }

  @Model final class Film {
    var title = ""
    var Title = ""
    init() {}
  }

  @Model final class Document {
    var _id = ""
    init() {}
  }

  @Model class Contact {
    var date = 0.0
    init() {}
  }

  @Model final class Call: Contact {
    var duration = 0
    override init() { super.init() }
  }

  @Model final class Meeting: Contact {
    var duration = 0
    override init() { super.init() }
  }

  @Model final class Letter: Contact {
    var duration = ""
    override init() { super.init() }
  }

  @Model final class Reel {
    var number = 1
    init() {}
  }

  @Model final class reel {
    var number = 1
    init() {}
  }
}

extension Clashes {
  @Model final class Post {
    var hot_tags: [Tag] = []
    init() {}
  }

  @Model final class Post_hot {
    var tags: [Tag] = []
    init() {}
  }

  @Model final class post_hot_tags {
    var number = 1
    init() {}
  }

  @Model final class Shelf {
    var tags: [Tag] = []
    var Tags: [Tag] = []
    init() {}
  }

  @Model final class Tag {
    var name = ""
    init() {}
  }

  @Model final class Note {
    @Attribute(.spotlight) var text = ""
    init() {}
  }

  @Model final class Note_search {
    var number = 1
    init() {}
  }

  @Model final class Stead_metadata {
    var number = 1
    init() {}
  }

  @Model final class Trip {
    @Relationship(inverse: \Stop.trip) var stops: [Stop] = []
    init() {}
  }

  @Model final class Stop {
    var trip: Trip?
    var _Trip_order = 0
    init() {}
  }

  struct Place: Codable { var city = "Bern" }
  struct First: Codable { var b_c = 1 }
  struct Second: Codable { var c = 2 }

  @Model final class Visit {
    var place: Place = Place()
    var place_City = "Rome"
    var a: First = First()
    var a_b: Second = Second()
    init() {}
  }
}

enum OtherInverses {
  @Model final class Volume {
    var number = 1
    init() {}
  }
}

enum Inverses {
  @Model class Volume {
    var title: String
    var publisher: Publisher?
    var binder: Binder?
    var keptBy: Binder? { binder }
    init(title: String) { self.title = title }
  }

  @Model final class Atlas: Volume {
    #Index<Atlas>([\.title])
    var scale = 1
    override init(title: String) { super.init(title: title) }
  }

  @Model final class Binder {
    @Relationship(inverse: \Atlas.binder) var atlases: [Atlas] = []
    init() {}
  }

  @Model final class Publisher {
    var name = ""
    init() {}
  }

  @Model final class Writer {
    @Relationship(inverse: \Volume.publisher) var books: [Volume] = []
    init() {}
  }

  @Model final class Printer {
    @Relationship(inverse: \Publisher.name) var volumes: [Volume] = []
    init() {}
  }

  @Model final class Shelf {
    @Relationship(inverse: \Volume.title) var volumes: [Volume] = []
    init() {}
  }

  @Model final class Reviewer {
    @Relationship(inverse: \Volume.keptBy) var volumes: [Volume] = []
    init() {}
  }

  // What an extension or a superclass declares, the macro cannot see.
  @Model final class Badge: Marked {
    #Unique<Badge>([\.full])
    var first: String
    init(first: String) { self.first = first }
  }

  @Model class Place {
    var number = 1
    @Transient var seat = 2
    init() {}
  }

  @Model final class Ticket: Place {
    #Index<Ticket>([\.seat])
    var price = 3
    override init() { super.init() }
  }
}

protocol Marked {}

extension Inverses.Badge {
  var full: String { first.uppercased() }
}
