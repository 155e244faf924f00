import Foundation
import Synchronization

/// The properties that a key path leads through, found by reading it.
///
/// A key path cannot be taken apart, and in generic code `\T.name` equals none of the key paths that the schema
/// lists. So it is read on an empty object that records which property was read, with another such object behind each
/// to-one relationship; that shows its properties one by one.
///
/// A computed property such as `title.uppercased()` reads `title`, too. So sample values are written to the last
/// property, and the key path has to return each of them. This costs some objects for each key path, once in a
/// process.
enum TracedPath {
  /// The number of relationships after which a key path is given up.
  static let limit = 8

  /// A key path with the entity that it starts from: in a hierarchy the same key path is read on objects of several
  /// classes.
  private struct Key: Hashable, @unchecked Sendable {
    // Sendable: key paths are immutable, and these hold no captured values.
    let path: AnyKeyPath
    let entity: ObjectIdentifier
  }

  /// The answers so far; an inner nil for key paths that are not traced.
  private static let known = Mutex<[Key: [Int]?]>([:])

  /// The indices of the properties, each in the entity that the one before leads to; nil if the key path is not made
  /// of stored properties.
  static func find(
    _ keyPath: AnyKeyPath, from entity: EntityLayout, in layout: StoreLayout
  ) -> [Int]? {
    // By the class and not by the layout: containers with the same class share the answer.
    let key = Key(path: keyPath, entity: ObjectIdentifier(entity.type))
    if let answer = known.withLock({ $0[key] }) { return answer }
    let answer = trace(keyPath, from: entity, in: layout)
    // Traced outside the lock, since getters are the app's code. Two threads may trace the same
    // path, with one result.
    known.withLock { $0[key] = .some(answer) }
    return answer
  }

  /// Reads the key path on recording objects until it returns a value of the type of the property that it read last.
  ///
  /// Invariant: before each read, the objects along the path that is known so far are linked, so that the read
  /// reaches one property further.
  private static func trace(
    _ keyPath: AnyKeyPath, from entity: EntityLayout, in layout: StoreLayout
  ) -> [Int]? {
    // An object without a row: its properties have placeholders, and reading one marks it as probed.
    let root = entity.type.init(_row: .empty)
    let subject: Any = root
    var (current, currentEntity) = (root, entity)
    var indices: [Int] = []
    while indices.count < limit {
      let state = current._$statePointer
      state.pointee.set(_ModelFlags.probe)
      // The value is of no use. The getter has marked the last object with the property that it
      // read.
      _ = subject[keyPath: keyPath]
      // The object is now a link of the path: the next read must pass through it and mark the next
      // one.
      state.pointee.clear(_ModelFlags.probe)
      // The getter reads no stored property of this object, such as a computed constant.
      guard let index = state.pointee.extra?.probed else { return nil }
      indices.append(index)
      let property = currentEntity.properties[index]
      // The path ends here if it returns the property's type, or if nothing can lie behind the property.
      guard case .toOne(let destination) = property.kind, !isValue(of: property, keyPath) else {
        let isStored =
          isValue(of: property, keyPath)
          && (property.destination != nil
            || returnsSamples(keyPath, subject, property, current, currentEntity))
        return isStored ? indices : nil
      }
      currentEntity = layout.entities[destination]
      let next = currentEntity.type.init(_row: .empty)
      // The next read of the whole path goes one step further.
      current.setContent(.toOne(.model(next)), at: index)
      current = next
    }
    return nil
  }

  /// Whether the key path returns the property's own type, so that it ends there.
  private static func isValue(of property: PropertyLayout, _ keyPath: AnyKeyPath) -> Bool {
    let value = PropertyShape(type(of: keyPath).valueType).wrapped
    let stored = PropertyShape(property.valueType).wrapped
    // A Boolean is ordered by the number in its column, a localized string by the column's.
    return value == stored || stored == Bool.self && value == Int.self
      || stored == String.self && value is any LocalizedText.Type
  }

