import SwiftData

func clean(_ context: ModelContext) {
  Task.detached {
    try context.delete(model: Trip.self)
  }
}
