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
    // Nothing is known of what a transformer reads.
    case (.opaque, _) where old.structure == nil || new.structure == nil: self = .none
    default: self = Self.ofTypes(old, new)
    }
  }

  /// For types whose columns store values in the same way.
  private static func ofTypes(_ old: Schema.Attribute, _ new: Schema.Attribute) -> AttributeChange {
    // By structure: an app may change a type under its name, and its versions have types of one name.
    let structure = new.structure
    if let before = old.structure, structure?.reads(before) ?? false { return .none }
    let before = PropertyShape(old.valueType).wrapped
    let now = PropertyShape(new.valueType).wrapped
    if let range = IntegerRange(before), let wider = IntegerRange(now) {
      return wider.contains(range) ? .same : .checked
    }
    switch new.encoding {
    case .integer, .unsigned64, .text: return .checked
    // An earlier version of this library recorded no more than a name that the program no longer has.
    case .json, .composite: return old.structure == nil ? .same : .checked
    case .opaque: return .checked
    // Of numbers Float alone can't hold what the others can.
    case .real where now == Float.self: return .checked
    default:
      if case .raw? = structure { return .checked }
      return .same
    }
  }

  /// Whether two attributes have types of one form, whose name may have stayed the same.
  static func isOfOneName(_ old: Schema.Attribute, _ new: Schema.Attribute) -> Bool {
    let before = PropertyShape(old.valueType).wrapped
    return before == Any.self || "\(before)" == "\(PropertyShape(new.valueType).wrapped)"
  }
}
