import Foundation

// The methods for keys that are texts, once more for keys that stand for a text, such as the cases of
// an enum. They do the same and cost the same.

extension Preferences {
  /// As ``object(forKey:)-(String)``.
  @inlinable
  public func object<Key: RawRepresentable<String>>(forKey key: Key) -> Any? {
    object(forKey: key.rawValue)
  }

  /// As ``value(forKey:)-(String)``.
  @inlinable
  public func value<Key: RawRepresentable<String>>(forKey key: Key) -> Any? {
    value(forKey: key.rawValue)
  }

  /// As ``string(forKey:)-(String)``.
  @inlinable
  public func string<Key: RawRepresentable<String>>(forKey key: Key) -> String? {
    string(forKey: key.rawValue)
  }

  /// As ``array(forKey:)-(String)``.
  @inlinable
  public func array<Key: RawRepresentable<String>>(forKey key: Key) -> [Any]? {
    array(forKey: key.rawValue)
  }

  /// As ``dictionary(forKey:)-(String)``.
  @inlinable
  public func dictionary<Key: RawRepresentable<String>>(forKey key: Key) -> [String: Any]? {
    dictionary(forKey: key.rawValue)
  }

  /// As ``data(forKey:)-(String)``.
  @inlinable
  public func data<Key: RawRepresentable<String>>(forKey key: Key) -> Data? {
    data(forKey: key.rawValue)
  }

  /// As ``stringArray(forKey:)-(String)``.
  @inlinable
  public func stringArray<Key: RawRepresentable<String>>(forKey key: Key) -> [String]? {
    stringArray(forKey: key.rawValue)
  }

  /// As ``integer(forKey:)-(String)``.
  @inlinable
  public func integer<Key: RawRepresentable<String>>(forKey key: Key) -> Int {
    integer(forKey: key.rawValue)
  }

  /// As ``float(forKey:)-(String)``.
  @inlinable
  public func float<Key: RawRepresentable<String>>(forKey key: Key) -> Float {
    float(forKey: key.rawValue)
  }

  /// As ``double(forKey:)-(String)``.
  @inlinable
  public func double<Key: RawRepresentable<String>>(forKey key: Key) -> Double {
    double(forKey: key.rawValue)
  }

  /// As ``bool(forKey:)-(String)``.
  @inlinable
  public func bool<Key: RawRepresentable<String>>(forKey key: Key) -> Bool {
    bool(forKey: key.rawValue)
  }

  /// As ``url(forKey:)-(String)``.
  @inlinable
  public func url<Key: RawRepresentable<String>>(forKey key: Key) -> URL? {
    url(forKey: key.rawValue)
  }

  /// As ``set(_:forKey:)-(Any?,String)``.
  @inlinable
  public func set<Key: RawRepresentable<String>>(_ value: Any?, forKey key: Key) {
    set(value, forKey: key.rawValue)
  }

  /// As ``setValue(_:forKey:)-(Any?,String)``.
  @inlinable
  public func setValue<Key: RawRepresentable<String>>(_ value: Any?, forKey key: Key) {
    setValue(value, forKey: key.rawValue)
  }

  /// As ``set(_:forKey:)-(Int,String)``.
  @inlinable
  public func set<Key: RawRepresentable<String>>(_ value: Int, forKey key: Key) {
    set(value, forKey: key.rawValue)
  }

  /// As ``set(_:forKey:)-(Float,String)``.
  @inlinable
  public func set<Key: RawRepresentable<String>>(_ value: Float, forKey key: Key) {
    set(value, forKey: key.rawValue)
  }

  /// As ``set(_:forKey:)-(Double,String)``.
  @inlinable
  public func set<Key: RawRepresentable<String>>(_ value: Double, forKey key: Key) {
    set(value, forKey: key.rawValue)
  }

  /// As ``set(_:forKey:)-(Bool,String)``.
  @inlinable
  public func set<Key: RawRepresentable<String>>(_ value: Bool, forKey key: Key) {
    set(value, forKey: key.rawValue)
  }

  /// As ``set(_:forKey:)-(URL?,String)``.
  @inlinable
  public func set<Key: RawRepresentable<String>>(_ url: URL?, forKey key: Key) {
    set(url, forKey: key.rawValue)
  }

  /// As ``removeObject(forKey:)-(String)``.
  @inlinable
  public func removeObject<Key: RawRepresentable<String>>(forKey key: Key) {
    removeObject(forKey: key.rawValue)
  }

  /// As ``register(defaults:)-([String:Any])``, with keys that stand for texts.
  public func register<Key: RawRepresentable<String>>(defaults: [Key: Any]) {
    let pairs = defaults.map { ($0.key.rawValue, $0.value) }
    register(defaults: Dictionary(pairs) { _, last in last })
  }

  /// As ``objectIsForced(forKey:)-(String)``.
  public func objectIsForced<Key: RawRepresentable<String>>(forKey key: Key) -> Bool {
    objectIsForced(forKey: key.rawValue)
  }

  /// As ``objectIsForced(forKey:inDomain:)-(String,_)``.
  public func objectIsForced<Key: RawRepresentable<String>>(
    forKey key: Key, inDomain domain: String
  ) -> Bool {
    objectIsForced(forKey: key.rawValue, inDomain: domain)
  }

  /// As ``propertyList(forKey:)-(String)``.
  public func propertyList<Key: RawRepresentable<String>>(forKey key: Key) -> PropertyList? {
    propertyList(forKey: key.rawValue)
  }

  /// As ``setPropertyList(_:forKey:)-(_,String)``.
  public func setPropertyList<Key: RawRepresentable<String>>(
    _ value: PropertyList?, forKey key: Key
  ) throws {
    try setPropertyList(value, forKey: key.rawValue)
  }
}
