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
/// Without a default a property has `UserDefaults`' value while nothing is stored, such as false, 0 or nil;
/// ``UnsetPreferenceValue`` lists them. Nothing is stored in the property: each read and each write goes to
/// the preferences. A value that does not decode reads as the default, is reported, and is kept aside before
/// it is replaced (``Preferences/undecodableKeys(for:)``).
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

  /// Whether the key has been set: whether any domain except the registered defaults has a value.
  public var isSet: Bool { preferences.isSet(key) }

  /// Removes the stored value, so that the default applies again.
  public func reset() { preferences.reset(key) }
}

extension UserDefault: Sendable where Value: Sendable {}
