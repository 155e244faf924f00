import Foundation
import SteadSQLite

/// The default values of properties for many rows: the same for all, or another one for each row, such as `UUID()`.
final class PropertyDefaults {
  /// By class, what was found out about each property's expression; nil for one that always has the same value.
  private var known: [ObjectIdentifier: [String: RowDefaults?]] = [:]

  /// The value of the next row, and whether it is for this row alone; nil for a property without a default value.
  func next(
    of name: String, _ encoding: ColumnEncoding, _ value: Any?, in type: any PersistentModel.Type
  ) -> (value: Any, isOwn: Bool)? {
    guard let value else { return nil }
    let key = ObjectIdentifier(type)
    let defaults: RowDefaults?
    if let found = known[key]?[name] {
      defaults = found
    } else {
      defaults = RowDefaults(name, encoding, value, of: type)
      // Not by subscript, where nil would remove the entry.
      known[key, default: [:]].updateValue(defaults, forKey: name)
    }
    if let own = defaults?.nextValue() { return (own, true) }
    return (value, false)
  }

  /// The same, of a property of an entity.
  func next(of property: PropertyLayout, in entity: EntityLayout) -> (value: Any, isOwn: Bool)? {
    guard case .attribute(let encoding) = property.kind else { return nil }
    return next(of: property.name, encoding, property.defaultValue, in: entity.type)
  }
}

// MARK: - Values of one row

/// The default values of a property whose expression gives another value each time, such as `UUID()`: one for each row.
struct RowDefaults {
  /// How often an expression must give the same value to count as one that always does.
  private static let trials = 16

  /// The class whose metadata evaluate the expression.
  private let declarer: any PersistentModel.Type
  /// The property's name.
  private let name: String
  /// How the column stores the values.
  private let encoding: ColumnEncoding

  /// nil for a property without a default value, and for one that has the same for all rows.
  ///
  /// Costs some evaluations of the default values of the class that declares the property, as does each value.
  init?(_ property: PropertyLayout, of type: any PersistentModel.Type) {
    guard case .attribute(let encoding) = property.kind else { return nil }
    self.init(property.name, encoding, property.defaultValue, of: type)
  }

  /// The same, of a property by its name.
  init?(
    _ name: String, _ encoding: ColumnEncoding, _ value: Any?, of type: any PersistentModel.Type
  ) {
    guard let value, let known = DefaultValueEncoder.encode(value, as: encoding),
      let declarer = Self.declarer(of: name, from: type)
    else { return nil }
    (self.declarer, self.name, self.encoding) = (declarer, name, encoding)
    // An expression of few values may repeat itself by chance, hence the trials.
    for _ in 0..<Self.trials where next() != known { return }
    return nil
  }

  /// The class that declares a property. Its metadata evaluate the expression of the initial value; those of a
  /// subclass lack the property.
  private static func declarer(
    of name: String, from type: any PersistentModel.Type
  ) -> (any PersistentModel.Type)? {
    var current: ModelMetadata? = ModelMetadata.of(type)
    while let metadata = current {
      if metadata.properties.contains(where: { $0.name == name }) { return metadata.type }
      current = metadata.parent
    }
    return nil
  }

  /// The value of the next row.
  func next() -> SQLValue? {
    nextValue().flatMap { DefaultValueEncoder.encode($0, as: encoding) }
  }

  /// The value of the next row, as its property has it.
  func nextValue() -> Any? {
    declarer.schemaMetadata.first { $0.name == name }?.defaultValue
  }
}

// MARK: - Columns

/// Encodes the default value of a property as its column does, for rows that are older than the property.
enum DefaultValueEncoder {
  /// The column's value; nil if the type cannot be stored.
  static func encode(_ value: Any, as encoding: ColumnEncoding) -> SQLValue? {
    // An app may make `Date` and the like `RawRepresentable`.
    if let raw = value as? any RawRepresentable, !(value is any _AttributeValue) {
      return encodeRaw(raw, as: encoding)
    }
    switch value {
    case let value as Bool: return .integer(value ? 1 : 0)
    // Before all other integers, which `Int64` covers.
    case let value as UInt64: return unsigned(value)
    case let value as UInt: return unsigned(UInt64(value))
    case let value as any BinaryInteger: return .integer(Int64(truncatingIfNeeded: value))
    case let value as Double: return real(value)
    case let value as Float: return real(Double(value))
    case let value as CGFloat: return real(Double(value))
    case let value as String: return .text(value)
    case let value as Date: return .real(value.timeIntervalSinceReferenceDate)
    case let value as Decimal: return .text(value.description)
    case let value as Data: return .blob(value)
    case let value as UUID: return .blob(withUnsafeBytes(of: value.uuid) { Data($0) })
    case let value as URL: return .text(value.absoluteString)
    case let value as any Encodable: return (try? JSONColumn.text(value)).map { .text($0) }
    default: return nil
    }
  }

  /// Encodes a raw value as its own type would be.
  private static func encodeRaw<R: RawRepresentable>(
    _ value: R, as encoding: ColumnEncoding
  ) -> SQLValue? {
    encode(value.rawValue, as: encoding)
  }

  /// The form of ``UnsignedColumn``.
  private static func unsigned(_ value: UInt64) -> SQLValue {
    Int64(exactly: value).map { .integer($0) } ?? .text(UnsignedColumn.text(value))
  }

  /// The form of ``RealColumn``.
  private static func real(_ value: Double) -> SQLValue {
    value.isNaN ? .text(RealColumn.notANumber) : .real(value)
  }
}

/// The default value of a property as an SQL literal, for `ALTER TABLE … ADD COLUMN … DEFAULT`, which takes no parameter.
struct DefaultLiteral {
  /// The value that the literal has to have.
  let value: SQLValue

  /// Makes the literal of a value that is in its column's form.
  init(value: SQLValue) { self.value = value }

  /// nil for a property without a default value.
  init?(_ property: PropertyLayout) {
    guard case .attribute(let encoding) = property.kind, let value = property.defaultValue,
      let stored = DefaultValueEncoder.encode(value, as: encoding)
    else { return nil }
    self.value = stored
  }

  /// The string; nil if SQLite would read another value from it.
  func checked(_ connection: StoreConnection) throws -> String? {
    guard let text else { return nil }
    return try connection.rows("SELECT \(text)").first?.first == value ? text : nil
  }

  /// The literal; nil for values that have none, or that SQLite might read as another one.
  private var text: String? {
    switch value {
    case .null: nil
    case .integer(let number): number == .min ? nil : "\(number)"
    case .real(let number): number.isFinite && number.sign == .plus ? "\(number)" : nil
    case .text(let text):
      // SQL ends at NUL.
      text.utf8.contains(0) ? nil : "'\(text.replacing("'", with: "''"))'"
    case .blob(let data):
      "x'"
        + data.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        + "'"
    }
  }
}
