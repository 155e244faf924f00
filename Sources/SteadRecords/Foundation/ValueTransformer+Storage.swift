import Foundation
import Synchronization

// A transformer for storage turns values into data, and back in reverse. Foundation's
// NSSecureUnarchiveFromDataTransformer and its subclasses work the other way round: they turn data into values. Both
// work for a transformable property, as they do on Apple's systems. What a class declares about its values is often
// wrong, so it only says which way is tried first. The first value decides for its class of transformer, and a sample
// where values are data.

extension ValueTransformer {
  /// The data to store for a value; nil if the transformer returns none, or none that it turns back into such a value.
  ///
  /// Each value is turned back once: what cannot be read is not stored.
  func storedData<Value>(of value: Value) -> Data? {
    for direction in directions(to: Value.self) {
      guard let data = data(of: value, direction),
        // Only a value that is read back counts. A transformer without a reverse would store what
        // no fetch could read.
        self.value(of: data, as: Value.self, direction) != nil
      else { continue }
      remember(direction, to: Value.self)
      return data
    }
    return nil
  }

  /// The value that was stored as data; nil if the transformer returns none of its type.
  func storedValue<Value>(of data: Data, as type: Value.Type) -> Value? {
    for direction in directions(to: type) {
      guard let value = value(of: data, as: type, direction) else { continue }
      remember(direction, to: type)
      return value
    }
    return nil
  }

  // MARK: - The way

  /// Which of a transformer's two methods makes data.
  private enum Direction { case forward, reverse }

  /// What a direction is remembered for: the class of a transformer, and the type of the values without its optional.
  private struct Use: Hashable {
    let transformer: ObjectIdentifier
    let value: ObjectIdentifier
  }

  /// The directions that have worked.
  private static let known = Mutex<[Use: Direction]>([:])

  /// The key of this transformer for values of a type.
  private func use(of type: any Any.Type) -> Use {
    Use(
      transformer: ObjectIdentifier(Swift.type(of: self)),
      value: ObjectIdentifier(Self.wrapped(type)))
  }

  /// A type without its optional.
  private static func wrapped(_ type: any Any.Type) -> any Any.Type {
    (type as? any OptionalType.Type)?.wrappedType ?? type
  }

  /// Records that a direction has worked for values of a type.
  private func remember(_ direction: Direction, to type: any Any.Type) {
    let use = use(of: type)
    Self.known.withLock { $0[use] = direction }
  }

  /// The directions to try, the likelier one first; once a value was converted, only the one that worked.
  private func directions<Value>(to type: Value.Type) -> [Direction] {
    let use = use(of: type)
    // Only that one: the other direction might accept a value by chance, and store it in a form of
    // its own.
    if let known = Self.known.withLock({ $0[use] }) { return [known] }
    let wrapped = Self.wrapped(type)
    guard wrapped == Data.self || wrapped is NSData.Type else { return declaredDirections }
    // Both ways turn data into data, so whatever comes first would decide, and a value that is read would go the wrong
    // one if it is sealed with a random number.
    for sample in Self.samples {
      for direction in declaredDirections where roundTrips(sample, as: type, direction) {
        return [direction]
      }
    }
    return Array(declaredDirections.prefix(1))
  }

  /// Data that is neither encoded nor encrypted: no text, and a text that is no base64.
  private static let samples = [
    Data([0xFF, 0x00, 0xC3, 0x28, 0x80, 0xFE, 0x0A, 0x01]), Data("a sample.".utf8),
  ]

  /// Whether a sample comes back unchanged if a direction makes data of it and the other one reads that.
  private func roundTrips<Value>(_ sample: Data, as type: Value.Type, _ direction: Direction)
    -> Bool
  {
    guard let value = Self.bridge(sample, to: type), let data = data(of: value, direction),
      let again = self.value(of: data, as: type, direction)
    else { return false }
    return Self.bridge(again, to: Data.self) == sample
  }

  /// Both directions, the one first that the class's declaration suggests.
  private var declaredDirections: [Direction] {
    let givesData = type(of: self).transformedValueClass() is NSData.Type
    return self is NSSecureUnarchiveFromDataTransformer && !givesData
      ? [.reverse, .forward] : [.forward, .reverse]
  }

  /// Data of a value by a direction; nil if the transformer returns none.
  private func data(of value: Any, _ direction: Direction) -> Data? {
    // A transformer expects the value, and not an optional that has it.
    let value = (value as? any OptionalValue)?.wrapped ?? value
    let result =
      switch direction {
      case .forward: transformedValue(value)
      case .reverse: reverseTransformedValue(value)
      }
    return Self.bridge(result, to: Data.self)
  }

  /// The value of data by the opposite of a direction; nil if the transformer returns none of the type.
  private func value<Value>(of data: Data, as type: Value.Type, _ direction: Direction) -> Value? {
    switch direction {
    case .forward: Self.bridge(reverseTransformedValue(data), to: type)
    case .reverse: Self.bridge(transformedValue(data), to: type)
    }
  }

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
