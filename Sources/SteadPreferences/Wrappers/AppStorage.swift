#if !canImport(SwiftUI)

  /// A property that is kept in preferences, declared as SwiftUI declares one.
  ///
  /// ```swift
  /// @AppStorage("username") var username = "nobody"
  /// @AppStorage("theme") var theme = Theme.system
  /// @AppStorage("lastSync") var lastSync: Date?
  /// ```
  ///
  /// There where SwiftUI is, `AppStorage` is SwiftUI's. Here the projected value is a
  /// ``PreferenceBinding``, and any ``PreferenceValue`` will do, such as `[String]`. A type with a raw
  /// value of `Int` or `String` is stored as that, even where it is a preference value as well, as
  /// SwiftUI has it; so an array that an app makes `RawRepresentable` by JSON text is that text.
  ///
  /// Nothing is kept in the property: each read and each write goes to the preferences. Works in structs,
  /// classes and actors. A value that does not decode reads as the default, is reported, and is kept aside
  /// before it is replaced (``Preferences/undecodableKeys(for:)``).
  @propertyWrapper
  public struct AppStorage<Value> {
    /// Nil while nothing is stored.
    @usableFromInline let key: Preferences.Key<Value?>
    @usableFromInline let initial: Value
    @usableFromInline let store: Preferences?

    init(key: Preferences.Key<Value?>, initial: Value, store: Preferences?) {
      self.key = key
      self.initial = initial
      self.store = store
    }

    /// The value.
    @inlinable
    public var wrappedValue: Value {
      get { (store ?? .standard)[key] ?? initial }
      nonmutating set { (store ?? .standard)[key] = newValue }
    }

    /// The value as something to read and write, to be handed on.
    public var projectedValue: PreferenceBinding<Value> {
      PreferenceBinding {
        wrappedValue
      } set: { value in
        wrappedValue = value
      }
    }
  }

  extension AppStorage: Sendable where Value: Sendable {}
#endif
