import Foundation

/// Sets one property of an object to its value in a snapshot.
struct SlotFiller: _SlotVisitor {
  let values: SnapshotValues
  let entity: EntityLayout
  let property: PropertyLayout
  private(set) var error: (any Error)?

  init(_ values: SnapshotValues, _ entity: EntityLayout, _ property: PropertyLayout) {
    self.values = values
    self.entity = entity
    self.property = property
  }

  /// Fills all attributes of an object.
  static func fill(
    _ model: any PersistentModel, of entity: EntityLayout, with values: SnapshotValues
  ) throws {
    for property in entity.properties {
      guard case .attribute = property.kind else { continue }
      var filler = SlotFiller(values, entity, property)
      model._$visit(property.index, &filler)
      if let error = filler.error { throw error }
    }
  }

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) {
    do {
      slot = S(try value(S.Value.self))
    } catch let error as SwiftDataError {
      self.error = error
    } catch {
      self.error = SwiftDataError(
        .unreadableValue,
        "\(entity.name).\(property.name) of a snapshot does not hold a value of its type. Have the store repair "
          + "it, or make the property's type accept what it holds.", cause: error)
    }
  }

  private func value<V>(_ type: V.Type) throws -> V {
    let found =
      if let name = property.transformerName { try transformed(by: name, to: type) } else {
        try values.value(of: property.name, as: type)
      }
    if let found { return found }
    if let nothing = (V.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? V {
      return nothing
    }
    if let value = property.defaultValue as? V { return value }
    throw SwiftDataError(
      .unreadableValue,
      "A snapshot has no value for \(entity.name).\(property.name), which is not optional. Give the property a "
        + "default value, or have the store return one.")
  }

  private func transformed<V>(by name: String, to type: V.Type) throws -> V? {
    guard let data = try values.value(of: property.name, as: Data.self) else { return nil }
    guard let transformer = AttributeTransformers.transformer(named: name),
      let value = transformer.storedValue(of: data, as: type)
    else { throw ColumnError.notTransformable }
    return value
  }
}
