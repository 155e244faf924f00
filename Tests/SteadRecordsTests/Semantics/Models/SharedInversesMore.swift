import SwiftData

/// Two lists whose objects go with their owner, and a single object, over one to-one relationship.
@Model final class Estate {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Tree.estate) var oaks: [Tree] = []
  @Relationship(deleteRule: .cascade, inverse: \Tree.estate) var limes: [Tree] = []
  @Relationship(inverse: \Tree.estate) var landmark: Tree?

  init(name: String) { self.name = name }
}

@Model final class Tree {
  @Attribute(.unique) var name: String
  var estate: Estate?

  init(name: String) { self.name = name }
}

/// The lists of subclasses: a pear tree can be in one of them only.
@Model final class Orchard {
  @Relationship(inverse: \Fruiter.orchard) var apples: [AppleTree] = []
  @Relationship(inverse: \Fruiter.orchard) var pears: [PearTree] = []

  init() {}
}

@Model class Fruiter {
  var name: String
  var orchard: Orchard?

  init(name: String) { self.name = name }
}

@Model final class AppleTree: Fruiter {
  override init(name: String) { super.init(name: name) }
}

@Model final class PearTree: Fruiter {
  override init(name: String) { super.init(name: name) }
}

/// Two lists of the class itself.
@Model final class Colleague {
  var name: String
  var manager: Colleague?
  @Relationship(inverse: \Colleague.manager) var reports: [Colleague] = []
  @Relationship(inverse: \Colleague.manager) var trainees: [Colleague] = []

  init(name: String) { self.name = name }
}
