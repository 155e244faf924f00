import Foundation
import SwiftData

/// What a view of a to-do list does, without the view.
@MainActor
final class TaskStore {
  @Query(sort: \Task.createdAt, order: .reverse) var tasks: [Task]
  @Query(filter: #Predicate<Task> { !$0.isCompleted }) var incompleteTasks: [Task]
  @Query(filter: #Predicate<Task> { $0.priority > 2 }, sort: \Task.priority, order: .reverse)
  var highPriorityTasks: [Task]

  private let context: ModelContext

  init(container: ModelContainer) {
    context = container.mainContext
    $tasks.modelContext = context
    $incompleteTasks.modelContext = context
    $highPriorityTasks.modelContext = context
  }

  func addTask(title: String, priority: Int = 0) {
    let task = Task(title: title, priority: priority)
    context.insert(task)
  }

  func toggleTask(_ task: Task) {
    task.isCompleted.toggle()
  }

  func markAsCompleted(_ task: Task) {
    task.isCompleted = true
    task.completedAt = .now
  }

  func searchTasks(matching query: String) throws -> [Task] {
    let predicate = #Predicate<Task> { task in
      task.title.localizedStandardContains(query)
    }
    let descriptor = FetchDescriptor<Task>(
      predicate: predicate,
      sortBy: [SortDescriptor(\.createdAt, order: .reverse)]
    )
    return try context.fetch(descriptor)
  }

  func deleteTask(_ task: Task) {
    context.delete(task)
  }

  func deleteCompletedTasks() throws {
    let completed = try context.fetch(
      FetchDescriptor<Task>(predicate: #Predicate { $0.isCompleted })
    )
    for task in completed {
      context.delete(task)
    }
  }
}
