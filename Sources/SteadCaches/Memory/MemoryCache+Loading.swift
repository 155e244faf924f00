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

  /// The value for a key, which is loaded and set if it is missing, or again in the background if it is older than
  /// ``refreshAfter``.
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
    if let value = value(for: key) {
      if refreshAfter != nil, claimRefresh(key) { refresh(key, cost, timeToLive, load) }
      return value
    }
    let loaded = try await flights.value(for: key) {
      if let value = self.peek(key) { return .found(value) }
      let value = try await load()
      return .loaded(value, cost: cost(value))
    } keep: {
      self.keep($0, key, timeToLive, $1)
    }
    return loaded.value
  }

  private func keep(
    _ loaded: Loaded, _ key: Key, _ timeToLive: Duration?, _ ticket: LoadTicket
  ) -> SingleFlight<Key, Loaded>.Afterwards? {
    guard case .loaded(let value, let cost) = loaded else { return nil }
    let removed = store(value, key, cost: cost, timeToLive: timeToLive, from: ticket).removed
    return { self.finish(removed) }
  }

  // MARK: - Refreshing

  /// The part of ``refreshAfter`` after which a load that has failed is tried again.
  private static var retryShare: Int64 { 8 }

  /// Whether the caller has to load a value again: for the first one after its time.
  private func claimRefresh(_ key: Key) -> Bool {
    let hash = Self.hash(key)
    return shelf(hash) { table in
      guard let place = table.find(key, hash),
        table.entries[place].times.refresh != PolicyNode.never,
        table.entries[place].times.refresh <= clock.nanoseconds
      else { return false }
      table.entries[place].times.refresh = PolicyNode.never
      return true
    }
  }

  private func refresh(
    _ key: Key, _ cost: @escaping @Sendable (Value) -> Int, _ timeToLive: Duration?,
    _ load: @escaping @Sendable () async throws -> Value
  ) {
    let hasBegun = flights.begin(for: key) {
      do {
        let value = try await load()
        return .loaded(value, cost: cost(value))
      } catch {
        self.postponeRefresh(key)
        throw error
      }
    } keep: {
      self.keep($0, key, timeToLive, $1)
    }
    // Another load may only look for the value.
    if !hasBegun { postponeRefresh(key) }
  }

  /// Makes a later request try again; without effect on a value that was set meanwhile.
  private func postponeRefresh(_ key: Key) {
    let hash = Self.hash(key)
    let time = CacheClock.sum(clock.nanoseconds, refreshTime / Self.retryShare)
    shelf(hash) { table in
      guard let place = table.find(key, hash),
        table.entries[place].times.refresh == PolicyNode.never
      else { return }
      table.entries[place].times.refresh = time
    }
  }

  /// The value for a key, without counting it or recording a use.
  func peek(_ key: Key) -> Value? {
    let hash = Self.hash(key)
    return shelf(hash) { $0.peek(key, hash, now: { clock.nanoseconds }) }
  }
}
