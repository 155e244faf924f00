/// What `$theme` gives of a property `@Preference(\.theme) var theme`: its changes, to be awaited.
///
/// ```swift
/// for await change in reader.$theme { redraw(change.new) }
/// ```
public struct PreferenceProjection<Value>: Sendable {
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
