/// Names for value types in an encoded schema.
enum ValueTypeName {
  private static let names = TypeCache<String>()

  static func name(of type: any Any.Type) -> String {
    names.value(for: ObjectIdentifier(type)) {
      _mangledTypeName(type) ?? String(reflecting: type)
    }
  }

  /// The type with that name in this program, or `Any` if it has none.
  static func type(named name: String) -> any Any.Type {
    _typeByName(name) ?? Any.self
  }
}
