/// The value of `$theme` for a property `@Preference(\.theme) var theme`: its changes as an asynchronous sequence.
///
/// ```swift
/// for await change in reader.$theme { redraw(change.new) }
/// ```
public struct PreferenceProjection<Value: Sendable>: Sendable {
  let key: Preferences.Key<Value>
  let preferences: Preferences

  /// Whether the key has been set: whether any domain except the registered defaults has a value.
  public var isSet: Bool { preferences.isSet(key) }

  /// Removes the stored value, so that the default applies again.
  public func reset() { preferences.reset(key) }

  /// The value as a binding, for a control that knows nothing about preferences.
  public var binding: PreferenceBinding<Value> {
    PreferenceBinding {
      preferences[key]
    } set: { value in
      preferences[key] = value
    }
  }
}

extension PreferenceProjection: AsyncSequence {
  /// A change with the value before it.
  public typealias Element = PreferenceChange<Value>
  /// It cannot fail.
  public typealias Failure = Never

  /// The changes from now on.
  public func makeAsyncIterator() -> TypedPreferenceChanges<Value>.Iterator {
    changes.makeAsyncIterator()
  }

  /// The changes from now on: values set before the first `await` are not missed.
  public var changes: TypedPreferenceChanges<Value> { preferences.changes(for: key) }

  /// Calls a handler with each change, until the token is released or cancelled.
  public func observe(
    includingOwn: Bool = true, _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    preferences.observe(key, includingOwn: includingOwn, handler)
  }
}
