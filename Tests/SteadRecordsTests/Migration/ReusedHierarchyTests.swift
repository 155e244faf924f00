import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

enum Stock1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] {
    [Base.self, Sub.self, Leaf.self, Owner.self, Tag.self]
  }

  @Model class Base {
    var name = ""
    init() {}
  }

  @Model class Sub: Base {
    var size = 0
    override init() { super.init() }
  }

  @Model final class Leaf: Sub {
    var color = 0
    var tag: Tag?
    override init() { super.init() }
  }

  @Model final class Owner {
    var base: Base?
    var sub: Sub?
    init() {}
  }

  @Model final class Tag {
    var owner: Owner?
    init() {}
  }
}

/// Some classes are declared anew, and reach those of the first version.
enum Stock2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Base.self, Owner.self, Sub.self, Box.self] }
  typealias Sub = Stock1.Sub

  @Model class Base {
    var note = ""
    init() {}
  }

  /// Its superclass is the version's own.
  @Model final class Box: Base {
    var tag: Stock1.Tag?
    override init() { super.init() }
  }

  @Model final class Owner {
    var base: Base?
    var leaf: Stock1.Leaf?
    init() {}
  }

  @Model final class Tag {
    var owner: Stock1.Owner?
    var box: Box?
    init() {}
  }
}

/// Versions that reuse classes with superclasses.
///
/// A version had its own class of the name of a reused class's superclass, and reached it through a relationship. Which of
/// the two counts was decided again and again, so the schema was never complete; in other orders of the models it was,
/// with or without a superclass.
@Suite(.hangLimit) struct ReusedHierarchyTests {
  private static let classes: [String: [any PersistentModel.Type]] = [
    "Base": [Stock1.Base.self, Stock2.Base.self], "Sub": [Stock1.Sub.self],
    "Leaf": [Stock1.Leaf.self], "Box": [Stock2.Box.self],
    "Owner": [Stock1.Owner.self, Stock2.Owner.self], "Tag": [Stock1.Tag.self, Stock2.Tag.self],
  ]
  private static var owners: [(any Any.Type)?] { [Stock1.self, Stock2.self, nil] }

  private struct Outcome: Equatable {
    var models: Set<ObjectIdentifier> = []
    var replacements: [ObjectIdentifier: ObjectIdentifier] = [:]
  }

  private static func outcome(_ reached: ReachedModels) -> Outcome {
    Outcome(
      models: Set(reached.models.map { ObjectIdentifier($0.type) }),
      replacements: Dictionary(
        uniqueKeysWithValues: reached.replacements.map {
          (ObjectIdentifier($0.replaced.type), ObjectIdentifier($0.by.type))
        }))
  }

  @Test func `any models in any order reach the same classes, each with its superclass`() {
    var (random, replaced, doubled) = (SplitMix(seed: 6), 0, 0)
    for _ in 0..<Effort.times(400) {
      var named: [any PersistentModel.Type] = []
      for name in Self.classes.keys.sorted() where Int.random(in: 0..<5, using: &random) < 2 {
        named += Self.classes[name]?.randomElement(using: &random).map { [$0] } ?? []
      }
      let owner = Self.owners[Int.random(in: 0..<3, using: &random)]
      let reached = ReachedModels(named, of: owner)
      let comment: Comment = "\(named.map { String(reflecting: $0) }) of \(owner as Any)"
      let first = Self.outcome(reached)
      for _ in 0..<4 {
        named.shuffle(using: &random)
        let other = Self.outcome(ReachedModels(named, of: owner))
        #expect(other == first, "\(named.map { String(reflecting: $0) }) and \(comment)")
      }
      Self.check(reached, first, named, comment)
      // Without a version nothing decides between two classes.
      if owner != nil { doubled += Self.checkDoubled(reached, comment) }
      replaced += first.replacements.count
    }
    #expect(replaced > Effort.times(20) && doubled > Effort.times(20), "\(replaced), \(doubled)")
  }

  private static func check(
    _ reached: ReachedModels, _ outcome: Outcome, _ named: [any PersistentModel.Type],
    _ comment: Comment
  ) {
    #expect(outcome.models.count == reached.models.count, comment)
    #expect(named.allSatisfy { outcome.models.contains(ObjectIdentifier($0)) }, comment)
    #expect(outcome.models.isDisjoint(with: outcome.replacements.keys), comment)
    for model in reached.models {
      let parent = model.parent.map { ObjectIdentifier($0.type) }
      #expect(parent.map { outcome.models.contains($0) } ?? true, comment)
      for target in model.properties.compactMap(\.shape.model) {
        let id = outcome.replacements[ObjectIdentifier(target)] ?? ObjectIdentifier(target)
        #expect(outcome.models.contains(id), comment)
      }
    }
  }

  /// A name is there twice only if a class has one of both as its superclass.
  private static func checkDoubled(_ reached: ReachedModels, _ comment: Comment) -> Int {
    let parents = reached.models.compactMap { $0.parent.map { ObjectIdentifier($0.type) } }
    let doubled = Dictionary(grouping: reached.models, by: \.name).filter { $0.value.count > 1 }
    for (name, models) in doubled {
      let isParent = models.contains { parents.contains(ObjectIdentifier($0.type)) }
      #expect(isParent, "\(name) \(comment)")
    }
    return doubled.count
  }

  @Test func `a class that is reused without its superclass is refused by name`() {
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(
        for: Schema(versionedSchema: Stock2.self),
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    #expect(error?.code == .duplicateModel)
    let message = error?.message ?? ""
    #expect(message.contains("Two models of the schema are named Base"), "\(message)")
    #expect(message.contains("Stock1.Sub in the version, too"), "\(message)")
    #expect(!message.contains("Stock2.Box"), "\(message)")
  }
}
