extension CustomStore {
  /// The store's transactions that match; nil when it has none of their type.
  func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
    func fetch<S: HistoryProviding>(_ store: S) throws -> [T]? {
      guard let descriptor = descriptor as? HistoryDescriptor<S.HistoryType> else { return nil }
      return try store.fetchHistory(descriptor) as? [T]
    }
    return try mirror.exclusively { try (store as? any HistoryProviding).flatMap { try fetch($0) } }
  }

  /// Deletes the store's transactions that match; returns false when it has none of their type.
  func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
    func delete<S: HistoryProviding>(_ store: S) throws -> Bool {
      guard let descriptor = descriptor as? HistoryDescriptor<S.HistoryType> else { return false }
      try store.deleteHistory(descriptor)
      return true
    }
    return try mirror.exclusively {
      try (store as? any HistoryProviding).map { try delete($0) } ?? false
    }
  }
}
