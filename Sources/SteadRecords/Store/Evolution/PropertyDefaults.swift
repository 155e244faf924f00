/// The default values of properties for many rows, of which some properties have another one for each row.
final class PropertyDefaults {
  /// By class, what is known of each property's expression.
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
