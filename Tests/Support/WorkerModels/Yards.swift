public import SwiftData

/// What two processes and plain SQL write by turns. Objects are called by their numbers, in every process.
@Model public final class Yard {
  @Attribute(.unique) public var number: Int
  @Attribute(.preserveValueOnDeletion) public var name: String
  public var note: String?
  @Relationship(deleteRule: .cascade, inverse: \Barrel.yard) public var barrels: [Barrel] = []

  public init(number: Int, name: String) {
    self.number = number
    self.name = name
  }
}

@Model public final class Barrel {
  @Attribute(.unique) public var number: Int
  public var litres: Double?
  public var yard: Yard?
  @Relationship(inverse: \Seal.barrels) public var seals: [Seal] = []

  public init(number: Int, litres: Double?) {
    self.number = number
    self.litres = litres
  }
}

@Model public final class Seal {
  @Attribute(.unique) public var number: Int
  public var barrels: [Barrel] = []

  public init(number: Int) { self.number = number }
}

@Model public final class Permit {
  @Attribute(.unique) public var number: Int
  @Attribute(.preserveValueOnDeletion) public var text: String

  public init(number: Int, text: String) {
    self.number = number
    self.text = text
  }
}
