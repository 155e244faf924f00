import Foundation
import SteadFormats
import SteadSQLite

/// Sets one property of an object to its value in a snapshot.
///
/// A visitor, since a property's type is known to its slot alone.
///
/// Invariant: a slot is set only to a value of its own type. What has another type is an error, or
/// stays in ``Gaps/unreadable`` for the column.
struct SlotFiller: _SlotVisitor {
  static let setsAttributes = true

  /// What a snapshot does not say of an object.
  struct Gaps {
    /// The properties whose values are default values made for this object alone, such as `UUID()`. They are not
    /// written over what a row already has.
    var generated: Set<Int> = []
    /// What columns should hold of values that the properties' types do not read. The object's slots for them are
    /// empty.
    var unreadable: [Int: SQLValue] = [:]
  }

  private let values: SnapshotValues
  private let entity: EntityLayout
  private let property: PropertyLayout
  private let defaults: PropertyDefaults
  private let keepsUnreadable: Bool
  /// What the object's row has of a struct; nil without a row.
  private let row: (PropertyLayout) -> JSONValue?
  private var gaps: Gaps
  private var error: (any Error)?

  /// Sets all attributes of an object.
  ///
  /// - Parameters:
  ///   - keepsUnreadable: Whether a value that its type does not read is kept for the column, which makes the row
  ///     unreadable. Otherwise it is an error.
  ///   - row: What the object's row has of a struct; nil if there is no row.
  /// - Throws: ``SwiftDataError`` `.unreadableValue` for a value that is missing, or of another type.
  @discardableResult
  static func fill(
    _ model: any PersistentModel, of entity: EntityLayout, with values: SnapshotValues,
    _ defaults: PropertyDefaults, keepsUnreadable: Bool = false,
    row: @escaping (PropertyLayout) -> JSONValue? = { _ in nil }
  ) throws -> Gaps {
    var gaps = Gaps()
    for property in entity.properties {
      // Relationships are left to the caller, which links objects or writes rows.
      guard case .attribute = property.kind else { continue }
      var filler = SlotFiller(
        values: values, entity: entity, property: property, defaults: defaults,
        keepsUnreadable: keepsUnreadable, row: row, gaps: gaps)
      model._$visit(property.index, &filler)
      if let error = filler.error { throw error }
      gaps = filler.gaps
    }
    return gaps
  }

  /// Sets the slot; an error is kept for ``fill(_:of:with:_:keepsUnreadable:row:)``, since a visit cannot throw.
  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) {
    do {
      slot = S(try value(S.Value.self))
    } catch let error as SwiftDataError {
      self.error = error
    } catch {
      if keepsUnreadable, let column = unreadableColumn() {
        gaps.unreadable[property.index] = column
        return
      }
      self.error = SwiftDataError(
        .unreadableValue,
        "\(entity.name).\(property.name) of \(values.identifier.primaryKey) has the type \(PropertyShape(property.valueType).wrapped), "
          + "and the store has another value. Have the store repair it, or make the property's type accept what it "
          + "holds.", cause: error)
    }
  }

  /// The property's value: from the snapshot, else nil, else its default value.
  private mutating func value<V>(_ type: V.Type) throws -> V {
    let found: V?
    do {
      found =
        if let name = property.transformerName { try transformed(by: name, to: type) } else {
          try values.value(of: property.name, as: type)
        }
      // A field may be missing since the type has gained it. Any other error is final.
    } catch let error as DecodingError {
      guard let value = try completed(type) else { throw error }
      return value
    }
    if let found { return found }
    // A missing value of an optional property is nil, whatever its default value: the store says that there is none.
    if let nothing = (V.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? V {
      return nothing
    }
    if let next = defaults.next(of: property, in: entity), let value = next.value as? V {
      // Another value would be made for the same object at each read. The caller keeps what its row
      // has.
      if next.isOwn { gaps.generated.insert(property.index) }
      return value
    }
    throw SwiftDataError(
      .unreadableValue,
      "A snapshot has no value for \(entity.name).\(property.name), which is not optional. Give the property a "
        + "default value, or have the store return one.")
  }

  /// The value of a struct that has gained fields since the snapshot was written, with these from the property's
  /// default value. What was made for the object when its row was written stays: so the row's fields come first if
  /// the default value is made for each object.
  private func completed<V>(_ type: V.Type) throws -> V? {
    guard property.transformerName == nil, let value = values.stored(property.name),
      let next = defaults.next(of: property, in: entity)
    else { return nil }
    // The row first if the default value is made for each object: a new `UUID()` would change a value that was
    // stored.
    let sources = [
      next.isOwn ? row(property) : nil, ValueReader.fields(ofDefault: next.value),
    ]
    for fields in sources.compactMap({ $0 }) {
      if let whole = try SnapshotCoding.completed(value, as: type, from: fields) {
        return try SnapshotCoding.decoded(whole, as: type)
      }
    }
    return nil
  }

  /// The value of a property with a transformer.
  private func transformed<V>(by name: String, to type: V.Type) throws -> V? {
    guard let data = try values.value(of: property.name, as: Data.self) else { return nil }
    guard let transformer = AttributeTransformers.transformer(named: name),
      let value = transformer.storedValue(of: data, as: type)
    else { throw ColumnError.notTransformable }
    return value
  }

  /// What the column holds of a value that the property's type does not read, so that reading the row reports it. Nil
  /// for types whose columns are read whatever they hold.
  private func unreadableColumn() -> SQLValue? {
    guard case .attribute(let encoding) = property.kind, property.transformerName == nil,
      let stored = values.stored(property.name), let json = try? SnapshotCoding.json(of: stored)
    else { return nil }
    let text = String(decoding: json, as: UTF8.self)
    let type = PropertyShape(property.valueType).wrapped
    // An enum's column has its raw value, not the JSON of it.
    let isRaw = type is any RawRepresentable.Type && !(type is any _AttributeValue.Type)
    let column: SQLValue
    switch encoding {
    case .json, .composite, .opaque: column = .text(text)
    case .text where isRaw:
      let list = Data("[\(text)]".utf8)
      column = .text((try? JSONDecoder().decode([String].self, from: list))?.first ?? text)
    case .integer where isRaw:
      guard let number = Int64(text) else { return nil }
      column = .integer(number)
    default: return nil
    }
    // If the column could be read after all, the row would get a value that the snapshot does not
    // have.
    guard case .none = ValueReader(type, encoding).fit(of: column) else { return nil }
    return column
  }
}
