public import SteadPreferences

/// A group of settings that is stored as one value under its type's name.
///
/// ```swift
/// struct VisualSettings: DefaultStorable {
///   var themeName: String
///   var background: URL?
/// }
/// VisualSettings(themeName: "bright").write()
/// if let settings = VisualSettings.read() { apply(settings) }
/// ```
///
/// The names and the form are those of the library Default, and data that it wrote is found: it stored
/// under `VisualSettings.Type`, so that is looked at when there is nothing under `VisualSettings`, as
/// long as ``defaultIdentifier`` is not a type's own.
///
/// What is stored and does not decode is never overwritten silently: before ``write(withKey:)`` replaces
/// it, it is kept aside (`Preferences.undecodableKeys(for:)`) and reported.
public protocol DefaultStorable: Codable {
  /// The preferences that values are kept in; `Preferences.standard` unless a type says otherwise.
  static var defaults: Preferences { get }
  /// The key; the type's name unless a type says otherwise.
  static var defaultIdentifier: String { get }
  /// What ``read(forKey:)`` gives when nothing is stored, or nothing that decodes; nil unless a type says
  /// otherwise.
  static var defaultValue: Self? { get }
  /// The stored value, else ``defaultValue``.
  static func read(forKey key: String?) -> Self?
  /// Stores the value.
  func write(withKey key: String?)
  /// Removes what is stored.
  func clear(forKey key: String?)
  /// Removes what is stored.
  static func clear(forKey key: String?)
}

extension DefaultStorable {
  /// `Preferences.standard`.
  public static var defaults: Preferences { .standard }
  /// The type's name.
  public static var defaultIdentifier: String { String(describing: Self.self) }
  /// Nil.
  public static var defaultValue: Self? { nil }

  /// The value stored under a key, nil for ``defaultIdentifier``; else ``defaultValue``.
  ///
  /// `Preferences.onError` is called with what does not decode.
  public static func read(forKey key: String? = nil) -> Self? {
    defaults.reporting { try load(forKey: key) } ?? defaultValue
  }

  /// As ``read(forKey:)``, but throws when what is stored does not decode.
  public static func load(forKey key: String? = nil) throws -> Self? {
    for name in names(for: key) {
      if let value = try defaults.df.decode(Self.self, forKey: name) { return value }
    }
    return defaultValue
  }

  /// Stores the value under a key, nil for ``defaultIdentifier``. Errors go to `Preferences.onError`.
  public func write(withKey key: String? = nil) {
    Self.defaults.df.store(self, forKey: key ?? Self.defaultIdentifier)
  }

  /// As ``write(withKey:)``, but throws when the value does not encode or could not be stored.
  public func save(forKey key: String? = nil) throws {
    try Self.defaults.df.encode(self, forKey: key ?? Self.defaultIdentifier)
  }

  /// Removes what is stored under a key, nil for ``defaultIdentifier``.
  public func clear(forKey key: String? = nil) { Self.clear(forKey: key) }

  /// Removes what is stored under a key, nil for ``defaultIdentifier``, and what the library Default
  /// stored for it.
  public static func clear(forKey key: String? = nil) {
    let names = names(for: key)
    defaults.reporting(key: names[0]) {
      _ = try defaults.apply(names.map { DomainEdit(key: $0, value: nil) })
    }
  }

  /// The key, and behind it the one that the library Default made for the type of a type.
  private static func names(for key: String?) -> [String] {
    if let key { return [key] }
    guard defaultIdentifier == String(describing: Self.self) else { return [defaultIdentifier] }
    return [defaultIdentifier, String(describing: type(of: Self.self))]
  }
}
