import Foundation
import SwiftData

/// Fetching and saving for any model.
struct Repository<Model: PersistentModel> {
  let context: ModelContext

  func all(sortedBy sort: SortDescriptor<Model>...) throws -> [Model] {
    try context.fetch(FetchDescriptor<Model>(sortBy: sort))
  }

  func first(where predicate: Predicate<Model>) throws -> Model? {
    var descriptor = FetchDescriptor<Model>(predicate: predicate)
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  func count(where predicate: Predicate<Model>? = nil) throws -> Int {
    try context.fetchCount(FetchDescriptor<Model>(predicate: predicate))
  }

  func page(
    _ number: Int, size: Int, sortedBy sort: SortDescriptor<Model>
  ) throws -> [Model] {
    var descriptor = FetchDescriptor<Model>(sortBy: [sort])
    descriptor.fetchLimit = size
    descriptor.fetchOffset = number * size
    return try context.fetch(descriptor)
  }

  func add(_ models: Model...) throws {
    for model in models { context.insert(model) }
    try context.save()
  }

  func remove(where predicate: Predicate<Model>) throws {
    try context.delete(model: Model.self, where: predicate)
  }
}
