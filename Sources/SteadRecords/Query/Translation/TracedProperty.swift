import Foundation
import Synchronization

/// Tells a stored property's key path from a computed one's that only reads the property.
///
/// In generic code a key path equals none that the schema lists. Reading it shows which property it
/// reads, but `title.uppercased()` reads the title, too; so samples are written to the property, and
/// the key path must give each of them back.
enum TracedProperty {
  private struct Known: @unchecked Sendable {
    // Sendable: key paths are immutable, and these hold no captured values.
    var answers: [AnyKeyPath: Bool] = [:]
  }

  private static let known = Mutex(Known())

  static func gives(
    _ keyPath: AnyKeyPath, _ property: PropertyLayout, of entity: EntityLayout
  ) -> Bool {
    // The key path is only compared.
    nonisolated(unsafe) let path = keyPath
    if let answer = known.withLock({ $0.answers[path] }) { return answer }
    let answer = check(keyPath, property, of: entity)
    known.withLock { $0.answers[path] = answer }
    return answer
  }

  private static func check(
    _ keyPath: AnyKeyPath, _ property: PropertyLayout, of entity: EntityLayout
  ) -> Bool {
    guard type(of: keyPath).valueType == property.valueType,
      let stored = entity.propertyByKeyPath.first(where: { $0.value == property.index })?.key
    else { return false }
    // A relationship is not written to: that would change objects at its other end.
    guard property.destination == nil else { return true }
    func open<M: PersistentModel>(_ type: M.Type) -> Bool {
      gives(keyPath, stored, on: M(_row: .empty), samples(of: property.valueType))
    }
    return open(entity.type)
  }

  private static func gives<M: PersistentModel>(
    _ keyPath: AnyKeyPath, _ stored: AnyKeyPath, on model: M, _ samples: [Any]
  ) -> Bool {
    guard samples.count > 1, let writable = stored as? any WritableTracedPath else { return false }
    return writable.test(model, keyPath, samples)
  }

  static func isEqual<E: Equatable>(_ value: E, _ other: Any) -> Bool { (other as? E) == value }

  private static func samples(of type: any Any.Type) -> [Any] {
    let shape = PropertyShape(type)
    if let cases = shape.wrapped as? any CaseIterable.Type { return allCases(cases) }
    switch shape.wrapped {
    case is String.Type: return ["aB é ", "Z\u{0301}y\n9"]
    case is Bool.Type: return [true, false]
    case is Double.Type: return [-1.5, 3e9]
    case is Float.Type: return [Float(-1.5), Float(3e9)]
    case is Date.Type:
      return [
        Date(timeIntervalSinceReferenceDate: -1.5), Date(timeIntervalSinceReferenceDate: 3e9),
      ]
    case is UUID.Type: return [UUID(), UUID()]
    case is Data.Type: return [Data([1, 2]), Data([255])]
    case is Decimal.Type: return [Decimal(-15) / 10, Decimal(1_000_003)]
    default:
      guard let integer = shape.wrapped as? any FixedWidthInteger.Type else { return [] }
      return extremes(integer)
    }
  }

  private static func allCases<C: CaseIterable>(_ type: C.Type) -> [Any] { Array(type.allCases) }

  private static func extremes<I: FixedWidthInteger>(_ type: I.Type) -> [Any] {
    [type.max, type.min, type.max / 3]
  }
}

private protocol WritableTracedPath {
  func test(_ model: any PersistentModel, _ other: AnyKeyPath, _ samples: [Any]) -> Bool
}

extension ReferenceWritableKeyPath: WritableTracedPath {
  fileprivate func test(
    _ model: any PersistentModel, _ other: AnyKeyPath, _ samples: [Any]
  ) -> Bool {
    guard let root = model as? Root else { return false }
    let subject: Any = model
    return samples.allSatisfy { sample in
      guard let value = sample as? Value else { return false }
      root[keyPath: self] = value
      guard let read = subject[keyPath: other] as? any Equatable else { return false }
      return TracedProperty.isEqual(read, value)
    }
  }
}
