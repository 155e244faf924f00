#if !canImport(SwiftUI)

  /// A property that is stored in preferences, declared as with SwiftUI.
  ///
  /// ```swift
  /// @AppStorage("username") var username = "nobody"
  /// @AppStorage("theme") var theme = Theme.system
  /// @AppStorage("lastSync") var lastSync: Date?
  /// ```
  ///
  /// Where SwiftUI exists, `AppStorage` is SwiftUI's. Here the projected value is a
  /// ``PreferenceBinding``, and any ``PreferenceValue`` will do, such as `[String]`. As in SwiftUI,
  /// a type with a raw value of `Int` or `String` is stored as that, even if it is also a
  /// preference value; so an array that an app makes `RawRepresentable` through a JSON string is
  /// stored as that string.
  ///
  /// Nothing is stored in the property: each read and each write goes to the preferences. Works in
  /// structs, classes and actors. A value that does not decode reads as the default, is reported,
  /// and is kept aside before it is replaced (``Preferences/undecodableKeys(for:)``).
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

    /// The value: a read looks it up, a write stores it.
    @inlinable
    public var wrappedValue: Value {
      get { (store ?? .standard)[key] ?? initial }
      nonmutating set { (store ?? .standard)[key] = newValue }
    }

    /// A binding to the value: `$volume`.
    public var projectedValue: PreferenceBinding<Value> {
      PreferenceBinding {
        wrappedValue
      } set: { value in
        wrappedValue = value
      }
    }
  }

  extension AppStorage: Sendable where Value: Sendable {}

  // MARK: - Initializers

  // SwiftUI has an initialiser for each type. Each form of declaration that these accept is
  // accepted here; a type with a raw value of `Int` or `String` is stored as that, even if it is
  // also a `PreferenceValue`.

  extension AppStorage {
    /// A property with a default: `@AppStorage("volume") var volume = 0.5`.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value while nothing is stored.
    ///   - key: The key.
    ///   - store: The preferences; nil means ``Preferences/standard``.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value: PreferenceValue {
      self.init(key: .init(key), initial: wrappedValue, store: store)
    }

    /// A property that is stored as its whole-number raw value, with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value: RawRepresentable, Value.RawValue == Int {
      self.init(key: .raw(key), initial: wrappedValue, store: store)
    }

    /// A property that is stored as its string raw value, with a default.
    public init(wrappedValue: Value, _ key: String, store: Preferences? = nil)
    where Value: RawRepresentable, Value.RawValue == String {
      self.init(key: .raw(key), initial: wrappedValue, store: store)
    }
  }

  extension AppStorage {
    /// A property that is nil while nothing is stored: `@AppStorage("lastSync") var lastSync:
    /// Date?`.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - store: The preferences; nil means ``Preferences/standard``.
    @_disfavoredOverload
    public init<Wrapped: PreferenceValue>(_ key: String, store: Preferences? = nil)
    where Value == Wrapped? {
      self.init(key: .init(key), initial: nil, store: store)
    }

    /// A property that is stored as its whole-number raw value, nil while nothing is stored.
    public init<Wrapped: RawRepresentable>(_ key: String, store: Preferences? = nil)
    where Value == Wrapped?, Wrapped.RawValue == Int {
      self.init(key: .nested(.raw(key)), initial: nil, store: store)
    }

    /// A property that is stored as its string raw value, nil while nothing is stored.
    public init<Wrapped: RawRepresentable>(_ key: String, store: Preferences? = nil)
    where Value == Wrapped?, Wrapped.RawValue == String {
      self.init(key: .nested(.raw(key)), initial: nil, store: store)
    }
  }

  extension Preferences.Key {
    /// The key of a value that is stored as its raw value, even if it has another form of its own.
    fileprivate static func raw<Wrapped: RawRepresentable>(
      _ name: String
    ) -> Self where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
      Self(name: name, bridge: OptionalBridge<RawBridge<Wrapped>>.self, makeDefault: nothing())
    }
  }
#endif
