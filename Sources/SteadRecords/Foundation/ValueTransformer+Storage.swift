import Foundation

// A transformer for storage turns values into data, and back in reverse. Foundation's
// NSSecureUnarchiveFromDataTransformer and its subclasses work the other way round: they turn data into values. Both
// work for a transformable property, as they do on Apple's systems.

extension ValueTransformer {
  /// The data to store for a value; nil if the transformer returns none.
  func storedData(of value: Any) -> Data? {
    let value = (value as? any OptionalValue)?.wrapped ?? value
    if unarchives { return data(reverseTransformedValue(value)) }
    if let stored = data(transformedValue(value)) { return stored }
    return mayUnarchive ? data(reverseTransformedValue(value)) : nil
  }

  /// The value that was stored as data; nil if the transformer returns none of its type.
  func storedValue<Value>(of data: Data, as type: Value.Type) -> Value? {
    if unarchives { return Self.bridge(transformedValue(data), to: type) }
    if let value = Self.bridge(reverseTransformedValue(data), to: type) { return value }
    return mayUnarchive ? Self.bridge(transformedValue(data), to: type) : nil
  }

  /// Whether ``transformedValue(_:)`` reads data, whatever the class declares about its values.
  private var unarchives: Bool {
    self is NSSecureUnarchiveFromDataTransformer && !givesData
  }

  /// Whether the class declares that it produces something other than data, and can reverse that.
  ///
  /// Many transformers for storage name the class of the value here instead of `NSData`, so the
  /// forward direction is tried first for them, too.
  private var mayUnarchive: Bool {
    type(of: self).allowsReverseTransformation() && !givesData
      && type(of: self).transformedValueClass() != NSObject.self
  }

  private var givesData: Bool { type(of: self).transformedValueClass() is NSData.Type }

  private func data(_ value: Any?) -> Data? { Self.bridge(value, to: Data.self) }

  /// A value as a type that may be the other half of a bridged pair, such as Array and NSArray.
  private static func bridge<Value>(_ value: Any?, to type: Value.Type) -> Value? {
    guard let value else { return nil }
    if let same = value as? Value { return same }
    if let bridged = value as? any _ObjectiveCBridgeable, let same = object(bridged) as? Value {
      return same
    }
    return (value as? NSData).flatMap { Data(referencing: $0) as? Value }
  }

  private static func object<B: _ObjectiveCBridgeable>(_ value: B) -> AnyObject {
    value._bridgeToObjectiveC()
  }
}
