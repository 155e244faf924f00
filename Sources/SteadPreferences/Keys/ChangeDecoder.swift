/// Converts stored changes to typed ones, as reads of the key would.
struct ChangeDecoder<Value: Sendable>: Sendable {
  private let read: @Sendable (PropertyList?) -> Value

  init(key: Preferences.Key<Value>, preferences: Preferences) {
    // The observed object retains its observer, which must not retain it in turn.
    read = { [weak preferences] stored in
      guard let stored else { return key.defaultValue }
      do {
        return try key.read(stored).value
      } catch {
        preferences?.reportUndecodable(error, forKey: key.name)
        return key.defaultValue
      }
    }
  }

  /// Decodes changes of a key whose value is `initial` while nothing is stored.
  init(_ decoder: ChangeDecoder<Value?>, initial: Value) {
    read = { stored in decoder.read(stored) ?? initial }
  }

  func decode(_ change: PreferenceChange<PropertyList?>) -> PreferenceChange<Value> {
    change.map(read)
  }
}
