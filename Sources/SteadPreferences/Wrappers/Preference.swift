/// A property whose value is a typed key's in preferences.
///
/// ```swift
/// struct Reader {
///   @Preference(\.theme) var theme
/// }
/// reader.theme = .dark
/// for await change in reader.$theme { redraw(change.new) }
/// ```
///
/// Nothing is stored in the property: each read and each write goes to the preferences, so all properties of
/// one key agree. Works in structs, classes and actors, and may be used on any thread.
@propertyWrapper
public struct Preference<Value: Sendable>: Sendable {
  @usableFromInline let key: Preferences.Key<Value>
  @usableFromInline let store: Preferences?

  /// A property with the value of a key that ``Preferences/Keys`` declares.
  ///
  /// - Parameters:
  ///   - path: The key.
  ///   - store: The preferences; nil means ``Preferences/standard``.
  @inlinable
  public init(
    _ path: KeyPath<Preferences.Keys, Preferences.Key<Value>>, store: Preferences? = nil
  ) {
    self.init(Preferences.Keys()[keyPath: path], store: store)
  }

  /// A property with the value of a key.
  public init(_ key: Preferences.Key<Value>, store: Preferences? = nil) {
    self.key = key
    self.store = store
  }

  @usableFromInline var preferences: Preferences { store ?? .standard }

  /// The value, as the subscript of ``Preferences`` reads and writes it.
  @inlinable
  public var wrappedValue: Value {
    get { preferences[key] }
    nonmutating set { preferences[key] = newValue }
  }

  /// The property's changes, and other operations on it.
  public var projectedValue: PreferenceProjection<Value> {
    PreferenceProjection(key: key, preferences: preferences)
  }
}
