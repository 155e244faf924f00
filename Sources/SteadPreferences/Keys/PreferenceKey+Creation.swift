// If a type's value can use several initialisers, the order is: its own form as a PreferenceValue, its raw
// value, its Codable form. `@_disfavoredOverload` on all but the first, and one initialiser for types that
// are both raw and Codable, make the compiler choose so.

extension Preferences.Key {
  /// Makes a key with a default for when nothing is stored, which is computed whenever it is needed.
  @inlinable
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: PreferenceValue {
    self.init(name: name, bridge: NativeBridge<Value>.self, makeDefault: value)
  }

  /// Makes a key whose value is stored as its raw value.
  @inlinable @_disfavoredOverload
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: RawRepresentable, Value.RawValue: PreferenceValue {
    self.init(name: name, bridge: RawBridge<Value>.self, makeDefault: value)
  }

  /// Makes a key whose value is stored as the tree of its `Codable` form.
  @inlinable @_disfavoredOverload
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: Codable {
    self.init(name: name, bridge: CodableBridge<Value>.self, makeDefault: value)
  }

  /// Makes a key whose value is stored as its raw value, though it is also `Codable`.
  @inlinable @_disfavoredOverload
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: RawRepresentable & Codable, Value.RawValue: PreferenceValue {
    self.init(name: name, bridge: RawBridge<Value>.self, makeDefault: value)
  }
}

extension Preferences.Key {
  /// Makes a key whose value is nil while nothing is stored; setting nil removes the key.
  @inlinable
  public init<Wrapped: PreferenceValue>(_ name: String) where Value == Wrapped? {
    self.init(
      name: name, bridge: OptionalBridge<NativeBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }

  /// Makes a key whose value is stored as its raw value, nil while nothing is stored.
  @inlinable @_disfavoredOverload
  public init<Wrapped: RawRepresentable>(_ name: String)
  where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
    self.init(
      name: name, bridge: OptionalBridge<RawBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }

  /// Makes a key whose value is stored as the tree of its `Codable` form, nil while nothing is stored.
  @inlinable @_disfavoredOverload
  public init<Wrapped: Codable>(_ name: String) where Value == Wrapped? {
    self.init(
      name: name, bridge: OptionalBridge<CodableBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }

  /// Makes a key whose value is stored as its raw value, though it is also `Codable`.
  @inlinable @_disfavoredOverload
  public init<Wrapped: RawRepresentable & Codable>(_ name: String)
  where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
    self.init(
      name: name, bridge: OptionalBridge<RawBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }
}

extension Preferences.Key {
  /// The default of an optional. It is created here since a `Sendable` closure cannot be created where the
  /// type is known to conform to anything: the conformance might belong to an actor.
  @usableFromInline
  static func nothing<Wrapped>() -> @Sendable () -> Value where Value == Wrapped? { { nil } }
}
