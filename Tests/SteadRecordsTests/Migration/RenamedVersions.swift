import SwiftData

/// Versions whose names go from one class or property to another.
enum Cards1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Card.self, City.self, Book.self, Journal.self] }

  @Model final class Card {
    var front: String = ""
    var back: String = ""
    var name: String = ""
    var from: City?
    var to: City?
    var stops: [City] = []
    var sights: [City] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class City {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Book {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Journal {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

/// Two attributes, two references, two lists and two classes swap names; a name is used again.
enum Cards2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Card.self, City.self, Book.self, Journal.self] }

  @Model final class Card {
    @Attribute(originalName: "back") var front: String = ""
    @Attribute(originalName: "front") var back: String = ""
    @Attribute(originalName: "name") var fullName: String = ""
    var name: String = "short"
    @Relationship(originalName: "to") var from: City?
    @Relationship(originalName: "from") var to: City?
    @Relationship(originalName: "sights") var stops: [City] = []
    @Relationship(originalName: "stops") var sights: [City] = []
    init(_ name: String) { fullName = name }
  }

  typealias City = Cards1.City

  @Model final class Book {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Journal {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

extension Cards2.Book: RenamedModel {
  static var originalName: String { "Journal" }
}

extension Cards2.Journal: RenamedModel {
  static var originalName: String { "Book" }
}

/// A name is taken over, another goes on in a chain, and a class's name is used again.
enum Cards3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Card.self, City.self, Book.self, Work.self] }

  @Model final class Card {
    // The name before this one, which the version before had renamed.
    @Attribute(originalName: "back") var front: String = ""
    // The first name of a chain, and the name of the version before.
    @Attribute(originalName: "name") var title: String = ""
    // Names that two properties of the version before had, of which one is renamed and one removed.
    var name: String = "new"
    @Relationship(originalName: "from") var start: City?
    var from: City?
    init(_ name: String) { title = name }
  }

  typealias City = Cards1.City

  @Model final class Book {
    var title: String
    init(_ title: String) { self.title = title }
  }

  @Model final class Work {
    var title: String
    init(_ title: String) { self.title = title }
  }
}

extension Cards3.Work: RenamedModel {
  static var originalName: String { "Book" }
}

/// The rows follow without closures.
enum CardsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Cards1.self, Cards2.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Cards1.self, toVersion: Cards2.self)]
  }
}

/// The rows of the version that had swapped names follow.
enum LaterCardsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Cards2.self, Cards3.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Cards2.self, toVersion: Cards3.self)]
  }
}

/// A closure sees the old names before, and the new ones afterwards.
enum CustomCardsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Cards1.self, Cards2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Cards1.self, toVersion: Cards2.self,
        willMigrate: { context in
          for card in try context.fetch(FetchDescriptor<Cards1.Card>()) { card.front += "!" }
        },
        didMigrate: { context in
          for card in try context.fetch(FetchDescriptor<Cards2.Card>()) { card.back += "?" }
        })
    ]
  }
}

/// A hierarchy whose classes and properties swap names.
enum Ships1 {
  static let models: [any PersistentModel.Type] = [Ship.self, Ferry.self, Tug.self]

  @Model class Ship {
    var name: String = ""
    var label: String = ""
    init(_ name: String) { self.name = name }
  }

  @Model final class Ferry: Ship {
    var cars: Int = 0
    var cabins: Int = 0
    override init(_ name: String) { super.init(name) }
  }

  @Model final class Tug: Ship {
    var power: Int = 0
    override init(_ name: String) { super.init(name) }
  }
}

enum Ships2 {
  static let models: [any PersistentModel.Type] = [Ship.self, Ferry.self, Tug.self]

  @Model class Ship {
    @Attribute(originalName: "label") var name: String = ""
    @Attribute(originalName: "name") var label: String = ""
    init(_ name: String) { label = name }
  }

  /// The class that was the tug.
  @Model final class Ferry: Ship {
    @Attribute(originalName: "power") var cars: Int = 0
    override init(_ name: String) { super.init(name) }
  }

  /// The class that was the ferry.
  @Model final class Tug: Ship {
    @Attribute(originalName: "cabins") var cabs: Int = 0
    @Attribute(originalName: "cars") var cabins: Int = 0
    override init(_ name: String) { super.init(name) }
  }
}

extension Ships2.Ferry: RenamedModel {
  static var originalName: String { "Tug" }
}

extension Ships2.Tug: RenamedModel {
  static var originalName: String { "Ferry" }
}

/// A subclass takes what its superclass keeps.
enum Ships3 {
  static let models: [any PersistentModel.Type] = [Ship.self, Ferry.self, Tug.self]

  @Model class Ship {
    var name: String = ""
    var label: String = ""
    init(_ name: String) { self.name = name }
  }

  @Model final class Ferry: Ship {
    @Attribute(originalName: "label") var route: String = ""
    override init(_ name: String) { super.init(name) }
  }

  @Model final class Tug: Ship {
    var power: Int = 0
    override init(_ name: String) { super.init(name) }
  }
}
