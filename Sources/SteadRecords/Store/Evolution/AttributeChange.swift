/// What happens to an attribute's values when its type changes.
enum AttributeChange {
  /// It has the same type.
  case none
  /// The same stored values are read as another type, and all of them can be.
  case same
  /// The same stored values are read as another type, if they can be.
  case checked
  /// Values in files are moved into the column.
  case inlined
  /// Values may be stored in files.
  case externalized
  /// Stored values would have to be converted.
  case refused

  init(from old: Schema.Attribute, to new: Schema.Attribute) {
    let isSameTransformer = old.transformerName == new.transformerName
    switch (old.encoding, new.encoding) {
    case (.external, .external): self = .none
    case (.external, .data): self = .inlined
    case (.data, .external): self = .externalized
    case (let before, let now) where before != now || !isSameTransformer: self = .refused
    case (.opaque, _): self = .none
    default: self = Self.ofTypes(old, new)
    }
  }

  /// For types whose columns store values in the same way.
  private static func ofTypes(_ old: Schema.Attribute, _ new: Schema.Attribute) -> AttributeChange {
    let before = PropertyShape(old.valueType).wrapped
    let now = PropertyShape(new.valueType).wrapped
    if before == now { return .none }
    // The later version of an app has its own types with the names of the earlier ones.
    if before != Any.self, "\(before)" == "\(now)", !(now is any FixedWidthInteger.Type) {
      return .none
    }
    if let range = IntegerRange(before), let wider = IntegerRange(now) {
      return wider.contains(range) ? .same : .checked
    }
    switch new.encoding {
    case .integer, .unsigned64, .text: return .checked
    case .json, .composite: return before == Any.self ? .same : .checked
    default: return .same
    }
  }
}
