/// A property that is stored in preferences, under a name that is declared once.
///
/// ```swift
/// extension Preferences.Name { static let isFirstLaunch: Self = "isFirstLaunch" }
///
/// struct Launches {
///   @UserDefault(key: .isFirstLaunch) var isFirstLaunch: Bool
///   @UserDefault(key: "lastVisit") var lastVisit: Date?
///   @UserDefault(key: "title") var title = "Untitled"
/// }
///
/// let token = launches.$isFirstLaunch.observe { old, new in print(old, new) }
/// ```
///
/// Without a default a property has `UserDefaults`' value while nothing is stored, such as false, 0
/// or nil; ``UnsetPreferenceValue`` lists them. Nothing is stored in the property: each read and
/// each write goes to the preferences. A value that does not decode reads as the default, is
/// reported, and is kept aside before it is replaced (``Preferences/undecodableKeys(for:)``).
@propertyWrapper
public struct UserDefault<Value> {
  /// Nil while nothing is stored.
  @usableFromInline let key: Preferences.Key<Value?>
  @usableFromInline let initial: Value
  @usableFromInline let store: Preferences?

  @usableFromInline
  init(key: Preferences.Key<Value?>, initial: Value, store: Preferences?) {
    self.key = key
    self.initial = initial
    self.store = store
  }

  @usableFromInline var preferences: Preferences { store ?? .standard }

  /// The value: a read looks it up, a write stores it.
  @inlinable
  public var wrappedValue: Value {
    get { preferences[key] ?? initial }
    nonmutating set { preferences[key] = newValue }
  }

  /// The wrapper itself, for its changes: `$isFirstLaunch.observe`.
  public var projectedValue: UserDefault { self }

  /// Whether the key has been set: whether any domain except the registered defaults has a value.
  public var isSet: Bool { preferences.isSet(key) }

  /// Removes the stored value, so that the default applies again.
  public func reset() { preferences.reset(key) }
}

extension UserDefault: Sendable where Value: Sendable {}

// MARK: - Initializers

// The initialisers have the same order as those of typed keys; see PreferenceKey.swift.

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

  /// A property without a default: while nothing is stored it has the value that `UserDefaults`
  /// returns, such as false, 0, an empty string or nil.
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

  /// A property that is nil while nothing is stored, stored as its raw value, though it is also
  /// `Codable`.
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
    // The call opens the existential metatype: only a concrete bridge can be another one's
    // parameter.
    func nest<Bridge: PreferenceBridge<Wrapped?>>(_ bridge: Bridge.Type) -> Self {
      Self(name: key.name, bridge: OptionalBridge<Bridge>.self, makeDefault: nothing())
    }
    return nest(key.bridge)
  }
}

// MARK: - Changes

extension UserDefault where Value: Sendable {
  /// Calls a handler with each change of the property, until the token is released or cancelled.
  ///
  /// The old value is nil when nothing was stored, or nothing that decodes; in that case the new
  /// one is the default. The handler runs like that of
  /// ``Preferences/observe(_:includingOwn:_:)-(String,_,_)``.
  ///
  /// ```swift
  /// let token = storage.$isFirstLaunch.observe { old, new in print(old, new) }
  /// storage.isFirstLaunch = false  // nil false
  /// ```
  @_disfavoredOverload
  public func observe(
    _ change: @escaping @Sendable (_ old: Value?, _ new: Value) -> Void
  ) -> PreferenceObservation {
    preferences.observe(key) { [initial] decoded in change(decoded.old, decoded.new ?? initial) }
  }

  /// Calls a handler with each change of an optional property, until the token is released or
  /// cancelled.
  public func observe<Wrapped: Sendable>(
    _ change: @escaping @Sendable (_ old: Wrapped?, _ new: Wrapped?) -> Void
  ) -> PreferenceObservation where Value == Wrapped? {
    preferences.observe(key) { [initial] decoded in
      change(decoded.old ?? nil, decoded.new ?? initial)
    }
  }

  /// The changes of the property as an asynchronous sequence, which begins with this call.
  public var changes: TypedPreferenceChanges<Value> {
    TypedPreferenceChanges(
      stored: preferences.changes(for: key.name),
      decoder: ChangeDecoder(ChangeDecoder(key: key, preferences: preferences), initial: initial))
  }
}
