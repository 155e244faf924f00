import SwiftData

/// A tree: one class on both sides of a relationship that cascades.
@Model final class Folder {
  var name: String
  var parent: Folder?
  @Relationship(deleteRule: .cascade, inverse: \Folder.parent) var children: [Folder] = []

  init(name: String, children: [Folder] = []) {
    self.name = name
    self.children = children
  }
}

/// A relationship with a smallest and a largest number of objects.
@Model final class Crew {
  var name: String
  @Relationship(minimumModelCount: 1, maximumModelCount: 3, inverse: \Pilot.crew)
  var pilots: [Pilot] = []

  init(name: String) { self.name = name }
}

@Model final class Pilot {
  var name: String
  var crew: Crew?

  init(name: String) { self.name = name }
}

extension TestStore {
  static func folders(_ place: StorePlace) throws -> TestStore { try TestStore(place, Folder.self) }

  static func teams(_ place: StorePlace) throws -> TestStore {
    try TestStore(place, Crew.self, Pilot.self)
  }
}
