import Foundation

/// A value of a property list, with its exact type.
///
/// Literals aren't supported on purpose: a number's kind matters, so it is written out.
///
/// ```swift
/// let list: PropertyList = .dictionary(["theme": .string("dark"), "sizes": .array([.integer(1), .double(2)])])
/// let bytes = try list.data(format: .xml)
/// let same = try PropertyList.parse(bytes) == list  // true
/// ```
///
/// Booleans, integers, `Float` and `Double` are distinct, as in the binary format, and come back
/// from a file as what they were. Two values are equal if kind and content are: `.integer(1)`
/// equals neither `.bool(true)` nor `.double(1)`.
public enum PropertyList: Sendable, Hashable {
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A whole number above `Int64.max`; ``init(_:)-(UInt64)`` makes `.integer` of the others.
  case unsignedInteger(UInt64)
  /// A 32-bit floating-point number.
  case float(Float)
  /// A 64-bit floating-point number.
  case double(Double)
  /// A moment.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// A string.
  case string(String)
  /// An ordered list of values.
  case array([PropertyList])
  /// Values by key.
  case dictionary(Fields)

  /// Makes a whole number up to `UInt64.max`, in its only form.
  public init(_ number: UInt64) {
    // Each number has one representation, so that equality is equality of cases.
    self = Int64(exactly: number).map { .integer($0) } ?? .unsignedInteger(number)
  }
}

// MARK: - Equality

extension PropertyList {
  /// Whether both are of one kind and have the same bytes.
  ///
  /// Two spellings of "é" differ, as do 0.0 and -0.0, and a NaN equals itself. So a value that was
  /// written and read equals itself, and no difference between two files goes unnoticed.
  public static func == (left: PropertyList, right: PropertyList) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsignedInteger(let left), .unsignedInteger(let right)): left == right
    // Bit patterns: NaN equals itself, and -0.0 isn't 0.0.
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    case (.date(let left), .date(let right)): left.bits == right.bits
    case (.data(let left), .data(let right)): left == right
    case (.string(let left), .string(let right)): left.isSameText(as: right)
    case (.array(let left), .array(let right)): left == right
    case (.dictionary(let left), .dictionary(let right)): left == right
    default: false
    }
  }

  /// Hashes the kind and the bytes.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let bool): hasher.combine(bool)
    case .integer(let number): hasher.combine(number)
    case .unsignedInteger(let number): hasher.combine(number)
    case .float(let number): hasher.combine(number.bitPattern)
    case .double(let number): hasher.combine(number.bitPattern)
    case .date(let date): hasher.combine(date.bits)
    case .data(let data): hasher.combine(data)
    case .string(let text): text.hashBytes(into: &hasher)
    case .array(let elements): hasher.combine(elements)
    case .dictionary(let fields): hasher.combine(fields)
    }
  }
}

extension Date {
  /// The bits of the number that the binary format stores.
  fileprivate var bits: UInt64 { timeIntervalSinceReferenceDate.bitPattern }
}

extension String {
  /// Hashes the UTF-8, which is what ``isSameText(as:)`` compares.
  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

// MARK: - Errors

/// The error of reading or writing a property list.
///
/// Compare ``code``, show ``message``. Neither contains a key or a value of the list, so both can
/// be logged.
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
  /// An error for bytes that break the rules of a format.
  ///
  /// - Parameter fault: What is wrong with the list, as a clause: `a tag has no end`.
  package static func damaged(_ fault: String, at offset: Int?) -> PropertyListError {
    PropertyListError(
      code: .damaged,
      message: "The property list is damaged: \(fault). Correct it, or use a good copy.",
      offset: offset)
  }

  /// An error for bytes that may be valid, but that a ``PropertyList`` cannot represent.
  package static func unsupported(_ message: String, at offset: Int?) -> PropertyListError {
    PropertyListError(code: .unsupported, message: message, offset: offset)
  }

  /// An error for arrays and dictionaries nested deeper than ``PropertyList/maximumDepth``.
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
  /// It keeps a crafted file from exhausting the stack: reading takes at most 1.5 KB of stack a
  /// level, and secondary threads have 512 KB on Apple's platforms.
  public static let maximumDepth = 256
}
