import CSteadFiles
import Synchronization

extension MemoryCache {
  /// The value for a key; nil if there is none, or if its time is over.
  @inlinable public func value(for key: Key) -> Value? {
    let hash = Self.hash(key)
    let shelf = Int(truncatingIfNeeded: hash) & shelfMask
    let (value, isExpired) = shelves[shelf].withLock { table in
      table.read(key, hash, counters, idleTime: idleTime, now: { clock.nanoseconds })
    }
    if isExpired { removeExpired(key, hash) }
    return value
  }

  /// The cache's contents, including expired values; without counting or recording a use.
  var contents: [(key: Key, value: Value)] {
    (0...shelfMask).flatMap { number in
      shelves[number].withLock { table in
        (0..<table.count).map { (table.entries[$0].key, table.entries[$0].value) }
      }
    }
  }

  /// Sets the value for a key, and returns whether the cache keeps it.
  ///
  /// Other values are removed to make room. A value is not kept if it costs more than ``totalCostLimit``, if
  /// ``countLimit`` is 0 or if its time to live is not above zero. An older value of the key is removed then, too.
  ///
  /// - Parameters:
  ///   - cost: What the value costs, in the units of ``totalCostLimit``; negative numbers are 0.
  ///   - timeToLive: How long the value is returned; nil for the cache's ``timeToLive``. One that goes beyond 290
  ///     years is for ever.
  @discardableResult @inlinable public func setValue(
    _ value: Value, for key: Key, cost: Int = 1, timeToLive: Duration? = nil
  ) -> Bool {
    let (removed, isKept) = store(value, key, cost: cost, timeToLive: timeToLive)
    finish(removed)
    return isKept
  }

  /// Removes the value for a key, and returns it; nil if there was none, or if its time was over.
  @discardableResult @inlinable public func removeValue(for key: Key) -> Value? {
    let (removed, value) = take(key)
    finish(removed)
    return value
  }

  /// Removes the value for a key; what is removed must be finished when no lock is held.
  @inlinable func take(_ key: Key) -> (removed: Removed, value: Value?) {
    let hash = Self.hash(key)
    return control.withLock { control -> (Removed, Value?) in
      var removed = Removed()
      var value: Value?
      let now = prepare(&control, &removed)
      if let found = number(of: key, hash) {
        let isExpired =
          found.deadline != PolicyNode.never && found.deadline <= now ?? clock.nanoseconds
        let entry = remove(found.number, hash, isExpired ? .expired : .removed, &control, &removed)
        value = isExpired ? nil : entry
      }
      removed.forgotten = cancelKeeping(key)
      handOver(&removed, &control)
      return (removed, value)
    }
  }

  /// Removes all values, and forgets how often they were used.
  public func removeAll() {
    let removed = control.withLock { control in
      var removed = Removed()
      while let number = control.policy.pointee.leastWanted() {
        remove(number, control.policy.pointee.hash(of: number), .removed, &control, &removed)
      }
      control.policy.pointee.removeAll()
      shrink()
      removed.forgotten = flights.forgetAll()
      handOver(&removed, &control)
      return removed
    }
    finish(removed)
  }

  /// Removes the values whose time has been over for 0.13 s or longer.
  ///
  /// They are never returned, whether this is called or not; call it to free their memory sooner than the next change
  /// would.
  public func removeExpired() {
    let removed = control.withLock { control in
      var removed = Removed()
      _ = prepare(&control, &removed)
      handOver(&removed, &control)
      return removed
    }
    finish(removed)
  }
}
