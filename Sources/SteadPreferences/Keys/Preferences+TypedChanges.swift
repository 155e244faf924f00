extension Preferences {
  /// Calls a handler with each change of a typed key's value, as ``observe(_:includingOwn:_:)-(String,_,_)``
  /// does for stored values.
  ///
  /// A value that does not decode is delivered as the default, and reported. A value under an old name of the
  /// key is moved first, and delivered once it is under the key's own.
  ///
  /// ```swift
  /// let token = preferences.observe(\.theme) { change in redraw(change.new) }
  /// ```
  ///
  /// - Returns: An object that keeps the observation alive; keep it.
  public func observe<Value: Sendable>(
    _ path: KeyPath<Keys, Key<Value>>, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    observe(Keys()[keyPath: path], includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of a typed key's value.
  public func observe<Value: Sendable>(
    _ key: Key<Value>, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    adoptOldNames(of: key)
    let decoder = ChangeDecoder(key: key, preferences: self)
    return observe(key.name, includingOwn: includingOwn) { change in
      handler(decoder.decode(change))
    }
  }

  /// The changes of a typed key's value as an asynchronous sequence, which begins with this call.
  ///
  /// ```swift
  /// for await change in preferences.changes(for: \.theme) { redraw(change.new) }
  /// ```
  public func changes<Value: Sendable>(
    for path: KeyPath<Keys, Key<Value>>, includingOwn: Bool = true
  ) -> TypedPreferenceChanges<Value> {
    changes(for: Keys()[keyPath: path], includingOwn: includingOwn)
  }

  /// The changes of a typed key's value as an asynchronous sequence, which begins with this call.
  public func changes<Value: Sendable>(
    for key: Key<Value>, includingOwn: Bool = true
  ) -> TypedPreferenceChanges<Value> {
    adoptOldNames(of: key)
    return TypedPreferenceChanges(
      stored: changes(for: key.name, includingOwn: includingOwn),
      decoder: ChangeDecoder(key: key, preferences: self))
  }
}
