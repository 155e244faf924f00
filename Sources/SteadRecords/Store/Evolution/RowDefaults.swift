import SteadSQLite

/// The default values of a property whose expression gives another value each time, such as `UUID()`: one for each row.
struct RowDefaults {
  /// How often an expression must give the same value to count as one that always does.
  private static let trials = 16

  private let declarer: any PersistentModel.Type
  private let name: String
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
    for _ in 0..<Self.trials where next() != known { return }
    return nil
  }

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
