import Foundation
import SwiftData

@Model final class Task {
  @Attribute(.unique) var id: UUID
  var title: String
  var createdAt: Date

  init(title: String) {
    (id, self.title, createdAt) = (UUID(), title, .now)
  }
}

func makeTasks(in store: URL) throws -> ModelContainer {
  try ModelContainer(for: Task.self, configurations: ModelConfiguration(url: store))
}
