extension PropertyList {
  /// The kind of this value, in words; never the value.
  var kindName: String {
    switch self {
    case .bool: "a boolean"
    case .integer, .unsignedInteger: "a whole number"
    case .float, .double: "a number"
    case .date: "a date"
    case .data: "data"
    case .string: "a string"
    case .array: "an array"
    case .dictionary: "a dictionary"
    }
  }
}

extension PreferencesError {
  /// The error for a stored value of the wrong kind or out of range.
  @usableFromInline
  init(_ stored: PropertyList, isNo type: Any.Type) {
    self.init(
      code: .doesNotDecode,
      message:
        "The stored value is \(stored.kindName), which cannot be read as \(type). Set the key again, "
        + "or remove it.")
  }
}
