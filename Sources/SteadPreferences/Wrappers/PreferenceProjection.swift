/// What `$theme` gives of a property `@Preference(\.theme) var theme`: its changes, to be awaited.
///
/// ```swift
/// for await change in reader.$theme { redraw(change.new) }
/// ```
public struct PreferenceProjection<Value: Sendable>: Sendable {
  let key: Preferences.Key<Value>
  let preferences: Preferences

  /// Whether a value was chosen: whether any domain but the registered defaults has one.
  public var isSet: Bool { preferences.isSet(key) }

  /// Removes what is stored, so that the default counts again.
  public func reset() { preferences.reset(key) }

  /// The value as something to read and write, for a control that knows nothing of preferences.
  public var binding: PreferenceBinding<Value> {
    PreferenceBinding {
      preferences[key]
    } set: { value in
      preferences[key] = value
    }
  }
}

extension PreferenceProjection: AsyncSequence {
  /// A change and what the value was before.
  public typealias Element = PreferenceChange<Value>
  /// It cannot fail.
  public typealias Failure = Never

  /// The changes from now on.
  public func makeAsyncIterator() -> TypedPreferenceChanges<Value>.Iterator {
    changes.makeAsyncIterator()
  }

  /// The changes from now on: what is set after this was made and before the first `await` is not missed.
  public var changes: TypedPreferenceChanges<Value> { preferences.changes(for: key) }

  /// Calls a handler with each change, until the token is let go or cancelled.
  public func observe(
    includingOwn: Bool = true, _ handler: @escaping @Sendable (PreferenceChange<Value>) -> Void
  ) -> PreferenceObservation {
    preferences.observe(key, includingOwn: includingOwn, handler)
  }
}
