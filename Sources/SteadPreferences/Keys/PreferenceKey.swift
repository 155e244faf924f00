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

// MARK: - Earlier names and types

/// A name, a type or both that a key's value had in an earlier version of the app.
@usableFromInline
struct KeyMigration<Value>: Sendable {
  /// The earlier name; nil for the key's current name.
  let name: String?
  /// Reads the earlier value and converts it; nil if the type is the same.
  let conversion: Conversion?

  /// Reads a value of the old type, and makes one of the new type of it.
  struct Conversion: Sendable {
    /// Whether a stored value has exactly the form of the old type. Reading alone does not tell: a
    /// string can be read as a number.
    let matches: @Sendable (PropertyList) -> Bool
    /// Decodes and converts a stored value.
    let convert: @Sendable (PropertyList) throws -> Value
  }
}

extension Preferences.Key {
  /// The same key, whose value is also looked up under an earlier name.
  ///
  /// A value found there in the app's domain is moved to the key's own name at the first read or
  /// write, unchanged: one that does not decode is moved as well, never lost. If both names have a
  /// value, the key's own counts, and the other one stays. Arguments and registered defaults under
  /// the old name rank below everything under the key's own. A read takes some 5 times as long as
  /// one without an old name, so remove the old name once no user can have a value there any more.
  ///
  /// ```swift
  /// var theme: Preferences.Key<Theme> { .init("theme", default: .system).renamed(from: "colours") }
  /// ```
  public func renamed(from name: String) -> Self {
    adding(KeyMigration(name: name, conversion: nil))
  }

  /// The same key, whose value had another name and another type earlier.
  ///
  /// ```swift
  /// .init("timeoutInSeconds", default: 30.0).renamed(from: "timeout", as: Int.self) { Double($0) / 1_000 }
  /// ```
  public func renamed<Old: PreferenceValue>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyMigration(name: name, conversion: .init(NativeBridge<Old>.self, convert)))
  }

  /// The same key, whose value had another name and was stored as its raw value.
  @_disfavoredOverload
  public func renamed<Old: RawRepresentable & SendableMetatype>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyMigration(name: name, conversion: .init(RawBridge<Old>.self, convert)))
  }

  /// The same key, whose value had another name and was stored in its `Codable` form.
  @_disfavoredOverload
  public func renamed<Old: Codable & SendableMetatype>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyMigration(name: name, conversion: .init(CodableBridge<Old>.self, convert)))
  }

  /// The same key, whose value had another name and was stored as its raw value, though it is
  /// `Codable`.
  @_disfavoredOverload
  public func renamed<Old: RawRepresentable & Codable & SendableMetatype>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyMigration(name: name, conversion: .init(RawBridge<Old>.self, convert)))
  }

  // MARK: - Types

  /// The same key, whose value had another type earlier.
  ///
  /// A stored value in exactly the form of the key's own type is read as such. Otherwise, one in
  /// exactly the form of `Old` is converted, and in the app's domain replaced by the result. So the
  /// two types must be stored differently; if they are not, like seconds and milliseconds, give the
  /// key a new name and use `renamed(from:as:convert:)`. If `convert` throws, the value does not
  /// decode: it stays unchanged, and the default applies.
  ///
  /// ```swift
  /// var theme: Preferences.Key<Theme> {
  ///   .init("theme", default: .system).migrating(from: Bool.self) { $0 ? .dark : .light }
  /// }
  /// ```
  public func migrating<Old: PreferenceValue>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyMigration(name: nil, conversion: .init(NativeBridge<Old>.self, convert)))
  }

  /// The same key, whose value was stored as the raw value of another type.
  @_disfavoredOverload
  public func migrating<Old: RawRepresentable & SendableMetatype>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyMigration(name: nil, conversion: .init(RawBridge<Old>.self, convert)))
  }

  /// The same key, whose value was stored as the `Codable` form of another type.
  @_disfavoredOverload
  public func migrating<Old: Codable & SendableMetatype>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyMigration(name: nil, conversion: .init(CodableBridge<Old>.self, convert)))
  }

  /// The same key, whose value was stored as the raw value of another type, though it is `Codable`.
  @_disfavoredOverload
  public func migrating<Old: RawRepresentable & Codable & SendableMetatype>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyMigration(name: nil, conversion: .init(RawBridge<Old>.self, convert)))
  }

  /// A copy of the key with one more step. Keys are values, so the declared one is unchanged.
  private func adding(_ step: KeyMigration<Value>) -> Self {
    var key = self
    key.migrations.append(step)
    return key
  }
}

