import Foundation

extension Preferences {
  /// The value that counts for a key, nil when there is none.
  ///
  /// It is a `String`, `NSNumber`, `Date`, `Data`, `[Any]` or `[String: Any]`. A number can be cast to
  /// each type of Swift's that holds it exactly, as on Apple's systems.
  public func object(forKey key: String) -> Any? {
    propertyList(forKey: key)?.anyValue
  }

  /// The value that counts for a key: ``object(forKey:)`` by the name of key-value coding.
  public func value(forKey key: String) -> Any? { object(forKey: key) }

  /// A text, or a number as a text, true being `1`; nil for all else.
  public func string(forKey key: String) -> String? { propertyList(forKey: key)?.text }

  /// An array, nil for all else. The elements are as ``object(forKey:)`` would give them.
  public func array(forKey key: String) -> [Any]? {
    guard case .array(let values)? = propertyList(forKey: key) else { return nil }
    return values.map(\.anyValue)
  }

  /// A dictionary, nil for all else. The values are as ``object(forKey:)`` would give them.
  public func dictionary(forKey key: String) -> [String: Any]? {
    guard case .dictionary(let fields)? = propertyList(forKey: key) else { return nil }
    return fields.anyValue
  }

  /// Bytes, nil for all else.
  public func data(forKey key: String) -> Data? {
    guard case .data(let data)? = propertyList(forKey: key) else { return nil }
    return data
  }

  /// An array of texts; nil for all else, also when one element is a number.
  public func stringArray(forKey key: String) -> [String]? { propertyList(forKey: key)?.strings }

  /// A number without its fraction, true as 1, what a text begins with; 0 for all else.
  public func integer(forKey key: String) -> Int { propertyList(forKey: key)?.int ?? 0 }

  /// A number, true as 1, what a text begins with; 0 for all else.
  public func float(forKey key: String) -> Float { propertyList(forKey: key)?.floatValue ?? 0 }

  /// A number, true as 1, what a text begins with; 0 for all else.
  public func double(forKey key: String) -> Double { propertyList(forKey: key)?.doubleValue ?? 0 }

  /// True, a number other than 0, or one of the texts `YES`, `true` and `1`; false for all else.
  public func bool(forKey key: String) -> Bool { propertyList(forKey: key)?.boolValue ?? false }

  /// A text as the path of a file, `~` being the home directory; a URL that `set` has archived; nil for
  /// all else.
  public func url(forKey key: String) -> URL? { propertyList(forKey: key)?.url }
}
