import SteadSQLite

@testable import SteadRecords

private enum Plain: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Player.self, Thing.self, Part.self] }

  struct Inner: Codable, Equatable { var depth = 1 }

  struct Settings: Codable, Equatable {
    var volume = 3
    var inner = Inner()
  }

  @Model final class Player {
    var number: Int
    var settings = Settings()
    init(_ number: Int) { self.number = number }
  }

  @Model class Thing {
    var number: Int
    var settings: Settings? = Settings()
    var code: UUID?
    init(_ number: Int) { self.number = number }
  }

  @Model final class Part: Thing {
    var tag: String?
    override init(_ number: Int) { super.init(number) }
  }
}

private enum Stamped: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Player.self, Thing.self, Part.self] }

  struct Inner: Codable, Equatable {
    var depth = 1
    var key = UUID().uuidString
  }

  struct Settings: Codable, Equatable {
    var volume = 7
    var inner = Inner()
    var id = UUID()
    var theme = "plain"
  }

  @Model final class Player {
    var number: Int
    var settings = Settings()
    init(_ number: Int) { self.number = number }
  }

  @Model class Thing {
    var number: Int
    var settings: Settings? = Settings()
    var code: UUID = UUID()
    init(_ number: Int) { self.number = number }
  }

  @Model final class Part: Thing {
    var tag: String = UUID().uuidString
    override init(_ number: Int) { super.init(number) }
  }
}

private enum StampingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Plain.self, Stamped.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Plain.self, toVersion: Stamped.self)]
  }
}

private enum StampingStage: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Plain.self, Stamped.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Plain.self, toVersion: Stamped.self, willMigrate: nil,
        didMigrate: { context in
          for player in try context.fetch(FetchDescriptor<Stamped.Player>()) {
            _ = player.settings.id
          }
        })
    ]
  }
}

/// Fields that a struct has gained, and properties that have become required, whose default values are made anew each time.
///
/// The default value was made once, so all rows got one identifier in their structs.
@Suite("default values of rows that lack a part of theirs") struct FieldDefaultTests {
  private static let count = 600
  private let file: RecordsTestSupport.StoreFile

  init() throws { file = try RecordsTestSupport.StoreFile() }

  private func fill() throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: Plain.self), configurations: ModelConfiguration(url: file.url))
    let context = ModelContext(container)
    for number in 0..<Self.count {
      let player = Plain.Player(number)
      player.settings.volume = number
      context.insert(player)
    }
    for number in 0..<40 {
      let thing = number % 2 == 0 ? Plain.Thing(number) : Plain.Part(number)
      // Some have a value, and some have no struct.
      if number % 4 == 0 { thing.code = UUID() }
      if number % 5 == 0 { thing.settings = nil }
      context.insert(thing)
    }
    try context.save()
  }

  enum Way: CaseIterable { case withoutPlan, lightweightStage, customStage }

  @Test(arguments: Way.allCases)
  func `each row gets its own identifier, in structs and in hierarchies`(way: Way) throws {
    try fill()
    let plan: (any SchemaMigrationPlan.Type)? =
      switch way {
      case .withoutPlan: nil
      case .lightweightStage: StampingPlan.self
      case .customStage: StampingStage.self
      }
    var first: [Int: Stamped.Settings] = [:]
    for opening in 0..<2 {
      let container = try ModelContainer(
        for: Schema(versionedSchema: Stamped.self), migrationPlan: plan,
        configurations: ModelConfiguration(url: file.url))
      let context = ModelContext(container)
      let players = try context.all(Stamped.Player.self)
      #expect(Set(players.map(\.settings.id)).count == Self.count)
      #expect(Set(players.map(\.settings.inner.key)).count == Self.count)
      #expect(players.allSatisfy { $0.settings.volume == $0.number })
      #expect(players.allSatisfy { $0.settings.theme == "plain" && $0.settings.inner.depth == 1 })
      let things = try context.all(Stamped.Thing.self)
      let settings = things.compactMap(\.settings)
      #expect(settings.count == 32 && Set(settings.map(\.id)).count == 32)
      #expect(things.count == 40 && Set(things.map(\.code)).count == 40)
      let parts = things.compactMap { $0 as? Stamped.Part }
      #expect(parts.count == 20 && Set(parts.map(\.tag)).count == 20)
      // A later opening changes none.
      let all = Dictionary(uniqueKeysWithValues: players.map { ($0.number, $0.settings) })
      if opening == 0 { first = all } else { #expect(all == first) }
      #expect(try container.check().problems.isEmpty)
    }
  }
}
