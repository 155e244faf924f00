import Foundation

/// Why a Swift value could not be made from what is stored, or could not be stored.
///
/// Compare ``code``, show ``message``, look into ``cause``. No text in it ever holds a stored value.
public struct PreferenceValueError: Error, Sendable {
  /// What went wrong, to compare with.
  public struct Code: Hashable, Sendable {
    private enum Name { case doesNotDecode, doesNotEncode, tooDeep, tooManyKeptAside }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// What is stored is of another kind, out of range, or has parts missing.
    public static let doesNotDecode = Code(.doesNotDecode)
    /// The value has no form that a property list can hold, such as a nil inside of an array.
    public static let doesNotEncode = Code(.doesNotEncode)
    /// The value is nested deeper than the limit that the call documents.
    public static let tooDeep = Code(.tooDeep)
    /// As many values that do not decode are kept aside for this key as there may be.
    public static let tooManyKeptAside = Code(.tooManyKeptAside)
  }

  /// What went wrong, to compare with.
  public var code: Code
  /// What went wrong and what to do, in a sentence or two for a person.
  public var message: String
  /// The key it went wrong at, where there is one.
  public var key: String?
  /// The error underneath, where there was one.
  public var cause: (any Error)?

  /// Makes an error; the package does this, and so may a type of yours that decodes itself.
  public init(code: Code, message: String, key: String? = nil, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.key = key
    self.cause = cause
  }
}

extension PreferenceValueError: CustomStringConvertible, LocalizedError {
  /// The message, and the key where there is one.
  public var description: String { key.map { "\(message) (key \($0))" } ?? message }
  /// The message, and the key where there is one.
  public var errorDescription: String? { description }
}

extension PreferenceValueError {
  /// The error for a stored value that is of the wrong kind, or of the right kind and out of range.
  @usableFromInline
  init(_ stored: PropertyList, isNo type: Any.Type) {
    self.init(
      code: .doesNotDecode,
      message: "What is stored is \(stored.kindName), which does not read as \(type).")
  }
}

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
