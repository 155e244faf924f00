extension PropertyList {
  /// Decodes a value from its type's stored form, or from the tree of its `Codable` form.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode`.
  package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    if let native = type as? any PreferenceValue.Type {
      if let value = try native.init(propertyList: self) as? Value { return value }
    }
    do {
      return try decodedTree(as: type)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The stored value does not decode as \(type). Have the type decode it, or set "
          + "another value.", cause: error)
    }
  }

  /// Decodes a value from the tree of its `Codable` form.
  ///
  /// - Throws: what the type's `init(from:)` throws.
  package func decodedTree<Value: Decodable>(as type: Value.Type) throws -> Value {
    try TreeDecoder(self, path: []).decode(type)
  }

  /// A value's stored form: its own, or the tree of its `Codable` form; nil for nil.
  package static func encoded<Value: Encodable>(_ value: Value) throws -> PropertyList? {
    if let native = value as? any PreferenceValue { return try native.propertyList() }
    do {
      return try TreeEncoder.tree(of: value)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError(
        code: .notAPropertyList,
        message: "A value of \(Value.self) could not be encoded; correct what the cause names.",
        cause: error)
    }
  }
}
