import Foundation
import SteadTestSupport
import SwiftData
import Testing

enum Lent1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Shelf.self, Book.self, Novel.self] }

  @Model final class Shelf {
    var number: Int
    @Relationship(deleteRule: .noAction, inverse: \Book.shelf) var books: [Book] = []
    init(_ number: Int) { self.number = number }
  }

  @Model class Book {
    var title: String
    var shelf: Shelf?
    init(_ title: String) { self.title = title }
  }

  @Model final class Novel: Book {
    var pages = 1
    override init(_ title: String) { super.init(title) }
  }
}

/// The reference has become required.
enum Lent2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Shelf.self, Book.self, Novel.self] }

  @Model final class Shelf {
    var number: Int
    @Relationship(deleteRule: .noAction, inverse: \Book.shelf) var books: [Book] = []
    init(_ number: Int) { self.number = number }
  }

  @Model class Book {
    var title: String
    var shelf: Shelf
    init(_ title: String, _ shelf: Shelf) {
      self.title = title
      self.shelf = shelf
    }
  }

  @Model final class Novel: Book {
    var pages = 1
    override init(_ title: String, _ shelf: Shelf) { super.init(title, shelf) }
  }
}

private protocol LentPlan: SchemaMigrationPlan {
  static var stage: MigrationStage { get }
}

extension LentPlan {
  static var schemas: [any VersionedSchema.Type] { [Lent1.self, Lent2.self] }
  static var stages: [MigrationStage] { [stage] }
}

private enum LightPlan: LentPlan {
  static var stage: MigrationStage {
    .lightweight(fromVersion: Lent1.self, toVersion: Lent2.self)
  }
}

private enum IdlePlan: LentPlan {
  static var stage: MigrationStage {
    .custom(
      fromVersion: Lent1.self, toVersion: Lent2.self, willMigrate: nil,
      didMigrate: { context in _ = try context.fetchCount(FetchDescriptor<Lent2.Shelf>()) })
  }
}

private enum MendingPlan: LentPlan {
  static var stage: MigrationStage {
    .custom(
      fromVersion: Lent1.self, toVersion: Lent2.self,
      willMigrate: { context in
        let shelf = Lent1.Shelf(9)
        context.insert(shelf)
        for book in try context.fetch(FetchDescriptor<Lent1.Book>()) where book.shelf == nil {
          book.shelf = shelf
        }
      }, didMigrate: nil)
  }
}

/// References that a deletion with the rule `noAction` left to a row that is gone, in a migration after which they are
/// required.
///
/// Only rows without a reference refused the migration. The others came through, and each later change of such an object
/// could not be saved.
@Suite struct LeftReferenceTests {
  private let directory: TemporaryDirectory
  private let url: URL
  private static var plans: [(any SchemaMigrationPlan.Type)?] {
    [nil, LightPlan.self, IdlePlan.self]
  }

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("lent.store")
  }

  /// Makes a store of four books on two shelves, and deletes one of them.
  private func fill(losing lost: Set<String>) throws {
    let container = try ModelContainer(
      for: Schema(versionedSchema: Lent1.self), configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    let shelves = [Lent1.Shelf(1), Lent1.Shelf(2)]
    for shelf in shelves { context.insert(shelf) }
    for title in ["a", "b"] {
      for book in [Lent1.Book("book \(title)"), Lent1.Novel("novel \(title)")] {
        context.insert(book)
        book.shelf = shelves[lost.contains(book.title) ? 1 : 0]
      }
    }
    try context.save()
    let other = ModelContext(container)
    let gone = FetchDescriptor<Lent1.Shelf>(predicate: #Predicate { $0.number == 2 })
    for shelf in try other.fetch(gone) { other.delete(shelf) }
    try other.save()
  }

  private func open(_ plan: (any SchemaMigrationPlan.Type)?) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: Lent2.self), migrationPlan: plan,
      configurations: ModelConfiguration(url: url))
  }

  @Test(arguments: plans.indices, [["book b"], ["novel a"], ["novel b", "book b"]])
  func `a reference to a row that is gone refuses the migration as an empty one does`(
    plan: Int, lost: [String]
  ) throws {
    try fill(losing: Set(lost))
    let error = #expect(throws: SwiftDataError.self) { try open(Self.plans[plan]) }
    let message = error?.message ?? ""
    for (name, book) in [("Book", "book"), ("Novel", "novel")] {
      let isLost = lost.contains { $0.hasPrefix(book) }
      #expect(message.contains("\(name).shelf") == isLost, "\(message)")
    }
  }

  @Test(arguments: plans.indices)
  func `references to rows that exist migrate, and the objects can be saved`(plan: Int) throws {
    try fill(losing: [])
    try check(open(Self.plans[plan]))
  }

  @Test func `a stage that gives each object a destination migrates`() throws {
    try fill(losing: ["book b", "novel a"])
    try check(open(MendingPlan.self))
  }

  private func check(_ container: ModelContainer) throws {
    let context = ModelContext(container)
    let books = try context.fetch(FetchDescriptor<Lent2.Book>())
    #expect(books.count == 4 && books.allSatisfy { $0.shelf.number > 0 })
    for book in books { book.title += "!" }
    try context.save()
    #expect(try container.check().problems.isEmpty)
  }
}