extension KeyMigration.Conversion {
  fileprivate init<Bridge: PreferenceBridge>(
    _ bridge: Bridge.Type, _ convert: @escaping @Sendable (Bridge.Value) throws -> Value
  ) {
    matches = { stored in bridge.stores(stored) }
    self.convert = { stored in try convert(try bridge.decode(stored)) }
  }
}

extension PreferenceBridge {
  /// Whether a stored value has exactly the form that the type writes: it decodes and encodes to
  /// itself.
  static func stores(_ stored: PropertyList) -> Bool {
    guard let value = try? decode(stored) else { return false }
    return (try? encode(value)) == stored
  }
}

extension Preferences.Key {
  // MARK: - Decoding

  /// The value stored under the key's own name, and whether it was converted from an earlier type.
  ///
  /// In this order: a value in exactly the form of the key's type; one in exactly the form of an
  /// earlier type; one that the key's type can read; one that an earlier type can read. The exact
  /// forms come first, since the lenient reading of one type may accept a value of another.
  ///
  /// - Throws: The error of the key's own type if none can read it.
  func read(_ stored: PropertyList) throws -> (value: Value, isConverted: Bool) {
    // The usual case: no earlier type, or the value is in the new form already.
    guard migrations.contains(where: { $0.name == nil }), !bridge.stores(stored) else {
      return (try bridge.decode(stored), false)
    }
    let conversions = migrations.compactMap { $0.name == nil ? $0.conversion : nil }
    if let old = conversions.first(where: { $0.matches(stored) }) {
      return (try old.convert(stored), true)
    }
    do {
      return (try bridge.decode(stored), false)
    } catch {
      // Lenient, in the order of declaration: such as an argument of the command line, which is
      // always a string.
      for old in conversions {
        if let value = try? old.convert(stored) { return (value, true) }
      }
      throw error
    }
  }

  /// The value's earlier names, each with the conversion for values stored there; nil for none.
  var oldNames: [(name: String, conversion: KeyMigration<Value>.Conversion?)] {
    migrations.compactMap { step in step.name.map { ($0, step.conversion) } }
  }
}

// MARK: - Reading and moving

extension Preferences {
  /// The value of a key with earlier names or types; nil when nothing is stored under any.
  ///
  /// Moves and converts the writable domain's value. If that fails, as on a disk that is full or
  /// read-only, the value is used nevertheless, and stays as it is.
  @usableFromInline
  func migratedValue<Value>(of key: Key<Value>) throws -> Value? {
    migrateOldNames(of: key)
    if let stored = propertyList(forKey: key.name) {
      let (value, isConverted) = try key.read(stored)
      // Only if the stored value is still the same one; and only in the writable domain, where
      // `apply` writes.
      if isConverted, let converted = try key.bridge.encode(value) {
        _ = try? apply(
          [DomainEdit(key: key.name, value: converted)],
          ifStill: [DomainEdit(key: key.name, value: stored)])
      }
      return value
    }
    for old in key.oldNames {
      guard let stored = propertyList(forKey: old.name) else { continue }
      return try old.conversion.map { try $0.convert(stored) } ?? key.read(stored).value
    }
    return nil
  }

  /// Moves the writable domain's value from an old name to the key's own, if that has none.
  ///
  /// One change with a condition, so that several processes may do it at once. A value that cannot
  /// be converted stays under its old name.
  func migrateOldNames<Value>(of key: Key<Value>) {
    let domain = writableDomain
    // A value under the new name is newer.
    guard domain.value(forKey: key.name) == nil else { return }
    for old in key.oldNames {
      guard let stored = domain.value(forKey: old.name) else { continue }
      // nil if the conversion throws, or if the new type stores nothing for the value.
      let moved =
        try? old.conversion.map { try key.bridge.encode(try $0.convert(stored)) } ?? stored
      guard let moved else { continue }
      _ = try? apply(
        [DomainEdit(key: key.name, value: moved), DomainEdit(key: old.name, value: nil)],
        ifStill: [
          DomainEdit(key: key.name, value: nil), DomainEdit(key: old.name, value: stored),
        ])
    }
  }
}
