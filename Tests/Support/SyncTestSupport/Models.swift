import Foundation
import SwiftData

@Model package final class Folder {
  @Attribute(.unique) package var name: String
  @Relationship(deleteRule: .cascade, inverse: \Note.folder) package var notes: [Note] = []

  package init(_ name: String) { self.name = name }
}

@Model package final class Note {
  package var title: String
  package var text: String = ""
  package var count: Int = 0
  package var plays: Int = 0
  package var best: Double?
  package var words: [String] = []
  package var rating: Double?
  package var date: Date = Date(timeIntervalSinceReferenceDate: 0)
  package var flags: [String] = []
  package var data: Data?
  @Attribute(.externalStorage) package var photo: Data?
  package var folder: Folder?
  @Relationship(inverse: \Tag.notes) package var tags: [Tag] = []

  package init(_ title: String) { self.title = title }
}

@Model package final class Tag {
  @Attribute(.unique) package var name: String
  package var notes: [Note] = []

  package init(_ name: String) { self.name = name }
}

@Model package final class Box {
  package var name: String
  @Relationship(deleteRule: .deny, inverse: \Item.box) package var items: [Item] = []

  package init(_ name: String) { self.name = name }
}

@Model package final class Item {
  package var name: String
  package var box: Box?

  package init(_ name: String) { self.name = name }
}
