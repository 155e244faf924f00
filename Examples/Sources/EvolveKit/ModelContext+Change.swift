import SwiftData

extension ModelContext {
  /// Runs a block for each object that a fetch finds, and saves after each batch.
  ///
  /// So one batch is in memory at a time, however many objects there are.
  func change<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int = 1_000, block: (T) throws -> Void
  ) throws {
    var count = 0
    try enumerate(descriptor, batchSize: batchSize, allowEscapingMutations: true) { model in
      try block(model)
      count += 1
      if count.isMultiple(of: batchSize) { try save() }
    }
    try save()
  }
}
