import Foundation

extension Preferences {
  /// The effective value of a key; nil if it has none.
  ///
  /// It is a `String`, `NSNumber`, `Date`, `Data`, `[Any]` or `[String: Any]`. A number can be cast to each
  /// Swift type that holds it exactly, as on Apple's systems.
  public func object(forKey key: String) -> Any? {
    propertyList(forKey: key)?.anyValue
  }

  /// The effective value of a key: ``object(forKey:)`` under the name of key-value coding.
  public func value(forKey key: String) -> Any? { object(forKey: key) }

  /// A string, or a number as a string, true being `1`; nil for any other value.
  public func string(forKey key: String) -> String? { propertyList(forKey: key)?.text }

  /// An array; nil for any other value. The elements are as ``object(forKey:)`` would return them.
  public func array(forKey key: String) -> [Any]? {
    guard case .array(let values)? = propertyList(forKey: key) else { return nil }
    return values.map(\.anyValue)
  }

  /// A dictionary; nil for any other value. The values are as ``object(forKey:)`` would return them.
  public func dictionary(forKey key: String) -> [String: Any]? {
    guard case .dictionary(let fields)? = propertyList(forKey: key) else { return nil }
    return fields.anyValue
  }

  /// Data; nil for any other value.
  public func data(forKey key: String) -> Data? {
    guard case .data(let data)? = propertyList(forKey: key) else { return nil }
    return data
  }

  /// An array of strings; nil for any other value, even if only one element is a number.
  public func stringArray(forKey key: String) -> [String]? { propertyList(forKey: key)?.strings }

  /// A number without its fraction, true as 1, or the number that a string begins with; 0 for any other value.
  public func integer(forKey key: String) -> Int { propertyList(forKey: key)?.int ?? 0 }

  /// A number, true as 1, or the number that a string begins with; 0 for any other value.
  public func float(forKey key: String) -> Float { propertyList(forKey: key)?.floatValue ?? 0 }

  /// A number, true as 1, or the number that a string begins with; 0 for any other value.
  public func double(forKey key: String) -> Double { propertyList(forKey: key)?.doubleValue ?? 0 }

  /// True, a number other than 0, or one of the strings `YES`, `true` and `1`; false for any other value.
  public func bool(forKey key: String) -> Bool { propertyList(forKey: key)?.boolValue ?? false }

  /// A string as the path of a file, `~` being the home directory; a URL that `set` has archived; nil for any
  /// other value.
  public func url(forKey key: String) -> URL? { propertyList(forKey: key)?.url }
}
