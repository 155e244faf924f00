import Foundation
import SwiftData

// A model with the name of a type of Swift's own library, as beginners' tutorials have it.

@Model
class Task {
  var title: String
  var isCompleted: Bool
  var createdAt: Date
  var completedAt: Date?
  var priority: Int
  var project: Project?

  init(title: String, isCompleted: Bool = false, priority: Int = 0) {
    self.title = title
    self.isCompleted = isCompleted
    self.createdAt = .now
    self.priority = priority
  }
}

@Model
class Project {
  var name: String
  @Relationship(deleteRule: .cascade) var tasks: [Task] = []

  init(name: String) {
    self.name = name
  }
}

@Model
class User {
  @Attribute(.unique) var email: String
  @Attribute(.externalStorage) var avatarData: Data?
  @Attribute(.spotlight) var name: String
  @Transient var isEditing = false
  var createdAt: Date

  init(email: String, name: String) {
    self.email = email
    self.name = name
    self.createdAt = .now
  }
}

/// Every property with a default, as syncing asks for.
@Model
class SyncedTask {
  var title: String = ""
  var isCompleted: Bool = false
  var createdAt: Date = Date.now
  var notes: String? = nil

  init(title: String) {
    self.title = title
  }
}

@Model
class Photo {
  var caption: String
  var filePath: String

  @Transient
  var fileURL: URL {
    URL.documentsDirectory.appendingPathComponent(filePath)
  }

  init(caption: String, filePath: String) {
    self.caption = caption
    self.filePath = filePath
  }
}
