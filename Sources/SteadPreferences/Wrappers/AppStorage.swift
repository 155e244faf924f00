#if !canImport(SwiftUI)

  /// A property that is stored in preferences, declared as with SwiftUI.
  ///
  /// ```swift
  /// @AppStorage("username") var username = "nobody"
  /// @AppStorage("theme") var theme = Theme.system
  /// @AppStorage("lastSync") var lastSync: Date?
  /// ```
  ///
  /// Where SwiftUI exists, `AppStorage` is SwiftUI's. Here the projected value is a ``PreferenceBinding``,
  /// and any ``PreferenceValue`` will do, such as `[String]`. As in SwiftUI, a type with a raw value of `Int`
  /// or `String` is stored as that, even if it is also a preference value; so an array that an app makes
  /// `RawRepresentable` through a JSON string is stored as that string.
  ///
  /// Nothing is stored in the property: each read and each write goes to the preferences. Works in structs,
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

    /// The value as a binding, to be passed on.
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
