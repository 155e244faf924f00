import Foundation
import SwiftData
import Testing

@Model final class Token {
  @Attribute(.unique) var name: String
  var count: Int

  init(_ name: String, _ count: Int) {
    self.name = name
    self.count = count
  }
}

@Model final class Parent {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Child.parent) var children: [Child] = []

  init(_ name: String) { self.name = name }
}

@Model final class Child {
  var name: String
  var parent: Parent

  init(_ name: String, _ parent: Parent) {
    self.name = name
    self.parent = parent
  }
}

@Model final class Mention {
  var parent: Parent
  init(_ parent: Parent) { self.parent = parent }
}

@Model final class Club {
  @Relationship(deleteRule: .deny, inverse: \Member.club) var members: [Member] = []
  init() {}
}

@Model final class Member {
  var club: Club?
  init(_ club: Club) { self.club = club }
}

@Model final class Boat {
  @Relationship(maximumModelCount: 2, inverse: \Rower.boat) var rowers: [Rower] = []
  init() { rowers = [] }
}

@Model final class Rower {
  var boat: Boat?
  init(_ boat: Boat) { self.boat = boat }
}

/// What two programs do to one store at the same time, and what it has then.
struct Contest: Sendable, CustomTestStringConvertible {
  typealias Step = @Sendable (ModelContext) throws -> Void

  let testDescription: String
  var before: Step = { _ in }
  /// What the other program saves.
  let theirs: Step
  /// What the context saves that has loaded the objects from before.
  let mine: Step
  var error: SwiftDataError?
  let result: [String]

  static let types: [any PersistentModel.Type] = [
    Token.self, Parent.self, Child.self, Mention.self, Club.self, Member.self, Boat.self,
    Rower.self, Note.self,
  ]

  /// All objects of a store.
  static func content(_ context: ModelContext) throws -> [String] {
    let tokens = try context.fetch(FetchDescriptor<Token>()).map { "token \($0.name) \($0.count)" }
    let parents = try context.fetch(FetchDescriptor<Parent>()).map {
      "parent \($0.name) \($0.children.map(\.name).sorted())"
    }
    let children = try context.fetch(FetchDescriptor<Child>()).map {
      "child \($0.name) \($0.parent.name)"
    }
    let mentions = try context.fetch(FetchDescriptor<Mention>()).map { "mention \($0.parent.name)" }
    let clubs = try context.fetch(FetchDescriptor<Club>()).map { "club \($0.members.count)" }
    let boats = try context.fetch(FetchDescriptor<Boat>()).map { "boat \($0.rowers.count)" }
    let notes = try context.fetch(FetchDescriptor<Note>()).map { "note \($0.text)" }
    return (tokens + parents + children + mentions + clubs + boats + notes).sorted()
  }

  private static func token(_ name: String, _ context: ModelContext) throws -> Token? {
    try context.fetch(FetchDescriptor<Token>()).first { $0.name == name }
  }

  private static func parent(_ context: ModelContext, _ body: (Parent) -> Void) throws {
    try context.fetch(FetchDescriptor<Parent>()).forEach(body)
  }

  private static let addParent: Step = { $0.insert(Parent("p")) }
  private static let deleteParent: Step = { context in
    try parent(context) { context.delete($0) }
  }
  private static let addMention: Step = { context in
    try parent(context) { context.insert(Mention($0)) }
  }
  private static let addMember: Step = { context in
    try context.fetch(FetchDescriptor<Club>()).forEach { context.insert(Member($0)) }
  }
  private static let addRower: Step = { context in
    try context.fetch(FetchDescriptor<Boat>()).forEach { context.insert(Rower($0)) }
  }

  private static func addToken(_ name: String, _ count: Int) -> Step {
    { $0.insert(Token(name, count)) }
  }

  static let keys = [
    Contest(
      testDescription: "one new key", theirs: addToken("a", 1), mine: addToken("a", 2),
      result: ["token a 2"]),
    Contest(
      testDescription: "a key that was free", before: addToken("b", 0), theirs: addToken("a", 1),
      mine: { try token("b", $0)?.name = "a" }, error: .modelValidationFailure,
      result: ["token a 1", "token b 0"]),
    Contest(
      testDescription: "a key that was taken", before: addToken("a", 0),
      theirs: { try token("a", $0)?.name = "b" }, mine: addToken("a", 2),
      result: ["token a 2", "token b 0"]),
    Contest(
      testDescription: "an object that is made again", before: addToken("a", 0),
      theirs: { context in
        try token("a", context).map { context.delete($0) }
        context.insert(Token("a", 1))
      }, mine: addToken("a", 2), result: ["token a 2"]),
    Contest(
      testDescription: "keys that trade places",
      before: { context in
        for (name, count) in [("a", 1), ("b", 2)] { context.insert(Token(name, count)) }
      },
      theirs: { context in
        for token in try context.fetch(FetchDescriptor<Token>()) {
          token.name = token.name == "a" ? "b" : "a"
        }
      }, mine: addToken("a", 3), result: ["token a 3", "token b 1"]),
  ]

  static let links = [
    Contest(
      testDescription: "a child of a parent that is deleted", before: addParent,
      theirs: deleteParent,
      mine: { context in try parent(context) { context.insert(Child("c", $0)) } },
      error: .modelValidationFailure, result: []),
    Contest(
      testDescription: "an edit of a child whose parent is deleted",
      before: { $0.insert(Child("c", Parent("p"))) }, theirs: deleteParent,
      mine: { try $0.fetch(FetchDescriptor<Child>()).first?.name = "d" }, result: []),
    Contest(
      testDescription: "a mention of a parent that is deleted", before: addParent,
      theirs: deleteParent, mine: addMention, error: .modelValidationFailure, result: []),
    Contest(
      testDescription: "the parent of a new child", before: addParent,
      theirs: { context in try parent(context) { context.insert(Child("c", $0)) } },
      mine: deleteParent, result: []),
    Contest(
      testDescription: "the parent of a new mention", before: addParent, theirs: addMention,
      mine: deleteParent, error: .modelValidationFailure, result: ["mention p", "parent p []"]),
    Contest(
      testDescription: "the club of a new member", before: { $0.insert(Club()) },
      theirs: addMember,
      mine: { context in try context.fetch(FetchDescriptor<Club>()).forEach(context.delete) },
      error: .deletionDenied, result: ["club 1"]),
    Contest(
      testDescription: "the last place in a boat",
      before: { context in
        let boat = Boat()
        context.insert(boat)
        context.insert(Rower(boat))
      }, theirs: addRower, mine: addRower, error: .modelValidationFailure, result: ["boat 2"]),
    Contest(
      testDescription: "two notes", theirs: { $0.insert(Note("a")) },
      mine: { $0.insert(Note("b")) }, result: ["note a", "note b"]),
  ]
}
