extension Preferences {
  /// Calls a handler with each change of a key's effective value.
  ///
  /// A write that changes nothing, or that an earlier domain in the search list hides, isn't a change.
  /// Changes by other processes and edits of the file are delivered as they occur, without polling.
  ///
  /// Changes are delivered one after the other, in order: this process's own on the thread that made them, or
  /// on one that is delivering an earlier change at that time; others on a background thread. A handler may
  /// set preferences; observers are notified of that after it has returned. Two handlers that keep undoing
  /// each other's changes never end. An observation that begins while earlier changes of its key are still
  /// being delivered receives those, too.
  ///
  /// The cost of a write grows with the observers of its keys, not with those of other keys.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - includingOwn: false for changes by other processes only.
  ///   - handler: The function to call. It is released when the observation ends.
  /// - Returns: An object that keeps the observation alive; keep it.
  public func observe(
    _ key: String, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observe([key], includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of one of several keys, once for each key that changed.
  ///
  /// Otherwise it works as ``observe(_:includingOwn:_:)-(String,_,_)``.
  public func observe(
    _ keys: [String], includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observers.observe(keys, includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of any key.
  ///
  /// Otherwise it works as ``observe(_:includingOwn:_:)-(String,_,_)``. Each key that changed is remembered
  /// with its value until the observation ends.
  public func observe(
    includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observers.observe(nil, includingOwn: includingOwn, handler)
  }
}

extension Preferences {
  /// The changes of a key as an asynchronous sequence; see ``PreferenceChanges`` for what a slow consumer gets.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - includingOwn: false for changes by other processes only.
  public func changes(for key: String, includingOwn: Bool = true) -> PreferenceChanges {
    changes(for: [key], includingOwn: includingOwn)
  }

  /// The changes of several keys as an asynchronous sequence.
  public func changes(for keys: [String], includingOwn: Bool = true) -> PreferenceChanges {
    PreferenceChanges { [observers] handler in
      observers.observe(keys, includingOwn: includingOwn, handler)
    }
  }

  /// The changes of all keys as an asynchronous sequence.
  public var changes: PreferenceChanges { changes() }

  /// The changes of all keys as an asynchronous sequence, optionally without this process's own.
  public func changes(includingOwn: Bool = true) -> PreferenceChanges {
    PreferenceChanges { [observers] handler in
      observers.observe(nil, includingOwn: includingOwn, handler)
    }
  }
}
