// The initialisers have the same order as those of typed keys; see PreferenceKey+Creation.swift.

extension UserDefault {
  /// A property with a default.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value while nothing is stored.
  ///   - key: The name, declared in an extension of ``Preferences/Name``, or a literal.
  ///   - store: The preferences; nil means ``Preferences/standard``.
  public init(wrappedValue: Value, key: Preferences.Name, store: Preferences? = nil)
  where Value: PreferenceValue {
    self.init(key: .init(key.rawValue), initial: wrappedValue, store: store)
  }

  /// A property with a default, stored as its raw value.
  @_disfavoredOverload
  public init(wrappedValue: Value, key: Preferences.Name, store: Preferences? = nil)
  where Value: RawRepresentable, Value.RawValue: PreferenceValue {
    self.init(key: .init(key.rawValue), initial: wrappedValue, store: store)
  }

  /// A property with a default, stored as the tree of its `Codable` form.
  @_disfavoredOverload
  public init(wrappedValue: Value, key: Preferences.Name, store: Preferences? = nil)
  where Value: Codable {
    self.init(key: .init(key.rawValue), initial: wrappedValue, store: store)
  }

  /// A property with a default, stored as its raw value, though it is also `Codable`.
  @_disfavoredOverload
  public init(wrappedValue: Value, key: Preferences.Name, store: Preferences? = nil)
  where Value: RawRepresentable & Codable, Value.RawValue: PreferenceValue {
    self.init(key: .init(key.rawValue), initial: wrappedValue, store: store)
  }
}

extension UserDefault {
  /// A property that has `UserDefaults`' value while nothing is stored: false, 0, an empty string, nil.
  public init(key: Preferences.Name, store: Preferences? = nil) where Value: UnsetPreferenceValue {
    self.init(key: .init(key.rawValue), initial: .whileUnset, store: store)
  }

  /// A property that is nil while nothing is stored, stored as its raw value.
  @_disfavoredOverload
  public init<Wrapped: RawRepresentable>(
    key: Preferences.Name, store: Preferences? = nil
  ) where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
    self.init(key: .nested(.init(key.rawValue)), initial: nil, store: store)
  }

  /// A property that is nil while nothing is stored, stored as the tree of its `Codable` form.
  @_disfavoredOverload
  public init<Wrapped: Codable>(
    key: Preferences.Name, store: Preferences? = nil
  ) where Value == Wrapped? {
    self.init(key: .nested(.init(key.rawValue)), initial: nil, store: store)
  }

  /// A property that is nil while nothing is stored, stored as its raw value, though it is also `Codable`.
  @_disfavoredOverload
  public init<Wrapped: RawRepresentable & Codable>(
    key: Preferences.Name, store: Preferences? = nil
  ) where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
    self.init(key: .nested(.init(key.rawValue)), initial: nil, store: store)
  }
}

extension Preferences.Key {
  /// The key of an optional, wrapped in another optional, as the wrappers store all of their keys.
  static func nested<Wrapped>(_ key: Preferences.Key<Wrapped?>) -> Self where Value == Wrapped?? {
    func nest<Bridge: PreferenceBridge<Wrapped?>>(_ bridge: Bridge.Type) -> Self {
      Self(name: key.name, bridge: OptionalBridge<Bridge>.self, makeDefault: nothing())
    }
    return nest(key.bridge)
  }
}
