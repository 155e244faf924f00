extension DecodingError {
  /// What is wrong, without what was read: Foundation's own descriptions may quote it.
  package var sentenceWithoutValue: String {
    switch self {
    case .keyNotFound(let key, _): "The value of \(key.stringValue) is missing."
    case .typeMismatch(let type, _): "A value isn't a \(type)."
    case .valueNotFound(let type, _): "A value of \(type) is missing."
    case .dataCorrupted: "A value is corrupt."
    @unknown default: "The data does not decode."
    }
  }
}

extension EncodingError {
  /// What is wrong, without the value.
  package var sentenceWithoutValue: String {
    switch self {
    case .invalidValue(let value, _): "A value of \(type(of: value)) cannot be encoded."
    @unknown default: "The value does not encode."
    }
  }
}
