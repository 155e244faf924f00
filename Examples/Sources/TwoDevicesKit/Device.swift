import Foundation
import SteadSync
import SwiftData

/// One device: a folder with a store, settings and the credentials of an account.
public final class Device {
  /// What the devices share.
  static let todosZone = "70d05000000000000000000000000001"
  static let settingsZone = "5e771965000000000000000000000001"

  private let name: String
  private let context: ModelContext
  private let settings: NSUbiquitousKeyValueStore
  private let engine: SyncEngine

  public init(_ name: String, in folder: URL, transport: some SyncTransport) throws {
    self.name = name
    let schema = Schema([TodoList.self, Todo.self])
    let container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(
        schema: schema, url: folder.appending(path: "todos.store"), sync: .zone(Self.todosZone)))
    context = ModelContext(container)
    settings = try NSUbiquitousKeyValueStore(file: folder.appending(path: "settings.sqlite"))
    engine = try SyncEngine(
      container, keyValueStores: [Self.settingsZone: settings], transport: transport)
  }

  /// Does what a line says, and returns what there is to print.
  public func run(_ line: String) async throws -> [String] {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    switch (words.first, words.count) {
    case ("add", 3):
      let list = try list(words[1]) ?? TodoList(words[1])
      let todo = Todo(words[2])
      todo.list = list
      context.insert(todo)
    case ("note", 3): try todo(words[1])?.note = words[2]
    case ("done", 2): try todo(words[1])?.isDone = true
    case ("delete", 2): try todo(words[1]).map { context.delete($0) }
    case ("set", 3): settings.set(words[2], forKey: words[1])
    case ("sync", 1): return [try await sync()]
    case ("show", 1): return try await screen()
    default: return ["\(name) does not know \(line)"]
    }
    try context.save()
    return []
  }

  private func sync() async throws -> String {
    do {
      try await engine.syncNow()
      return "\(name) is up to date"
    } catch let error as SyncError {
      return "\(name) keeps it for later. \(error)"
    }
  }

  private func list(_ name: String) throws -> TodoList? {
    try context.fetch(FetchDescriptor<TodoList>(predicate: #Predicate { $0.name == name })).first
  }

  private func todo(_ title: String) throws -> Todo? {
    try context.fetch(FetchDescriptor<Todo>(predicate: #Predicate { $0.title == title })).first
  }

  /// Everything that the device shows, and its conflicts behind a line of their own.
  private func screen() async throws -> [String] {
    var lines: [String] = []
    let lists = FetchDescriptor<TodoList>(sortBy: [SortDescriptor(\.name)])
    for list in try context.fetch(lists) {
      lines.append(list.name)
      for todo in list.todos.sorted(by: { $0.title < $1.title }) {
        let note = todo.note.isEmpty ? "" : " (\(todo.note))"
        lines.append("  [\(todo.isDone ? "x" : " ")] \(todo.title)\(note)")
      }
    }
    for (key, value) in settings.dictionaryRepresentation.sorted(by: { $0.key < $1.key }) {
      lines.append("\(key) = \(value)")
    }
    lines.append("--")
    for conflict in try await engine.conflicts() {
      let mine = conflict.mine?.string.map { "“\($0)”" } ?? "a value"
      let theirs = conflict.theirs?.string.map { "“\($0)” is there" } ?? "it was deleted"
      if case .merged = conflict.kind {
        lines.append("\(conflict.field ?? "an edit"): \(mine) is one with another of that name")
      } else {
        lines.append("\(conflict.field ?? "an edit"): \(mine) did not stay, \(theirs)")
      }
    }
    return lines
  }
}
