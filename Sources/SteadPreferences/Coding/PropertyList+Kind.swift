extension PropertyList {
  /// What kind of value this is, in words; never the value.
  var kindName: String {
    switch self {
    case .bool: "true or false"
    case .integer, .unsignedInteger: "a whole number"
    case .float, .double: "a number"
    case .date: "a date"
    case .data: "data"
    case .string: "text"
    case .array: "an array"
    case .dictionary: "a dictionary"
    }
  }
}

extension PreferencesError {
  /// The error for a stored value that is of the wrong kind, or of the right kind and out of range.
  @usableFromInline
  init(_ stored: PropertyList, isNo type: Any.Type) {
    self.init(
      code: .doesNotDecode,
      message: "What is stored is \(stored.kindName), which does not read as \(type).")
  }
}
