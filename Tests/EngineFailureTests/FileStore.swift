// For all files of this target.
@_exported import Foundation
@_exported import SteadTestSupport
@_exported import SwiftData
@_exported import Testing

/// A store on a file of its own, as an app has it. It goes with the last reference.
final class FileStore: Sendable {
  private let directory: TemporaryDirectory
  let container: ModelContainer
  private let types: [any PersistentModel.Type]

  var url: URL { directory.file("test.store") }

  init(_ types: any PersistentModel.Type...) throws {
    directory = try TemporaryDirectory()
    self.types = types
    container = try ModelContainer(
      for: Schema(types),
      configurations: ModelConfiguration(url: directory.file("test.store")))
  }

  /// A new context, which sees only what was saved.
  func context() -> ModelContext { ModelContext(container) }

  /// What another launch of the program would see.
  func reopened() throws -> ModelContext { ModelContext(try secondContainer()) }

  /// Another container on the same file.
  func secondContainer() throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: ModelConfiguration(url: url))
  }
}

extension ModelContext {
  func all<T: PersistentModel>(_ type: T.Type = T.self) throws -> [T] {
    try fetch(FetchDescriptor<T>())
  }

  /// The only object of a class.
  func only<T: PersistentModel>(_ type: T.Type = T.self) throws -> T {
    let models = try all(type)
    try #require(models.count == 1)
    return models[0]
  }

  /// The only object that matches.
  func only<T: PersistentModel>(_ predicate: Predicate<T>) throws -> T {
    let models = try fetch(FetchDescriptor(predicate: predicate))
    try #require(models.count == 1)
    return models[0]
  }

  /// The object that this context has for one of another context.
  func twin<T: PersistentModel>(of model: T) throws -> T {
    try #require(self.model(for: model.persistentModelID) as? T)
  }

  func insertAll(_ models: any PersistentModel...) {
    for model in models { insert(model) }
  }
}

/// A message and what it is about, when a save is refused.
func refusal(of context: ModelContext) throws -> SwiftDataError {
  let error = #expect(throws: SwiftDataError.self) { try context.save() }
  return try #require(error)
}
