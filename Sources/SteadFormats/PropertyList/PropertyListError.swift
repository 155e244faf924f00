import Foundation

/// Why bytes are not a property list, or a value cannot be in one.
///
/// Compare ``code``, show ``message``. No text in it ever holds a key or a value.
public struct PropertyListError: Error, Sendable, Hashable {
  /// What went wrong, to compare with.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { name }

    /// The bytes break the rules of the format.
    public static let damaged = Code("damaged")
    /// The bytes may be right, but hold what property lists here cannot hold.
    public static let unsupported = Code("unsupported")
    /// Arrays and dictionaries are nested deeper than ``PropertyList/maximumDepth``.
    public static let tooDeep = Code("tooDeep")
    /// What the bytes stand for takes far more memory than they do.
    public static let tooLarge = Code("tooLarge")
    /// The list is of another kind than the dictionary that was asked for.
    public static let notADictionary = Code("notADictionary")
    /// A value is of a type that property lists do not have.
    public static let notAPropertyList = Code("notAPropertyList")
  }

  /// What went wrong, to compare with.
  public var code: Code
  /// What went wrong, in a sentence for a person.
  public var message: String
  /// The byte of the file where it was seen, counted from 0; nil when no bytes were read.
  public var offset: Int?

  /// Makes an error; the package does this, and so may a test.
  public init(code: Code, message: String, offset: Int? = nil) {
    self.code = code
    self.message = message
    self.offset = offset
  }
}

extension PropertyListError: CustomStringConvertible, LocalizedError {
  /// The message, and the byte where there is one.
  public var description: String {
    if let offset { "\(message) (at byte \(offset))" } else { message }
  }
  /// The message, and the byte where there is one.
  public var errorDescription: String? { description }
}

extension PropertyListError {
  package static func damaged(_ message: String, at offset: Int?) -> PropertyListError {
    PropertyListError(code: .damaged, message: message, offset: offset)
  }

  package static func unsupported(_ message: String, at offset: Int?) -> PropertyListError {
    PropertyListError(code: .unsupported, message: message, offset: offset)
  }

  package static func tooDeep(at offset: Int? = nil) -> PropertyListError {
    PropertyListError(
      code: .tooDeep,
      message: "Arrays and dictionaries are nested deeper than \(PropertyList.maximumDepth).",
      offset: offset)
  }
}

extension PropertyList {
  /// How deep arrays and dictionaries may be nested in what is read or written.
  ///
  /// It keeps a forged file from using up the stack: reading takes at most 1.5 KB of it a level, and
  /// Apple's systems give 512 KB to other threads than the first.
  public static let maximumDepth = 256
}
