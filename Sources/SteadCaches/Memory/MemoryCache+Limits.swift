extension MemoryCache {
  /// The maximum number of values that the cache holds; `Int.max` for no limit.
  ///
  /// Lowering the limit removes values immediately. Negative numbers are 0, which keeps nothing. No cache holds more
  /// than 2,147,483,647 values.
  public var countLimit: Int {
    get { control.withLock { $0.policy.pointee.limits.count } }
    set { setLimits { $0.count = max(0, newValue) } }
  }

  /// The maximum sum of the values' costs; `Int.max` for no limit.
  ///
  /// Lowering the limit removes values immediately. Negative numbers are 0.
  public var totalCostLimit: Int {
    get { control.withLock { $0.policy.pointee.limits.cost } }
    set { setLimits { $0.cost = max(0, newValue) } }
  }

  /// How many values the cache holds, including expired ones that have not been requested since.
  public var count: Int { control.withLock { $0.policy.pointee.count } }

  /// The sum of the costs of the values that the cache holds.
  public var totalCost: Int { control.withLock { $0.policy.pointee.cost } }

  /// What the cache has done since it was made, or since ``resetStatistics()``.
  ///
  /// Hits and misses are those of ``value(for:)`` and of ``value(for:cost:timeToLive:orLoad:)``, one for each call.
  public var statistics: CacheStatistics {
    control.withLock { control in
      var statistics = CacheStatistics()
      statistics.evictions = control.policy.pointee.evictionCount
      statistics.hits = hits - control.forgottenHits
      statistics.misses = misses - control.forgottenMisses
      return statistics
    }
  }

  /// Resets the counts of ``statistics`` to zero.
  public func resetStatistics() {
    control.withLock { control in
      control.policy.pointee.resetEvictionCount()
      (control.forgottenHits, control.forgottenMisses) = (hits, misses)
    }
  }

  private func setLimits(_ change: (inout EvictionPolicy.Limits) -> Void) {
    let removed = control.withLock { control in
      var removed = Removed()
      _ = prepare(&control, &removed)
      change(&control.policy.pointee.limits)
      let nothing = EvictionPolicy.Demand(count: 0, cost: 0)
      makeRoom(for: nothing, keeping: PolicyNode.none, .evicted, &control, &removed)
      handOver(&removed, &control)
      return removed
    }
    finish(removed)
  }

  /// Drops expired entries and, of the rest, the least important, until the level's share of entries and of their cost
  /// is left.
  func respond(to level: MemoryPressure.Level) {
    let removed = control.withLock { control in
      var removed = Removed()
      _ = prepare(&control, &removed)
      let count = level.keptPart(of: control.policy.pointee.count)
      let cost = level.keptPart(of: control.policy.pointee.cost)
      while control.policy.pointee.count > count || control.policy.pointee.cost > cost,
        let number = control.policy.pointee.leastWanted()
      {
        remove(number, control.policy.pointee.hash(of: number), .pressure, &control, &removed)
      }
      shrink()
      handOver(&removed, &control)
      return removed
    }
    finish(removed)
  }
}
