extension Preferences {
  /// Calls a handler with each change of the value that counts for a key.
  ///
  /// A write that changes nothing, or that a domain before it in the search list hides, is no change.
  /// Changes of other processes and edits of the file are told as they come, without polling.
  ///
  /// Changes are told one after the other in their order: this process's own on the thread that made
  /// them, or on one that is telling an earlier change at that time; others on a background thread. A
  /// handler may set preferences; observers are told of that when it has returned. Two handlers that
  /// go on undoing what the other did never end. An observation that begins while earlier changes of
  /// its key are still being told hears of those, too.
  ///
  /// The cost of a write grows with the observers of its keys, not with those of other keys.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - includingOwn: false for changes of others only.
  ///   - handler: What to call. It is let go when the observation ends.
  /// - Returns: What keeps the observation going; keep it.
  public func observe(
    _ key: String, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observe([key], includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of one of several keys, one call for each key that changed.
  ///
  /// As ``observe(_:includingOwn:_:)-(String,_,_)`` in all else.
  public func observe(
    _ keys: [String], includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observers.observe(keys, includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of any key.
  ///
  /// As ``observe(_:includingOwn:_:)-(String,_,_)`` in all else. Each key that changed is remembered
  /// with its value until the observation ends.
  public func observe(
    includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observers.observe(nil, includingOwn: includingOwn, handler)
  }
}

extension Preferences {
  /// The changes of a key, to be awaited; see ``PreferenceChanges`` for what a slow consumer gets.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - includingOwn: false for changes of others only.
  public func changes(for key: String, includingOwn: Bool = true) -> PreferenceChanges {
    changes(for: [key], includingOwn: includingOwn)
  }

  /// The changes of several keys, to be awaited.
  public func changes(for keys: [String], includingOwn: Bool = true) -> PreferenceChanges {
    PreferenceChanges { [observers] handler in
      observers.observe(keys, includingOwn: includingOwn, handler)
    }
  }

  /// The changes of all keys, to be awaited.
  public var changes: PreferenceChanges { changes() }

  /// The changes of all keys, to be awaited; without this process's own if so asked.
  public func changes(includingOwn: Bool = true) -> PreferenceChanges {
    PreferenceChanges { [observers] handler in
      observers.observe(nil, includingOwn: includingOwn, handler)
    }
  }
}
