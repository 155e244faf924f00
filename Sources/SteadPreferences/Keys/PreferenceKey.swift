extension Preferences {
  /// Where an app declares its typed keys, each a computed property of an extension.
  ///
  /// ```swift
  /// extension Preferences.Keys {
  ///   var theme: Preferences.Key<Theme> { .init("theme", default: .system) }
  ///   var lastVisit: Preferences.Key<Date?> { .init("lastVisit") }
  /// }
  ///
  /// preferences[\.theme] = .dark
  /// ```
  public struct Keys: Sendable {
    /// Makes the keys; the subscript of ``Preferences`` makes one of these, which stores nothing.
    @inlinable
    public init() {}
  }

  /// The name of a preference, with the type of its value and the default while nothing is stored.
  ///
  /// Any ``PreferenceValue`` will do, as will a type that is `RawRepresentable` or `Codable` and
  /// knows nothing about preferences; ``PreferenceValue`` documents which form comes first. A key
  /// is cheap to create and allocates nothing, unless its default captures something.
  public struct Key<Value>: Sendable {
    /// The name under which the value is stored.
    public let name: String
    @usableFromInline let bridge: any PreferenceBridge<Value>.Type
    @usableFromInline let makeDefault: @Sendable () -> Value
    /// The earlier names and types, in the order in which they are looked up.
    @usableFromInline var migrations: [KeyMigration<Value>]

    @usableFromInline
    init(
      name: String, bridge: any PreferenceBridge<Value>.Type,
      makeDefault: @escaping @Sendable () -> Value
    ) {
      self.name = name
      self.bridge = bridge
      self.makeDefault = makeDefault
      migrations = []
    }

    /// The value while nothing is stored, computed again each time.
    public var defaultValue: Value { makeDefault() }
  }
}

// MARK: - Initializers

// If a type's value can use several initialisers, the order is: its own form as a PreferenceValue,
// its raw value, its Codable form. `@_disfavoredOverload` on all but the first, and one initialiser
// for types that are both raw and Codable, make the compiler choose so.

extension Preferences.Key {
  /// Makes a key with a default for when nothing is stored, which is computed whenever it is
  /// needed.
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

  /// Makes a key whose value is stored as the tree of its `Codable` form, nil while nothing is
  /// stored.
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

  /// The default of an optional.
  ///
  /// Made here, where nothing is known of `Wrapped`: where a type is known to conform to a
  /// protocol, the compiler refuses a `Sendable` closure that captures it, since the conformance
  /// might belong to an actor.
  @usableFromInline
  static func nothing<Wrapped>() -> @Sendable () -> Value where Value == Wrapped? { { nil } }
}

// MARK: - Names

extension Preferences {
  /// The name of a key, declared once and used with a leading dot: `.isFirstLaunch`.
  ///
  /// ```swift
  /// extension Preferences.Name {
  ///   static let isFirstLaunch: Self = "isFirstLaunch"
  /// }
  /// ```
  public struct Name: RawRepresentable, Hashable, Sendable {
    /// The name as stored.
    public let rawValue: String

    /// Makes a name.
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}

extension Preferences.Name: ExpressibleByStringInterpolation {
  /// Makes a name from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension Preferences.Name: CustomStringConvertible {
  /// The name as stored.
  public var description: String { rawValue }
}
