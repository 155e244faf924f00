import Foundation
import SwiftData

/// A page that is known by its key, and where it is from.
@Model final class ConflictPage {
  @Attribute(.unique) var key: String
  var text: String
  var origin: ConflictOrigin?

  init(_ key: String, _ text: String, _ origin: ConflictOrigin? = nil) {
    self.key = key
    self.text = text
    self.origin = origin
  }
}

/// One of the things that pages are from, known by its name.
@Model final class ConflictOrigin {
  @Attribute(.unique) var name: String
  var note: String
  @Relationship(inverse: \ConflictPage.origin) var pages: [ConflictPage] = []

  init(_ name: String, _ note: String) {
    self.name = name
    self.note = note
  }
}

/// Earlier models, in which keys may come twice.
enum EarlierModels {
  @Model final class ConflictPage {
    var key: String
    var text: String
    var origin: ConflictOrigin?

    init(_ key: String, _ text: String, _ origin: ConflictOrigin? = nil) {
      self.key = key
      self.text = text
      self.origin = origin
    }
  }

  @Model final class ConflictOrigin {
    var name: String
    var note: String
    @Relationship(inverse: \ConflictPage.origin) var pages: [ConflictPage] = []

    init(_ name: String, _ note: String) {
      self.name = name
      self.note = note
    }
  }
}

extension ModelContainer {
  static func pages() throws -> ModelContainer {
    try ModelContainer(
      for: ConflictPage.self, ConflictOrigin.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  /// Every page's key, text, and origin.
  func describePages() throws -> [String] {
    try all(ConflictPage.self).map { page in
      let origin = page.origin.map { " from \($0.name): \($0.note)" } ?? ""
      return "\(page.key)=\(page.text)\(origin)"
    }.sorted()
  }

  func fillPages(_ texts: [String: String], origin: ConflictOrigin? = nil) throws {
    let context = ModelContext(self)
    for (key, text) in texts { context.insert(ConflictPage(key, text, origin)) }
    try context.save()
  }
}