  /// Whether the key path returns what was written to the property, for several samples: a computed property would
  /// not.
  private static func returnsSamples(
    _ keyPath: AnyKeyPath, _ subject: Any, _ property: PropertyLayout,
    _ owner: any PersistentModel, _ entity: EntityLayout
  ) -> Bool {
    let stored = entity.propertyByKeyPath.first {
      $0.value == property.index && $0.key is any WritableTracedPath
    }
    let samples = samples(of: property.valueType)
    // One sample could be returned by chance.
    guard samples.count > 1, let path = stored?.key as? any WritableTracedPath else { return false }
    return path.returnsSamples(keyPath, subject, owner, samples)
  }

  /// Whether a value equals another of any type.
  static func isEqual<E: Equatable>(_ value: E, _ other: Any) -> Bool { (other as? E) == value }

  /// Values that computed properties are likely to change: letters of both cases, a letter with a combining accent,
  /// spaces, fractions, extremes. Empty for types of which no value can be made.
  private static func samples(of type: any Any.Type) -> [Any] {
    let shape = PropertyShape(type)
    if let cases = shape.wrapped as? any CaseIterable.Type { return allCases(cases) }
    switch shape.wrapped {
    case is String.Type: return ["aB \u{E9} ", "Z\u{301}y\n9"]
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

  /// The bounds of a type, and a number that most arithmetic changes.
  private static func extremes<I: FixedWidthInteger>(_ type: I.Type) -> [Any] {
    [type.max, type.min, type.max / 3]
  }
}

/// A key path that samples can be written through.
private protocol WritableTracedPath {
  /// Writes each sample to the owner's property and compares it with what another key path returns.
  func returnsSamples(
    _ other: AnyKeyPath, _ subject: Any, _ owner: any PersistentModel, _ samples: [Any]
  ) -> Bool
}

extension ReferenceWritableKeyPath: WritableTracedPath {
  fileprivate func returnsSamples(
    _ other: AnyKeyPath, _ subject: Any, _ owner: any PersistentModel, _ samples: [Any]
  ) -> Bool {
    guard let root = owner as? Root else { return false }
    return samples.allSatisfy { sample in
      guard let value = sample as? Value else { return false }
      // The object belongs to no context, so the write changes nothing but this object.
      root[keyPath: self] = value
      guard let read = subject[keyPath: other] as? any Equatable else { return false }
      if let localized = read as? any LocalizedText { return localized.text == sample as? String }
      return TracedPath.isEqual(read, value)
        || (sample as? Bool).map { TracedPath.isEqual(read, $0.steadOrder) } ?? false
    }
  }
}

// MARK: - Raw values

/// Recognises `\.rawValue`. A key path to it that an app's module has made does not equal one of this module.
enum RawValueKeyPath {
  /// Whether a key path returns the raw value of each case of an enum. Only types that list their cases can be asked.
  static func isRawValue(_ keyPath: AnyKeyPath, of type: Any.Type) -> Bool {
    // A type without a list of cases has no values to compare with, so its key path is left to
    // memory.
    guard let type = type as? any CaseIterable.Type else { return false }
    return check(keyPath, type)
  }

  /// Whether a key path returns each case's raw value.
  private static func check<C: CaseIterable>(_ keyPath: AnyKeyPath, _ type: C.Type) -> Bool {
    guard let path = keyPath as? PartialKeyPath<C>, !C.allCases.isEmpty else { return false }
    return C.allCases.allSatisfy { value in
      guard let raw = value as? any RawRepresentable else { return false }
      return equal(raw, value[keyPath: path])
    }
  }

  /// Whether a value's raw value equals another value.
  private static func equal<R: RawRepresentable>(_ value: R, _ other: Any) -> Bool {
    func same<E: Equatable>(_ one: E) -> Bool { (other as? E) == one }
    guard let raw = value.rawValue as? any Equatable else { return false }
    return same(raw)
  }
}
