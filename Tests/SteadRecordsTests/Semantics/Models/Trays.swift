import SwiftData

/// Lists of each kind, to one class.
@Model final class Tray {
  var name: String
  /// With a to-one inverse.
  @Relationship(inverse: \Slide.tray) var slides: [Slide] = []
  /// With a to-many inverse.
  @Relationship(inverse: \Slide.lists) var listed: [Slide] = []
  /// Without an inverse.
  var noted: [Slide] = []
  /// Optional.
  @Relationship(inverse: \Slide.spare) var spares: [Slide]?

  init(name: String) { self.name = name }
}

@Model final class Slide {
  var number: Int
  var tray: Tray?
  var lists: [Tray] = []
  var spare: Tray?

  init(number: Int) { self.number = number }
}

extension TestStore {
  static func trays(_ place: StorePlace) throws -> TestStore {
    try TestStore(place, Tray.self, Slide.self)
  }
}
