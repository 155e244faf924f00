import Foundation

/// Why bytes aren't a property list, or a property list cannot contain a value.
///
/// Compare ``code``, show ``message``. No string in it ever contains a key or a value.
public struct PropertyListError: Error, Sendable, Hashable {
  /// What went wrong, for comparison.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { name }

    /// The bytes break the rules of the format.
    public static let damaged = Code("damaged")
    /// The bytes may be valid, but contain what property lists here cannot hold.
    public static let unsupported = Code("unsupported")
    /// Arrays and dictionaries are nested deeper than ``PropertyList/maximumDepth``.
    public static let tooDeep = Code("tooDeep")
    /// The contents take far more memory than the bytes.
    public static let tooLarge = Code("tooLarge")
    /// The list isn't a dictionary, which was requested.
    public static let notADictionary = Code("notADictionary")
    /// A value has a type that property lists cannot contain.
    public static let notAPropertyList = Code("notAPropertyList")
  }

  /// What went wrong, for comparison.
  public var code: Code
  /// What went wrong, and the remedy.
  public var message: String
  /// The byte offset of the error, counted from 0; nil when no bytes were read.
  public var offset: Int?

  /// Makes an error; the package does this, and a test may, too.
  public init(code: Code, message: String, offset: Int? = nil) {
    self.code = code
    self.message = message
    self.offset = offset
  }
}

extension PropertyListError: CustomStringConvertible, LocalizedError {
  /// The message, and the byte offset if known.
  public var description: String {
    if let offset { "\(message) (at byte \(offset))" } else { message }
  }
  /// The message, and the byte offset if known.
  public var errorDescription: String? { description }
}

extension PropertyListError {
  /// - Parameter fault: What is wrong with the list, as a clause: `a tag has no end`.
  package static func damaged(_ fault: String, at offset: Int?) -> PropertyListError {
    PropertyListError(
      code: .damaged,
      message: "The property list is damaged: \(fault). Correct it, or use a good copy.",
      offset: offset)
  }

  package static func unsupported(_ message: String, at offset: Int?) -> PropertyListError {
    PropertyListError(code: .unsupported, message: message, offset: offset)
  }

  package static func tooDeep(at offset: Int? = nil) -> PropertyListError {
    PropertyListError(
      code: .tooDeep,
      message: "Arrays and dictionaries are nested deeper than \(PropertyList.maximumDepth); "
        + "flatten them.",
      offset: offset)
  }
}

extension PropertyList {
  /// The maximum nesting depth of arrays and dictionaries that are read or written.
  ///
  /// It keeps a forged file from exhausting the stack: reading takes at most 1.5 KB of it a level, and
  /// Apple's systems give 512 KB to threads other than the first.
  public static let maximumDepth = 256
}
