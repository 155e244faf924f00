#if !canImport(SwiftUI)
  // SwiftUI has an initialiser for each type. Each form of declaration that these accept is accepted here; a
  // type with a raw value of `Int` or `String` is stored as that, even if it is also a `PreferenceValue`.

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
    /// A property that is nil while nothing is stored: `@AppStorage("lastSync") var lastSync: Date?`.
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
