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
    /// The keys; the subscript of ``Preferences`` makes one of these, which holds nothing.
    @inlinable
    public init() {}
  }

  /// The name of a preference with the type of its value and the value while nothing is stored.
  ///
  /// Any ``PreferenceValue`` will do, and so will what is `RawRepresentable` or `Codable` and says
  /// nothing of preferences; ``PreferenceValue`` tells which comes first. A key is cheap to make and
  /// allocates nothing, unless its default refers to something.
  public struct Key<Value>: Sendable {
    /// The name that the value is stored under.
    public let name: String
    @usableFromInline let bridge: any PreferenceBridge<Value>.Type
    @usableFromInline let makeDefault: @Sendable () -> Value
    /// What was stored before, in the order in which it is looked for.
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

    /// The value while nothing is stored, computed anew.
    public var defaultValue: Value { makeDefault() }
  }
}
