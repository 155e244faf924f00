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
  /// Any ``PreferenceValue`` will do, as will a type that is `RawRepresentable` or `Codable` and knows
  /// nothing about preferences; ``PreferenceValue`` documents which form comes first. A key is cheap to
  /// create and allocates nothing, unless its default captures something.
  public struct Key<Value>: Sendable {
    /// The name under which the value is stored.
    public let name: String
    @usableFromInline let bridge: any PreferenceBridge<Value>.Type
    @usableFromInline let makeDefault: @Sendable () -> Value
    /// The earlier names and types, in the order in which they are looked up.
    @usableFromInline var history: [KeyHistory<Value>]

    @usableFromInline
    init(
      name: String, bridge: any PreferenceBridge<Value>.Type,
      makeDefault: @escaping @Sendable () -> Value
    ) {
      self.name = name
      self.bridge = bridge
      self.makeDefault = makeDefault
      history = []
    }

    /// The value while nothing is stored, computed again each time.
    public var defaultValue: Value { makeDefault() }
  }
}
