public import SwiftData

/// Several relationships that name one to-one property as their inverse, two lists and a single object.
@Model public final class Yard {
  public var number: Int
  public var score: Int
  @Attribute(.unique) public var name: String?
  @Relationship(deleteRule: .cascade, inverse: \Plant.yard) public var beds: [Plant] = []
  @Relationship(deleteRule: .nullify, inverse: \Plant.yard) public var herbs: [Plant] = []
  @Relationship(deleteRule: .nullify, inverse: \Plant.yard) public var favorite: Plant?

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}

/// The same within one class.
@Model public final class Plant {
  public var number: Int
  public var score: Int
  @Attribute(.unique) public var name: String?
  public var yard: Yard?
  @Relationship(deleteRule: .nullify, inverse: \Plant.host) public var moss: [Plant] = []
  @Relationship(deleteRule: .cascade, inverse: \Plant.host) public var shoots: [Plant] = []
  public var host: Plant?

  public init(number: Int, score: Int) {
    self.number = number
    self.score = score
  }
}
