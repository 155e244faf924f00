/// A name, a type or both that a key's value had before.
@usableFromInline
struct KeyHistory<Value>: Sendable {
  /// The name it had; nil for the name that the key has now.
  let name: String?
  /// Reads the value as it was and converts it; nil where the type is the same.
  let conversion: Conversion?

  struct Conversion: Sendable {
    /// Whether what is stored is just what a value of the old type is stored as.
    let fits: @Sendable (PropertyList) -> Bool
    let convert: @Sendable (PropertyList) throws -> Value
  }
}

extension Preferences.Key {
  /// The same key, whose value is also looked for under a name that it had before.
  ///
  /// A value found there in the app's domain is moved to the key's own name at the first read or write,
  /// as it is: one that does not decode is moved as well, never lost. Where both names have a value the
  /// key's own counts, and the other one stays. Arguments and registered defaults under the old name
  /// count behind all that is under the key's own. A read costs some 5 times what it costs without an old
  /// name, so let it go once nobody can have a value there any more.
  ///
  /// ```swift
  /// var theme: Preferences.Key<Theme> { .init("theme", default: .system).renamed(from: "colours") }
  /// ```
  public func renamed(from name: String) -> Self {
    adding(KeyHistory(name: name, conversion: nil))
  }

  /// The same key, whose value had another name and another type before.
  ///
  /// ```swift
  /// .init("timeoutInSeconds", default: 30.0).renamed(from: "timeout", as: Int.self) { Double($0) / 1_000 }
  /// ```
  public func renamed<Old: PreferenceValue>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyHistory(name: name, conversion: .init(NativeBridge<Old>.self, convert)))
  }

  /// The same key, whose value had another name and was stored as its raw value.
  @_disfavoredOverload
  public func renamed<Old: RawRepresentable & SendableMetatype>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyHistory(name: name, conversion: .init(RawBridge<Old>.self, convert)))
  }

  /// The same key, whose value had another name and was stored in its `Codable` form.
  @_disfavoredOverload
  public func renamed<Old: Codable & SendableMetatype>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyHistory(name: name, conversion: .init(CodableBridge<Old>.self, convert)))
  }

  /// The same key, whose value had another name and was stored as its raw value, though it is `Codable`.
  @_disfavoredOverload
  public func renamed<Old: RawRepresentable & Codable & SendableMetatype>(
    from name: String, as type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyHistory(name: name, conversion: .init(RawBridge<Old>.self, convert)))
  }
}

extension Preferences.Key {
  /// The same key, whose value had another type before.
  ///
  /// What is stored just as the key's own type stores it is taken for that. Else, what is stored just as
  /// `Old` stores it is converted, and in the app's domain replaced by what it was converted to. So the
  /// two types must be stored differently; where they are not, as seconds and milliseconds are not, give
  /// the key a new name and use `renamed(from:as:convert:)`. When `convert` throws, the
  /// value does not decode: it stays as it is, and the default counts.
  ///
  /// ```swift
  /// var theme: Preferences.Key<Theme> {
  ///   .init("theme", default: .system).migrating(from: Bool.self) { $0 ? .dark : .light }
  /// }
  /// ```
  public func migrating<Old: PreferenceValue>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyHistory(name: nil, conversion: .init(NativeBridge<Old>.self, convert)))
  }

  /// The same key, whose value was stored as the raw value of another type.
  @_disfavoredOverload
  public func migrating<Old: RawRepresentable & SendableMetatype>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyHistory(name: nil, conversion: .init(RawBridge<Old>.self, convert)))
  }

  /// The same key, whose value was stored as the `Codable` form of another type.
  @_disfavoredOverload
  public func migrating<Old: Codable & SendableMetatype>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self {
    adding(KeyHistory(name: nil, conversion: .init(CodableBridge<Old>.self, convert)))
  }

  /// The same key, whose value was stored as the raw value of another type, though it is `Codable`.
  @_disfavoredOverload
  public func migrating<Old: RawRepresentable & Codable & SendableMetatype>(
    from type: Old.Type, convert: @escaping @Sendable (Old) throws -> Value
  ) -> Self where Old.RawValue: PreferenceValue {
    adding(KeyHistory(name: nil, conversion: .init(RawBridge<Old>.self, convert)))
  }

  private func adding(_ step: KeyHistory<Value>) -> Self {
    var key = self
    key.history.append(step)
    return key
  }
}

extension KeyHistory.Conversion {
  fileprivate init<Bridge: PreferenceBridge>(
    _ bridge: Bridge.Type, _ convert: @escaping @Sendable (Bridge.Value) throws -> Value
  ) {
    fits = { stored in bridge.stores(stored) }
    self.convert = { stored in try convert(try bridge.decode(stored)) }
  }
}

extension PreferenceBridge {
  /// Whether what is stored is just what a value of the type is stored as.
  static func stores(_ stored: PropertyList) -> Bool {
    guard let value = try? decode(stored) else { return false }
    return (try? encode(value)) == stored
  }
}

extension Preferences.Key {
  /// The value of what is stored under the key's own name, and whether it had to be converted.
  ///
  /// Throws when it is neither a value of the key's type nor of one that it had.
  func read(_ stored: PropertyList) throws -> (value: Value, isConverted: Bool) {
    guard history.contains(where: { $0.name == nil }), !bridge.stores(stored) else {
      return (try bridge.decode(stored), false)
    }
    let conversions = history.compactMap { $0.name == nil ? $0.conversion : nil }
    if let old = conversions.first(where: { $0.fits(stored) }) {
      return (try old.convert(stored), true)
    }
    do {
      return (try bridge.decode(stored), false)
    } catch {
      for old in conversions {
        if let value = try? old.convert(stored) { return (value, true) }
      }
      throw error
    }
  }

  /// The names that the value had, each with the conversion from what is stored there; nil is none.
  var oldNames: [(name: String, conversion: KeyHistory<Value>.Conversion?)] {
    history.compactMap { step in step.name.map { ($0, step.conversion) } }
  }
}
