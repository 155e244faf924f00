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
    var fields: [Field] = []
    _ = _forEachField(of: type, options: []) { name, offset, fieldType, _ in
      fields.append(Field(name: String(cString: name), type: fieldType, offset: offset))
      return true
    }
    guard let decodable = type as? any Decodable.Type,
      let keys = PlaceholderDecoder.keys(of: decodable)
    else { return [] }
    let names = Set(keys)
    return fields.filter { names.contains($0.name) }
  }
}

extension Schema.Attribute {
  /// Whether the value is an object.
  package var isClass: Bool { PropertyShape(valueType).wrapped is AnyClass }

  /// The fields of the struct that the value is; none for other values, and for a struct that renames its keys.
  package var structFields: [Schema.Attribute] {
    guard encoding == .composite else { return [] }
    return CompositeFields.of(PropertyShape(valueType).wrapped).map {
      Schema.Attribute(name: $0.name, valueType: $0.type)
    }
  }
}
