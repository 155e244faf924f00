import Foundation
import SwiftData

@Model final class SharedTask {
  @Attribute(.unique) var id: UUID
  var title: String

  init(title: String) {
    (id, self.title) = (UUID(), title)
  }
}

func makeSharedTasks() throws -> ModelContainer {
  let group = ModelConfiguration("Tasks", groupContainer: .identifier("group.org.example"))
  return try ModelContainer(for: SharedTask.self, configurations: group)
}
