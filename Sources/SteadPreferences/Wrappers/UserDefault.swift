/// A property that is kept in preferences, under a name that is declared once.
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
/// Without a default a property has the value that `UserDefaults` gives while nothing is stored, such as
/// false, 0 or nil; ``UnsetPreferenceValue`` lists them. Nothing is kept in the property: each read and
/// each write goes to the preferences. A value that does not decode reads as the default, is reported,
/// and is kept aside before it is replaced (``Preferences/undecodableKeys(for:)``).
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

  /// The value.
  @inlinable
  public var wrappedValue: Value {
    get { preferences[key] ?? initial }
    nonmutating set { preferences[key] = newValue }
  }

  /// The wrapper itself, to observe the property.
  public var projectedValue: UserDefault { self }

  /// Whether a value was chosen: whether any domain but the registered defaults has one.
  public var isSet: Bool { preferences.isSet(key) }

  /// Removes what is stored, so that the default counts again.
  public func reset() { preferences.reset(key) }
}

extension UserDefault: Sendable where Value: Sendable {}
