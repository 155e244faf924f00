extension MemoryCache {
  /// The result of a load.
  enum Loaded: Sendable {
    /// Another load had set the value meanwhile.
    case found(Value)
    case loaded(Value, cost: Int)

    var value: Value {
      switch self {
      case .found(let value), .loaded(let value, _): value
      }
    }
  }

  /// Returns the value for a key, which is loaded and set if it is missing.
  ///
  /// ```swift
  /// let image = try await images.value(for: url, cost: \.byteCount) { try await download(url) }
  /// ```
  ///
  /// A value that is older than ``refreshAfter`` is returned, and loaded again in the background.
  ///
  /// One load runs for a key at a time, and its value goes to all who wait for it. It runs in a
  /// separate task, with the priority and the task-local values of the call that started it. A
  /// cancelled call ends at once; the load is cancelled when no call waits for it any more. The
  /// loaded value is not set if the key's value was set or removed while the load ran.
  ///
  /// - Parameters:
  ///   - cost: What a loaded value costs, in the units of ``totalCostLimit``.
  ///   - timeToLive: How long a loaded value is returned; nil for the cache's ``timeToLive``.
  ///   - load: Loads the value. It must not ask this cache for the same key, since it would wait
  ///     for itself.
  /// - Throws: What `load` throws, to all who wait; errors are not kept. `CancellationError` if the
  ///   caller's task is cancelled while it waits.
  public func value(
    for key: Key, cost: @escaping @Sendable (Value) -> Int = { _ in 1 },
    timeToLive: Duration? = nil, orLoad load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    if let value = value(for: key) {
      if refreshAfter != nil, claimRefresh(key) { refresh(key, cost, timeToLive, load) }
      return value
    }
    let loaded = try await loads.value(for: key) {
      // Again: another load may have set the value since the look-up, which has counted the request.
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

  /// A load that has failed is tried again after an eighth of ``refreshAfter``.
  private static var retryShare: Int64 { 8 }

  /// Whether the caller has to refresh a value; true for one caller each time.
  private func claimRefresh(_ key: Key) -> Bool {
    let hash = Self.hash(key)
    return shard(hash) { table in
      guard let index = table.find(key, hash),
        table.entries[index].times.refresh != PolicyNode.never,
        table.entries[index].times.refresh <= clock.nanoseconds
      else { return false }
      // Under the shard's lock, so that one caller of many claims it. A new value has a new time.
      table.entries[index].times.refresh = PolicyNode.never
      return true
    }
  }

  /// Begins a load in the background for a value that the caller has claimed.
  private func refresh(
    _ key: Key, _ cost: @escaping @Sendable (Value) -> Int, _ timeToLive: Duration?,
    _ load: @escaping @Sendable () async throws -> Value
  ) {
    let hasBegun = loads.begin(for: key) {
      do {
        let value = try await load()
        return .loaded(value, cost: cost(value))
      } catch {
        self.postponeRefresh(key)
        // Nobody waits for it, so the error goes no further.
        throw error
      }
    } keep: {
      self.keep($0, key, timeToLive, $1)
    }
    // The load that is running may be one that finds the value, and refreshes nothing.
    if !hasBegun { postponeRefresh(key) }
  }

  /// Lets a later request refresh the value; without effect on one that was set meanwhile.
  private func postponeRefresh(_ key: Key) {
    let hash = Self.hash(key)
    let time = CacheClock.sum(clock.nanoseconds, refreshTime / Self.retryShare)
    shard(hash) { table in
      guard let index = table.find(key, hash),
        table.entries[index].times.refresh == PolicyNode.never
      else { return }
      table.entries[index].times.refresh = time
    }
  }

  /// The value for a key, without counting it or recording a use.
  func peek(_ key: Key) -> Value? {
    let hash = Self.hash(key)
    return shard(hash) { $0.peek(key, hash, now: { clock.nanoseconds }) }
  }
}
