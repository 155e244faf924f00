import Foundation
import SwiftData

@Model final class Folder {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .cascade, inverse: \Note.folder) var notes: [Note] = []

  init(_ name: String) { self.name = name }
}

@Model final class Note {
  var title: String
  var text: String = ""
  var count: Int = 0
  var rating: Double?
  var date: Date = Date(timeIntervalSinceReferenceDate: 0)
  var flags: [String] = []
  var data: Data?
  @Attribute(.externalStorage) var photo: Data?
  var folder: Folder?
  @Relationship(inverse: \Tag.notes) var tags: [Tag] = []

  init(_ title: String) { self.title = title }
}

@Model final class Tag {
  @Attribute(.unique) var name: String
  var notes: [Note] = []

  init(_ name: String) { self.name = name }
}
