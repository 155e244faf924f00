extension UserDefault where Value: Sendable {
  /// Calls a handler with each change of the property, until the token is released or cancelled.
  ///
  /// The old value is nil when nothing was stored, or nothing that decodes; in that case the new one is the
  /// default. The handler runs like that of ``Preferences/observe(_:includingOwn:_:)-(String,_,_)``.
  ///
  /// ```swift
  /// let token = storage.$isFirstLaunch.observe { old, new in print(old, new) }
  /// storage.isFirstLaunch = false  // nil false
  /// ```
  @_disfavoredOverload
  public func observe(
    _ change: @escaping @Sendable (_ old: Value?, _ new: Value) -> Void
  ) -> PreferenceObservation {
    preferences.observe(key) { [initial] told in change(told.old, told.new ?? initial) }
  }

  /// Calls a handler with each change of an optional property, until the token is released or cancelled.
  public func observe<Wrapped: Sendable>(
    _ change: @escaping @Sendable (_ old: Wrapped?, _ new: Wrapped?) -> Void
  ) -> PreferenceObservation where Value == Wrapped? {
    preferences.observe(key) { [initial] told in
      change(told.old ?? nil, told.new ?? initial)
    }
  }

  /// The changes of the property as an asynchronous sequence, which begins with this call.
  public var changes: TypedPreferenceChanges<Value> {
    TypedPreferenceChanges(
      stored: preferences.changes(for: key.name),
      decoder: ChangeDecoder(ChangeDecoder(key: key, preferences: preferences), initial: initial))
  }
}
