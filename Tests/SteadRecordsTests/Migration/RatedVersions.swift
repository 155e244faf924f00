import Foundation
import SwiftData
import Synchronization

enum RatedSize: Int, Codable { case small = 1, large = 7 }

/// Versions whose properties get other names and types in a custom stage.
enum Rated1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Special.self, Loose.self] }

  @Model class Item {
    var title: String
    var rating: Int
    var half: Int?
    var size: RatedSize = RatedSize.small
    var code: Int = 0
    var isDone: Bool = false
    init(_ title: String, _ rating: Int) {
      self.title = title
      self.rating = rating
    }
  }

  @Model final class Special: Item {
    var level: Int = 0
    override init(_ title: String, _ rating: Int) { super.init(title, rating) }
  }

  @Model final class Loose {
    var text: String
    init(_ text: String) { self.text = text }
  }
}

/// Every type has a conversion that loses nothing.
enum Rated2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Special.self, Loose.self] }

  @Model class Item {
    var title: String
    @Attribute(originalName: "rating") var stars: Double?
    @Attribute(originalName: "half") var halves: Double? = 3
    @Attribute(originalName: "size") var weight: Double = 0
    /// Under its own name.
    var code: String
    @Attribute(originalName: "isDone") var count: Int
    init(_ title: String) {
      self.title = title
      code = ""
      count = 0
    }
  }

  @Model final class Special: Item {
    @Attribute(originalName: "level") var rank: String
    override init(_ title: String) {
      rank = ""
      super.init(title)
    }
  }

  typealias Loose = Rated1.Loose
}

/// A number becomes a date, for which there is no conversion.
enum Rated3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Special.self, Loose.self] }

  @Model class Item {
    var title: String
    @Attribute(originalName: "rating") var day: Date?
    var half: Int?
    var size: RatedSize = RatedSize.small
    var code: Int = 0
    var isDone: Bool = false
    init(_ title: String) { self.title = title }
  }

  @Model final class Special: Item {
    var level: Int = 0
    override init(_ title: String) { super.init(title) }
  }

  typealias Loose = Rated1.Loose
}

/// A model is gone.
enum Rated4: VersionedSchema {
  typealias Item = Rated1.Item
  typealias Special = Rated1.Special

  static let versionIdentifier = Schema.Version(4, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Special.self] }
}

/// What the closures do besides trimming titles.
enum RatedLook: CaseIterable, Sendable {
  // Reads of `Item.rating`.
  case reads, readsSubclasses, asksInPredicate, sorts, changes
  // What reads no value of it, and makes no object of `Loose` from a row.
  case writes, writesNew, counts, countsLoose, insertsLoose, findsNoLoose, identifiesLoose
  // An object of `Loose`.
  case fetchesLoose
  /// `didMigrate` gives some items other stars.
  case sets

  static let readingRatings: Set<RatedLook> = [
    .reads, .readsSubclasses, .asksInPredicate, .sorts, .changes,
  ]

  fileprivate func look(_ context: ModelContext, _ items: [Rated1.Item]) throws {
    switch self {
    case .reads: for item in items { _ = item.rating }
    case .readsSubclasses:
      for item in try context.fetch(FetchDescriptor<Rated1.Special>()) { _ = item.rating }
    case .asksInPredicate:
      _ = try context.fetchCount(
        FetchDescriptor<Rated1.Item>(predicate: #Predicate { $0.rating > 2 }))
    case .sorts:
      _ = try context.fetch(FetchDescriptor<Rated1.Item>(sortBy: [SortDescriptor(\.rating)]))
    case .changes:
      for item in items where item is Rated1.Special { item.rating += 0 }
    case .writes:
      // The value that it has.
      for item in items where item is Rated1.Special { item.rating = 1 }
    case .writesNew:
      let item = Rated1.Item("new", 9)
      context.insert(item)
      item.rating = 8
      try context.save()
      item.rating = 7
      context.delete(item)
    case .counts: _ = try context.fetchCount(FetchDescriptor<Rated1.Item>())
    case .countsLoose: _ = try context.fetchCount(FetchDescriptor<Rated1.Loose>())
    case .insertsLoose:
      let loose = Rated1.Loose("new")
      context.insert(loose)
      try context.save()
      loose.text = "other"
      context.delete(loose)
    case .findsNoLoose:
      _ = try context.fetch(
        FetchDescriptor<Rated1.Loose>(predicate: #Predicate { $0.text == "none" }))
    case .identifiesLoose:
      _ = try context.fetchIdentifiers(FetchDescriptor<Rated1.Loose>())
    case .fetchesLoose: _ = try context.fetch(FetchDescriptor<Rated1.Loose>())
    case .sets: break
    }
  }
}

/// One custom stage to a version, which trims titles.
protocol RatedPlan: SchemaMigrationPlan {
  static var target: any VersionedSchema.Type { get }
}

/// How the plans' closures look at the old objects.
let ratedLooks = Mutex<Set<RatedLook>>([])

extension RatedPlan {
  static var schemas: [any VersionedSchema.Type] { [Rated1.self, target] }
  static var stages: [MigrationStage] {
    let hasStars = target == Rated2.self
    return [
      .custom(
        fromVersion: Rated1.self, toVersion: target,
        willMigrate: { context in
          let items = try context.fetch(FetchDescriptor<Rated1.Item>())
          for item in items { item.title = item.title.trimmingCharacters(in: .whitespaces) }
          for look in RatedLook.allCases where ratedLooks.withLock({ $0.contains(look) }) {
            try look.look(context, items)
          }
        },
        didMigrate: { context in
          guard hasStars, ratedLooks.withLock({ $0.contains(.sets) }) else { return }
          for item in try context.fetch(FetchDescriptor<Rated2.Item>()) where item.code == "41" {
            item.stars = 100
          }
        })
    ]
  }
}

enum RatedPlan2: RatedPlan { static var target: any VersionedSchema.Type { Rated2.self } }
enum RatedPlan3: RatedPlan { static var target: any VersionedSchema.Type { Rated3.self } }
enum RatedPlan4: RatedPlan { static var target: any VersionedSchema.Type { Rated4.self } }
