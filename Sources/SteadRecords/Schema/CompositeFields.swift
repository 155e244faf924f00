@_spi(Reflection) import Swift

/// The fields of a Codable struct, by which predicates reach into it.
///
/// Only fields whose coding key equals their name are listed; a struct that renames its keys has none, and predicates
/// on it are evaluated in memory.
enum CompositeFields {
  struct Field {
    let name: String
    let type: any Any.Type
    let offset: Int
  }

  static func of(_ type: any Any.Type) -> [Field] {
    let fields = stored(in: type)
    guard let decodable = type as? any Decodable.Type,
      let keys = PlaceholderDecoder.keys(of: decodable)
    else { return [] }
    let names = Set(keys)
    return fields.filter { names.contains($0.name) }
  }

  /// All stored properties; none where the program lacks the type, which `Any` stands for then.
  static func stored(in type: any Any.Type) -> [Field] {
    guard type != Any.self else { return [] }
    var fields: [Field] = []
    _ = _forEachField(of: type, options: []) { name, offset, fieldType, _ in
      fields.append(Field(name: String(cString: name), type: fieldType, offset: offset))
      return true
    }
    return fields
  }
}

extension Schema.Attribute {
  /// Whether the value is an object.
  package var isClass: Bool { PropertyShape(valueType).wrapped is AnyClass }

  /// The fields of the struct that the value is, by their coding keys; none for other values, and for a struct whose keys
  /// are not known.
  package var structFields: [Schema.Attribute] {
    let type = PropertyShape(valueType).wrapped
    guard encoding == .composite, let decodable = type as? any Decodable.Type else { return [] }
    guard let keys = CodingKeyNames(of: decodable)?.strings else {
      return CompositeFields.of(type).map { Schema.Attribute(name: $0.name, valueType: $0.type) }
    }
    return CompositeFields.stored(in: type).compactMap { field in
      keys[field.name].map { Schema.Attribute(name: $0, valueType: field.type) }
    }
  }

  /// The names of the columns that SQLite computes of a struct's fields, less the property's.
  ///
  /// Where the program lacks the type, what the store recorded of it tells.
  var computedFields: [String] {
    guard encoding == .composite else { return [] }
    let type = PropertyShape(valueType).wrapped
    guard type == Any.self else { return CompositeFields.of(type).map(\.name) }
    guard case .fields(let fields, let keys)? = structure else { return [] }
    return fields.keys.filter { keys?.contains($0) ?? true }
  }
}
