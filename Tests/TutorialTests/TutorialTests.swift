import Foundation
import SteadTestSupport
import SwiftData
import Testing

@Suite("Models as tutorials write them") @MainActor struct TutorialTests {
  private func inMemory(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func `a to-do list lives on autosave`() async throws {
    let container = try inMemory(Task.self, Project.self)
    let store = TaskStore(container: container)
    store.addTask(title: "Water the plants")
    store.addTask(title: "Call Zoë", priority: 5)
    store.addTask(title: "Pay", priority: 3)
    let context = container.mainContext
    try context.save()
    #expect(store.tasks.map(\.title) == ["Pay", "Call Zoë", "Water the plants"])
    #expect(store.highPriorityTasks.map(\.title) == ["Call Zoë", "Pay"])
    #expect(try store.searchTasks(matching: "zoe").map(\.title) == ["Call Zoë"])
    #expect(try store.searchTasks(matching: "PLANTS").count == 1)
    store.toggleTask(try #require(store.tasks.first))
    store.markAsCompleted(try #require(store.tasks.last))
    try context.save()
    #expect(store.incompleteTasks.map(\.title) == ["Call Zoë"])
    try store.deleteCompletedTasks()
    store.deleteTask(try #require(store.incompleteTasks.first))
    #expect(try context.fetchCount(FetchDescriptor<Task>()) == 0)
    // Without a call of save, the end of the turn saves.
    for _ in 0..<2 { await _Concurrency.Task { @MainActor in }.value }
    #expect(!context.hasChanges)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Task>()) == 0)
  }

  @Test func `a project takes its tasks along`() throws {
    let container = try inMemory(Project.self, Task.self)
    let context = container.mainContext
    let project = Project(name: "Home")
    context.insert(project)
    project.tasks = [Task(title: "Paint"), Task(title: "Sweep", isCompleted: true)]
    let other = Task(title: "Alone")
    context.insert(other)
    #expect(project.tasks.allSatisfy { $0.project === project })
    try context.save()
    context.delete(project)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Task>()).map(\.title) == ["Alone"])
  }

  @Test func `users are known by their email`() throws {
    let url = directory.file("tutorial.store")
    let container = try ModelContainer(for: User.self, configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    let user = User(email: "ann@example.org", name: "Ann Example")
    user.avatarData = Data(repeating: 7, count: 200_000)
    user.isEditing = true
    context.insert(user)
    context.insert(User(email: "bob@example.org", name: "Bob"))
    try context.save()
    context.insert(User(email: "ann@example.org", name: "Ann Renamed"))
    try context.save()
    let reader = ModelContext(
      try ModelContainer(for: User.self, configurations: ModelConfiguration(url: url)))
    let users = try reader.fetch(FetchDescriptor<User>(sortBy: [SortDescriptor(\.email)]))
    #expect(users.map(\.name) == ["Ann Renamed", "Bob"])
    #expect(users[0].avatarData == nil)
    #expect(!users[0].isEditing)
    #expect(try reader.search(User.self, for: "renamed").map(\.model.email) == ["ann@example.org"])
  }

  @Test func `defaults and computed properties need no store`() throws {
    let container = try inMemory(SyncedTask.self, Photo.self)
    let context = container.mainContext
    context.insert(SyncedTask(title: "a"))
    context.insert(Photo(caption: "Sea", filePath: "sea.jpg"))
    try context.save()
    let task = try #require(try context.fetch(FetchDescriptor<SyncedTask>()).first)
    #expect(task.notes == nil)
    #expect(!task.isCompleted)
    let photo = try #require(try context.fetch(FetchDescriptor<Photo>()).first)
    #expect(photo.fileURL.lastPathComponent == "sea.jpg")
  }

  @Test func `a task is migrated by its plan`() throws {
    let url = directory.file("tutorial.store")
    do {
      let container = try ModelContainer(
        for: Schema(versionedSchema: TaskSchemaV1.self),
        configurations: ModelConfiguration(url: url))
      let context = ModelContext(container)
      context.insert(TaskSchemaV1.Task(title: "  Paint ", isDone: true))
      context.insert(TaskSchemaV1.Task(title: "Sweep"))
      try context.save()
    }
    let container = try ModelContainer(
      for: Schema(versionedSchema: TaskSchemaV2.self), migrationPlan: TaskMigrationPlan.self,
      configurations: ModelConfiguration(url: url))
    let tasks = try ModelContext(container).fetch(
      FetchDescriptor<TaskSchemaV2.Task>(sortBy: [SortDescriptor(\.title)]))
    #expect(tasks.map(\.title) == ["Paint", "Sweep"])
    #expect(tasks.map(\.isCompleted) == [true, false])
    #expect(tasks.map(\.length) == [5, 5])
  }

  @Test func `drafts move from the preferences`() throws {
    let suite = "stead-drafts-\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: suite))
    defer { defaults.removePersistentDomain(forName: suite) }
    defaults.set(["first", "second"], forKey: DraftList.legacyKey)
    let container = try inMemory(Draft.self)
    let list = DraftList(context: container.mainContext, defaults: defaults)
    list.migrateUserPreferencesDrafts()
    try container.mainContext.save()
    #expect(Set(list.drafts.map(\.content)) == ["first", "second"])
    #expect(defaults.stringArray(forKey: DraftList.legacyKey) == nil)
    list.migrateUserPreferencesDrafts()
    list.onDelete(IndexSet(integer: 0))
    try container.mainContext.save()
    #expect(list.drafts.map(\.content) == ["first"])
  }
}
