import Foundation
public import SwiftData

/// The side of every relationship that has the delete rules.
@Model public final class Person {
  public var number: Int
  public var score: Int
  public var note: String?
  @Attribute(.unique) public var name: String?
  @Relationship(deleteRule: .nullify, inverse: \Item.keeper) public var kept: [Item] = []
  @Relationship(deleteRule: .cascade, inverse: \Item.maker) public var made: [Item] = []
  @Relationship(deleteRule: .deny, inverse: \Item.debtor) public var debts: [Item] = []
  @Relationship(deleteRule: .noAction, inverse: \Item.subject) public var rumors: [Item] = []
  @Relationship(deleteRule: .cascade, inverse: \Card.holder) public var card: Card?
  @Relationship(deleteRule: .nullify, inverse: \Card.guest) public var pass: Card?
  @Relationship(deleteRule: .nullify, inverse: \Tag.people) public var tags: [Tag] = []
  @Relationship(deleteRule: .nullify, inverse: \Tag.owner) public var owned: [Tag] = []
  @Relationship(deleteRule: .cascade, inverse: \Person.parent) public var children: [Person] = []
  public var parent: Person?
  @Relationship(deleteRule: .nullify, inverse: PeerPath.peers) public var peers: [Person] = []

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}

/// A relationship that is its own inverse can't be named inside its own declaration.
enum PeerPath {
  static var peers: AnyKeyPath { \Person.peers }
}

/// The other side, and what has no inverse.
@Model public final class Item {
  public var number: Int
  public var score: Int
  public var note: String?
  @Attribute(.unique) public var name: String?
  public var keeper: Person?
  public var maker: Person?
  public var debtor: Person?
  public var subject: Person?
  public var place: Place?
  public var places: [Place] = []

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}

@Model public final class Card {
  public var number: Int
  public var score: Int
  @Attribute(.unique) public var name: String?
  public var holder: Person?
  public var guest: Person?

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}

/// Has a unique property, and a pair of properties that is unique.
@Model public final class Tag {
  #Unique<Tag>([\.name], [\.row, \.column])
  public var number: Int
  public var score: Int
  public var name: String?
  public var row: Int?
  public var column: Int?
  public var people: [Person] = []
  public var owner: Person?

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}

@Model public final class Place {
  public var number: Int
  public var score: Int
  @Attribute(.unique) public var name: String?

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}
