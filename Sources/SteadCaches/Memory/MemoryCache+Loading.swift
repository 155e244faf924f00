extension MemoryCache {
  /// What a load came to.
  enum Loaded: Sendable {
    /// Another load had set it in the meantime.
    case found(Value)
    case loaded(Value, cost: Int)

    var value: Value {
      switch self {
      case .found(let value), .loaded(let value, _): value
      }
    }
  }

  /// The value for a key, which is loaded and set if it is missing.
  ///
  /// One load runs for a key at a time, and its value goes to all who wait for it. It runs in a separate task, with the
  /// priority and the task-local values of the call that started it. A cancelled call ends at once; the load is
  /// cancelled when no call waits for it any more. The loaded value is not set if the key's value was set or removed
  /// while the load ran.
  ///
  /// - Parameters:
  ///   - cost: What a loaded value costs, in the units of ``totalCostLimit``.
  ///   - timeToLive: How long a loaded value is returned; nil for the cache's ``timeToLive``.
  ///   - load: Loads the value. It must not ask this cache for the same key, since it would wait for itself.
  /// - Throws: What `load` throws, to all who wait; errors are not kept. `CancellationError` if the caller's task is
  ///   cancelled while it waits.
  public func value(
    for key: Key, cost: @escaping @Sendable (Value) -> Int = { _ in 1 },
    timeToLive: Duration? = nil, orLoad load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    if let value = value(for: key) { return value }
    let loaded = try await flights.value(for: key) {
      if let value = self.peek(key) { return .found(value) }
      let value = try await load()
      return .loaded(value, cost: cost(value))
    } keep: { loaded, ticket in
      guard case .loaded(let value, let cost) = loaded else { return nil }
      let removed = self.store(value, key, cost: cost, timeToLive: timeToLive, from: ticket).removed
      return { self.finish(removed) }
    }
    return loaded.value
  }

  /// The value for a key, without counting it or recording a use.
  private func peek(_ key: Key) -> Value? {
    let hash = Self.hash(key)
    return shelf(hash) { $0.peek(key, hash, now: { clock.nanoseconds }) }
  }
}
