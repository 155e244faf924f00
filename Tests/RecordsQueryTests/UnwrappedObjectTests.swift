import Foundation
import SwiftData
import Testing

@testable import SteadRecords

/// Where `!` or `as!` found no object, the negation of `is`, a comparison of a required reference behind it, or of a choice
/// with it, matched in the store. Where `as?` behind `!` gave nil, a comparison that holds matched nothing.
///
/// A predicate is never run as Swift: the casts that fail are what is tested.
@Suite struct UnwrappedObjectTests {
  @Model final class Keeper {
    var name: String
    @Relationship(inverse: \Creature.keeper) var creatures: [Creature] = []
    init(name: String) { self.name = name }
  }

  @Model class Creature {
    var name: String
    var isOdd = false
    var friend: Creature?
    var rival: Creature?
    var hound: Hound?
    var keeper: Keeper
    var guests: [Keeper] = []
    init(name: String, keeper: Keeper) {
      self.name = name
      self.keeper = keeper
    }
  }

  @Model class Hound: Creature {
    override init(name: String, keeper: Keeper) { super.init(name: name, keeper: keeper) }
  }

  @Model final class Pup: Hound {
    override init(name: String, keeper: Keeper) { super.init(name: name, keeper: keeper) }
  }

  /// One of each class with each combination of a friend, who is of either class or none, and a rival.
  private static func makeContext() throws -> ModelContext {
    let context = ModelContext(
      try ModelContainer(
        for: Creature.self, Hound.self, Pup.self, Keeper.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let keepers = ["one", "two"].map { Keeper(name: $0) }
    for keeper in keepers { context.insert(keeper) }
    let hounds = [
      Hound(name: "hound", keeper: keepers[0]), Pup(name: "pup", keeper: keepers[1]),
    ]
    let friends = [Creature(name: "creature", keeper: keepers[0])] + hounds
    for friend in friends { context.insert(friend) }
    for (index, friend) in ([nil] + friends).enumerated() {
      for (other, rival) in ([nil] + friends).enumerated() {
        let creature =
          (index + other) % 2 == 0
          ? Creature(name: "\(index) \(other)", keeper: keepers[index % 2])
          : Hound(name: "\(index) \(other)", keeper: keepers[index % 2])
        context.insert(creature)
        (creature.friend, creature.rival) = (friend, rival)
        creature.hound = other == 3 ? nil : hounds[index % 2]
        creature.isOdd = other % 2 == 1
        creature.guests = index == 1 ? keepers : []
      }
    }
    hounds[0].rival = friends[0]
    hounds[1].friend = hounds[0]
    try context.save()
    return context
  }

  typealias Case = (String, Predicate<Creature>)

  // A predicate is never run as Swift: the casts that fail are what is tested.
  private static let classes: [Case] = [
    ("! is", #Predicate { $0.friend! is Hound }),
    ("! is sub", #Predicate { $0.friend! is Pup }),
    ("? is", #Predicate { $0.friend is Hound }),
    ("own is", #Predicate { $0.hound! is Pup }),
    ("as! is", #Predicate { ($0.friend as! Hound) is Pup }),
    ("! as! is", #Predicate { ($0.friend! as! Hound) is Pup }),
    ("! as? is", #Predicate { ($0.friend! as? Hound) is Pup }),
    ("? as? is", #Predicate { ($0.friend as? Hound) is Pup }),
    ("! required is", #Predicate { $0.friend!.friend! is Hound }),
    ("self as! is", #Predicate { ($0 as! Hound).friend! is Hound }),
    ("choice is", #Predicate { ($0.isOdd ? $0.friend! : $0) is Hound }),
    ("other is", #Predicate { ($0.friend ?? $0.rival!) is Hound }),
  ]

  // A predicate is never run as Swift: the casts that fail are what is tested.
  private static let comparisons: [Case] = [
    ("!", #Predicate { $0.friend! == $0.rival! }),
    ("! nil", #Predicate { $0.friend! == $0.rival }),
    ("! as?", #Predicate { ($0.friend! as? Hound) == $0.hound }),
    ("! as? !=", #Predicate { ($0.friend! as? Hound) != $0.hound }),
    ("? as?", #Predicate { ($0.friend as? Hound) != $0.hound }),
    ("! as? nil", #Predicate { ($0.friend! as? Hound) == nil }),
    ("as!", #Predicate { ($0.friend as! Hound) != $0.hound }),
    ("! as!", #Predicate { ($0.friend! as! Hound) != $0.hound }),
    // Of what the compiler warns of.
    (
      "as! own",
      Predicate {
        let friend = PredicateExpressions.build_KeyPath(root: $0, keyPath: \Creature.friend)
        return PredicateExpressions.build_NotEqual(
          lhs: PredicateExpressions.build_KeyPath(
            root: PredicateExpressions.ForceCast<_, Creature>(friend), keyPath: \.keeper),
          rhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: \.keeper))
      }
    ),
    ("own as", #Predicate { ($0.hound! as Creature) != $0.rival }),
    ("self as!", #Predicate { ($0 as! Hound).keeper != $0.friend!.keeper }),
    ("! optional", #Predicate { $0.friend!.rival == $0.rival }),
    ("! optional nil", #Predicate { $0.friend!.rival == nil }),
    ("! optional !=", #Predicate { $0.friend!.rival != $0.friend }),
    ("choice", #Predicate { ($0.isOdd ? $0.friend! : $0.rival!) != $0.hound?.rival }),
    ("other", #Predicate { ($0.friend ?? $0.rival!) != $0.hound?.rival }),
    ("other nil", #Predicate { ($0.friend ?? $0.rival) != $0.hound?.rival }),
  ]

  // A predicate is never run as Swift: the casts that fail are what is tested.
  private static func makeCapturedCases(_ hound: Hound, _ keeper: Keeper) -> [Case] {
    [
      ("is !", #Predicate { $0.hound! == hound }),
      ("isn't !", #Predicate { $0.hound! != hound }),
      ("isn't ! as?", #Predicate { ($0.friend! as? Hound) != hound }),
      ("isn't ? as?", #Predicate { ($0.friend as? Hound) != hound }),
      ("isn't ! as!", #Predicate { ($0.friend! as! Hound) != hound }),
      ("isn't required", #Predicate { $0.friend!.keeper != keeper }),
      ("isn't optional", #Predicate { $0.friend!.hound != hound }),
    ]
  }

  // A predicate is never run as Swift: the casts that fail are what is tested.
  private static func makeIdentifierCases(_ id: PersistentIdentifier) -> [Case] {
    let (none, some): ([PersistentIdentifier], [PersistentIdentifier]) = ([], [id])
    return [
      ("required", #Predicate { $0.friend!.keeper.persistentModelID == id }),
      ("required !=", #Predicate { $0.friend!.keeper.persistentModelID != id }),
      ("required of as!", #Predicate { ($0 as! Hound).keeper.persistentModelID != id }),
      ("required of both", #Predicate { ($0.friend as! Hound).keeper.persistentModelID != id }),
      ("required of own", #Predicate { $0.hound!.keeper.persistentModelID != id }),
      ("required of twice", #Predicate { $0.friend!.friend!.keeper.persistentModelID != id }),
      ("none", #Predicate { none.contains($0.friend!.keeper.persistentModelID) }),
      ("some", #Predicate { some.contains($0.friend!.keeper.persistentModelID) }),
      ("none of as!", #Predicate { none.contains(($0.friend as! Hound).keeper.persistentModelID) }),
      ("guests", #Predicate { $0.guests.contains($0.friend!.keeper) }),
      ("guests of as!", #Predicate { $0.guests.contains(($0.friend as! Hound).keeper) }),
      ("name", #Predicate { $0.friend!.keeper.name == "one" }),
      ("creatures", #Predicate { $0.friend!.keeper.creatures.contains($0) }),
      ("creatures of as!", #Predicate { ($0.friend as! Hound).keeper.creatures.isEmpty }),
    ]
  }

  @Test(arguments: [false, true])
  func `a condition on an object that was unwrapped or cast means what it means in memory`(
    isEdited: Bool
  ) throws {
    let context = try Self.makeContext()
    let creatures = try context.fetch(FetchDescriptor<Creature>())
    if isEdited { for creature in creatures { creature.name += "!" } }
    let keeper = try #require(try context.fetch(FetchDescriptor<Keeper>()).first)
    let hound = try #require(try context.fetch(FetchDescriptor<Hound>()).first)
    let cases =
      Self.classes + Self.comparisons + Self.makeCapturedCases(hound, keeper)
      + Self.makeIdentifierCases(keeper.persistentModelID)
    for (name, predicate) in cases {
      let checked = predicate.expression.checkedOrSame()
      func names(_ expected: Bool) -> [String] {
        creatures.filter { creature in
          (try? checked.evaluate(PredicateBindings((predicate.variable, creature)))) == expected
        }.map(\.name).sorted()
      }
      func found(_ predicate: Predicate<Creature>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name).sorted()
      }
      #expect(try found(predicate) == names(true), "\(name)")
      #expect(try found(#Predicate { !predicate.evaluate($0) }) == names(false), "not \(name)")
      #expect(
        try found(#Predicate { predicate.evaluate($0) == false }) == names(false), "\(name) false")
    }
  }
}
