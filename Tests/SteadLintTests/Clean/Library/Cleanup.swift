import Foundation
import SwiftData

func removeUnread(in container: ModelContainer, before date: Date) async throws {
  try await Task.detached(priority: .utility) {
    let context = ModelContext(container)
    try context.delete(
      model: Book.self, where: #Predicate { $0.addedAt < date && $0.rating == nil })
    try context.save()
  }.value
}
