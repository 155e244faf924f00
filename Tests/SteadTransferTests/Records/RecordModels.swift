import Foundation
import SteadRecords
import SwiftData

enum NoteMood: String, Codable { case calm, bright }

struct NoteSize: Codable, Equatable {
  var width: Double
  var height: Double
}

@Model final class NoteDraft {
  var text: String
  var number: Int
  var created: Date
  @Relationship(deleteRule: .cascade, inverse: \NoteRemark.draft) var remarks: [NoteRemark] = []
  @Relationship(inverse: \NoteLabel.drafts) var labels: [NoteLabel] = []

  init(text: String, number: Int = 0, created: Date = Date(timeIntervalSinceReferenceDate: 5)) {
    self.text = text
    self.number = number
    self.created = created
  }
}

@Model final class NoteRemark {
  var text: String
  var draft: NoteDraft?

  init(_ text: String) { self.text = text }
}

@Model final class NoteLabel {
  @Attribute(.unique) var title: String
  var drafts: [NoteDraft] = []

  init(_ title: String) { self.title = title }
}

@Model final class NotePhoto {
  var title: String
  @Attribute(.externalStorage) var image: Data?
  var path: String?

  init(title: String, image: Data? = nil) {
    self.title = title
    self.image = image
  }
}

@Model final class NotePin {
  /// Without an inverse.
  var remark: NoteRemark?

  init(_ remark: NoteRemark) { self.remark = remark }
}

extension NotePhoto {
  /// Reads a stored property, and is none.
  var preview: Data? { image?.prefix(10) }
}

extension ModelContainer {
  static func records(at url: URL? = nil) throws -> ModelContainer {
    try ModelContainer(
      for: NoteDraft.self, NoteRemark.self, NoteLabel.self, NotePhoto.self, NotePin.self,
      configurations: url.map { ModelConfiguration(url: $0) }
        ?? ModelConfiguration(isStoredInMemoryOnly: true))
  }

  func all<T: PersistentModel>(_ type: T.Type) throws -> [T] {
    try ModelContext(self).fetch(FetchDescriptor<T>())
  }

  func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
    try ModelContext(self).fetchCount(FetchDescriptor<T>())
  }
}
