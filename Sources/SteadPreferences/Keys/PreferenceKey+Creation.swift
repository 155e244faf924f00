// Of the initialisers that a type's value can take, the order is: its own form as a PreferenceValue, its
// raw value, its Codable form. The compiler is told so by `@_disfavoredOverload` on all but the first,
// and by one initialiser for types that are raw and Codable both.

extension Preferences.Key {
  /// A key with a value while nothing is stored, which is computed whenever it is needed.
  @inlinable
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: PreferenceValue {
    self.init(name: name, bridge: NativeBridge<Value>.self, makeDefault: value)
  }

  /// A key whose value is stored as its raw value.
  @inlinable @_disfavoredOverload
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: RawRepresentable, Value.RawValue: PreferenceValue {
    self.init(name: name, bridge: RawBridge<Value>.self, makeDefault: value)
  }

  /// A key whose value is stored as the tree of its `Codable` form.
  @inlinable @_disfavoredOverload
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: Codable {
    self.init(name: name, bridge: CodableBridge<Value>.self, makeDefault: value)
  }

  /// A key whose value is stored as its raw value, though it is `Codable`, too.
  @inlinable @_disfavoredOverload
  public init(_ name: String, default value: @autoclosure @escaping @Sendable () -> Value)
  where Value: RawRepresentable & Codable, Value.RawValue: PreferenceValue {
    self.init(name: name, bridge: RawBridge<Value>.self, makeDefault: value)
  }
}

extension Preferences.Key {
  /// A key whose value is nil while nothing is stored; setting nil takes the key out.
  @inlinable
  public init<Wrapped: PreferenceValue>(_ name: String) where Value == Wrapped? {
    self.init(
      name: name, bridge: OptionalBridge<NativeBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }

  /// A key whose value is stored as its raw value, nil while nothing is stored.
  @inlinable @_disfavoredOverload
  public init<Wrapped: RawRepresentable>(_ name: String)
  where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
    self.init(
      name: name, bridge: OptionalBridge<RawBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }

  /// A key whose value is stored as the tree of its `Codable` form, nil while nothing is stored.
  @inlinable @_disfavoredOverload
  public init<Wrapped: Codable>(_ name: String) where Value == Wrapped? {
    self.init(
      name: name, bridge: OptionalBridge<CodableBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }

  /// A key whose value is stored as its raw value, though it is `Codable`, too.
  @inlinable @_disfavoredOverload
  public init<Wrapped: RawRepresentable & Codable>(_ name: String)
  where Value == Wrapped?, Wrapped.RawValue: PreferenceValue {
    self.init(
      name: name, bridge: OptionalBridge<RawBridge<Wrapped>>.self, makeDefault: Self.nothing())
  }
}

extension Preferences.Key {
  /// The default of an optional. It is made here since a closure that is `Sendable` cannot be made where
  /// the type is known to conform to anything: the conformance might belong to an actor.
  @usableFromInline
  static func nothing<Wrapped>() -> @Sendable () -> Value where Value == Wrapped? { { nil } }
}
