import Foundation
import Synchronization

// A transformer for storage turns values into data, and back in reverse. Foundation's
// NSSecureUnarchiveFromDataTransformer and its subclasses work the other way round: they turn data into values. Both
// work for a transformable property, as they do on Apple's systems. What a class declares about its values is often
// wrong, so it only says which way is tried first.

extension ValueTransformer {
  /// The data to store for a value; nil if the transformer returns none, or none that it turns back into such a value.
  ///
  /// The first value decides for its class of transformer which way its methods work. Each value is turned back once:
  /// what cannot be read is not stored.
  func storedData<Value>(of value: Value) -> Data? {
    if let way = knownWay(to: Value.self) {
      guard let data = data(of: value, way), self.value(of: data, as: Value.self, way) != nil
      else { return nil }
      return data
    }
    for way in ways {
      guard let data = data(of: value, way),
        let again = self.value(of: data, as: Value.self, way)
      else { continue }
      // Between data and data both ways exist, and only one of them leads back.
      if let before = Self.bridge(value, to: Data.self),
        Self.bridge(again, to: Data.self) != before
      {
        continue
      }
      note(way, to: Value.self)
      return data
    }
    return nil
  }

  /// The value that was stored as data; nil if the transformer returns none of its type.
  func storedValue<Value>(of data: Data, as type: Value.Type) -> Value? {
    if let way = knownWay(to: type) { return value(of: data, as: type, way) }
    for way in ways {
      guard let value = value(of: data, as: type, way) else { continue }
      if Self.bridge(value, to: Data.self) != nil, self.data(of: value, way) != data { continue }
      note(way, to: type)
      return value
    }
    return nil
  }

  // MARK: The way

  /// Which of the two methods makes data.
  private enum Way { case forward, reverse }

  /// The class of a transformer, and the type of the values.
  private struct Use: Hashable {
    let transformer: ObjectIdentifier
    let value: ObjectIdentifier
  }

  private static let known = Mutex<[Use: Way]>([:])

  private func use<Value>(of type: Value.Type) -> Use {
    Use(transformer: ObjectIdentifier(Swift.type(of: self)), value: ObjectIdentifier(type))
  }

  private func knownWay<Value>(to type: Value.Type) -> Way? {
    let use = use(of: type)
    return Self.known.withLock { $0[use] }
  }

  private func note<Value>(_ way: Way, to type: Value.Type) {
    let use = use(of: type)
    Self.known.withLock { $0[use] = way }
  }

  /// The likelier way first.
  private var ways: [Way] {
    let givesData = type(of: self).transformedValueClass() is NSData.Type
    return self is NSSecureUnarchiveFromDataTransformer && !givesData
      ? [.reverse, .forward] : [.forward, .reverse]
  }

  private func data(of value: Any, _ way: Way) -> Data? {
    let value = (value as? any OptionalValue)?.wrapped ?? value
    let result =
      switch way {
      case .forward: transformedValue(value)
      case .reverse: reverseTransformedValue(value)
      }
    return Self.bridge(result, to: Data.self)
  }

  private func value<Value>(of data: Data, as type: Value.Type, _ way: Way) -> Value? {
    switch way {
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
