import SwiftData

/// A list of things to do. Its name is unique, also among devices.
@Model public final class TodoList {
  @Attribute(.unique) public var name: String
  @Relationship(deleteRule: .cascade, inverse: \Todo.list) public var todos: [Todo] = []

  public init(_ name: String) { self.name = name }
}

/// Something to do.
@Model public final class Todo {
  public var title: String
  public var note: String = ""
  public var isDone: Bool = false
  public var list: TodoList?

  public init(_ title: String) { self.title = title }
}
