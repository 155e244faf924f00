import SwiftData
import Testing

extension ModelContext {
  package func all<T: PersistentModel>(_ type: T.Type = T.self) throws -> [T] {
    try fetch(FetchDescriptor<T>())
  }

  package func count<T: PersistentModel>(_ type: T.Type) throws -> Int {
    try fetchCount(FetchDescriptor<T>())
  }

  /// The only object of a class, or the only one that matches.
  package func only<T: PersistentModel>(
    _ type: T.Type = T.self, where predicate: Predicate<T>? = nil
  ) throws -> T {
    let models = try fetch(FetchDescriptor(predicate: predicate))
    try #require(models.count == 1)
    return models[0]
  }

  /// The object that this context has for one of another context.
  package func twin<T: PersistentModel>(of model: T) throws -> T {
    try #require(self.model(for: model.persistentModelID) as? T)
  }

  package func insertAll(_ models: any PersistentModel...) {
    for model in models { insert(model) }
  }
}
