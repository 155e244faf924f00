import Foundation
import SwiftData
import Testing

/// Where a test's store lies. Whatever the store can change is tested in both places.
package enum StorePlace: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory, file

  package var testDescription: String { self == .memory ? "in memory" : "on file" }
}

/// A store with a container, in a directory of its own.
package final class TestStore: Sendable {
  package let place: StorePlace
  package let schema: Schema
  package let container: ModelContainer
  private let file: StoreFile

  package var url: URL { file.url }
  package var directory: URL { file.directory }

  /// A store on file, as an app has it.
  package convenience init(_ types: any PersistentModel.Type...) throws {
    try self.init(.file, Schema(types))
  }

  package convenience init(_ place: StorePlace, _ types: any PersistentModel.Type...) throws {
    try self.init(place, Schema(types))
  }

  package convenience init(_ place: StorePlace, _ types: [any PersistentModel.Type]) throws {
    try self.init(place, Schema(types))
  }

  private init(_ place: StorePlace, _ schema: Schema) throws {
    self.place = place
    self.schema = schema
    file = try StoreFile()
    let configuration =
      place == .memory
      ? ModelConfiguration(isStoredInMemoryOnly: true) : ModelConfiguration(url: file.url)
    container = try ModelContainer(for: schema, configurations: configuration)
  }

  /// A new context, which sees only what was saved.
  package func context() -> ModelContext { ModelContext(container) }

  /// What another launch of the program would see: a container of its own on the same file, or, in
  /// memory, a new context.
  package func reopened() throws -> ModelContext {
    place == .file ? ModelContext(try secondContainer()) : context()
  }

  /// Another container on the same file.
  package func secondContainer() throws -> ModelContainer {
    try ModelContainer(for: schema, configurations: ModelConfiguration(url: url))
  }
}
