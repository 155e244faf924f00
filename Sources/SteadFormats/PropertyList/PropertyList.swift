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

// MARK: - Formats

extension PropertyList {
  /// A format that property lists are written in.
  public enum Format: Sendable, Hashable {
    /// Apple's `bplist00`: small, fast, exact.
    case binary
    /// Apple's XML: for people and diffs. Dates lose their fraction of a second and `Float` becomes `Double`.
    case xml
  }

  /// Parses a binary, XML or NeXTSTEP property list; the first bytes determine the format.
  ///
  /// Text is UTF-8 or, with a byte order mark, UTF-16; XML may declare ISO 8859-1 or ASCII. In
  /// NeXTSTEP's format all scalars are strings and data, and a dictionary may lack its braces, as
  /// in a `.strings` file. A reference of a keyed archive becomes a dictionary with the single key
  /// `CF$UID`.
  ///
  /// Binary and XML are parsed by this package, 17 and 4 times as fast as by
  /// `PropertyListSerialization` of Foundation on Linux, which damaged files can crash.
  ///
  /// - Throws: ``PropertyListError`` for anything malformed, nested deeper than ``maximumDepth``,
  ///   or crafted to use up memory.
  public static func parse(_ data: Data) throws -> PropertyList {
    guard !data.isEmpty else { throw PropertyListError.damaged("it is empty", at: 0) }
    // Of a truncated binary file perhaps only the first bytes are left, which form a word. Other
    // versions of the format must not reach Foundation's reader, which damaged files crash.
    let mark = BinaryPropertyList.magic.utf8.prefix(6)
    if data.prefix(mark.count).elementsEqual(mark.prefix(data.count)) {
      return try BinaryPropertyList.decode(data)
    }
    // Both text formats are parsed as UTF-8.
    let text = try TextEncoding.utf8(data)
    let xml = try text.withUnsafeBytes { bytes in
      TextEncoding.isXML(bytes) ? try XMLPropertyListReader.read(bytes) : nil
    }
    return try xml ?? NeXTSTEPPropertyList.read(text)
  }

  /// Parses an XML or NeXTSTEP property list in a string.
  ///
  /// - Throws: As ``parse(_:)-(Data)``.
  public static func parse(_ text: String) throws -> PropertyList {
    try parse(Data(text.utf8))
  }

  /// The value of a command-line argument, as Foundation's `UserDefaults` reads `-key value`.
  ///
  /// An argument that begins with `{`, `(`, `<` or `"` is parsed as a property list. Otherwise, and
  /// if it isn't one, it is a string.
  public init(argument: String) {
    let isList = argument.utf8.first.map { "{(<\"".utf8.contains($0) } ?? false
    let list = isList ? try? Self.parse(argument) : nil
    self = list ?? .string(argument)
  }

  /// Serializes the property list.
  ///
  /// - Throws: ``PropertyListError`` if it is nested deeper than ``maximumDepth``. In XML, also for
  ///   a string with a control character, and a date whose year has more than 9 digits, neither of
  ///   which XML can represent.
  public func data(format: Format = .binary) throws -> Data {
    switch format {
    case .binary: try BinaryPropertyList.encode(self)
    case .xml: try XMLPropertyListWriter.write(self)
    }
  }
}

/// Detects the character encoding of a text property list.
private enum TextEncoding {
  /// The text in UTF-8, without a byte order mark.
  static func utf8(_ data: Data) throws -> Data {
    if data.starts(with: [0xEF, 0xBB, 0xBF]) { return data.dropFirst(3) }
    if data.starts(with: [0xFE, 0xFF]) { return try converted(data, from: .utf16) }
    if data.starts(with: [0xFF, 0xFE]) { return try converted(data, from: .utf16) }
    guard let name = declaredName(data) else { return data }
    switch name.uppercased() {
    // ASCII is UTF-8; wrong bytes are found when strings are validated.
    case "UTF-8", "UTF8", "US-ASCII", "ASCII": return data
    case "ISO-8859-1", "LATIN1": return try converted(data, from: .isoLatin1)
    default:
      throw PropertyListError.unsupported(
        "The property list has an unsupported encoding; save it as UTF-8.", at: 0)
    }
  }

  /// The text in UTF-8, decoded from another encoding; Foundation consumes the byte order mark of
  /// UTF-16.
  private static func converted(_ data: Data, from encoding: String.Encoding) throws -> Data {
    guard let text = String(data: data, encoding: encoding) else {
      throw PropertyListError.damaged("its text isn't in the declared encoding", at: 0)
    }
    return Data(text.utf8)
  }

  /// The encoding in the XML declaration, such as `ISO-8859-1`; nil if there is no declaration, or
  /// no encoding in it.
  private static func declaredName(_ data: Data) -> Substring? {
    // The declaration is at the very beginning, or it isn't one. It is ASCII in every encoding that
    // is supported.
    let limit = 256
    let start = String(decoding: data.prefix(limit), as: UTF8.self)
    guard start.hasPrefix("<?xml"), let end = start.range(of: "?>"),
      let name = start.range(of: "encoding", range: start.startIndex..<end.lowerBound)
    else { return nil }
    let parts = start[name.upperBound..<end.lowerBound]
      .split(omittingEmptySubsequences: false) { $0 == "\"" || $0 == "'" }
    return parts.count > 1 ? parts[1] : nil
  }

  /// Whether the text is XML, valid or not. `<` alone doesn't decide, since NeXTSTEP's format
  /// begins data with it: `<0fbd77>`.
  static func isXML(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var scanner = ByteScanner(bytes)
    scanner.skipSpace()
    guard scanner.consume("<") else { return false }
    if scanner.isNext("?") || scanner.isNext("!") { return true }
    let name = scanner.consume { !$0.isSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    return XMLPropertyListReader.names.contains(String(decoding: name, as: UTF8.self))
  }
}

// MARK: - NeXTSTEP's format

/// NeXTSTEP's property lists, `{ theme = dark; sizes = (1, 2); }`, parsed by Foundation.
///
/// Foundation's `UserDefaults` accepts them in two places: on the command line, `-AppleLanguages
/// "(de, en)"`, and in a file written by hand. Both are short, so speed doesn't matter.
///
/// Unlike its binary reader, Foundation's reader of this format can be trusted with damaged input:
/// it limits its depth, and 60,000 files with random changes didn't crash it. It writes a line to
/// standard error for a dictionary without a semicolon.
enum NeXTSTEPPropertyList {
  /// Parses a property list in UTF-8.
  static func read(_ text: Data) throws -> PropertyList {
    guard var list = parseWithFoundation(of: text) else {
      throw PropertyListError.damaged("its text is of no known format", at: nil)
    }
    // Only the form without braces is parsed leniently; see below.
    if list is [AnyHashable: Any], !beginsWithBrace(text) { list = try parseStringsFile(text) }
    return try PropertyList(validating: list)
  }

  /// Parses the form of a strings file: `theme = dark; size = 2;` without braces.
  ///
  /// Foundation's reader stops at the first character that no key can begin with, and returns the
  /// keys before it without an error. A typo would then remove all keys after it from a domain.
  /// Within braces it accepts the same contents, and refuses anything else, so the text is parsed
  /// again within braces.
  private static func parseStringsFile(_ text: Data) throws -> Any {
    // A line comment at the end must not hide the brace.
    let list = parseWithFoundation(of: Data("{\n".utf8) + text + Data("\n}".utf8))
    guard let fields = list as? [AnyHashable: Any] else {
      throw PropertyListError.damaged(
        "its keys are not within braces, and something between them is neither a key nor a value",
        at: nil)
    }
    // Foundation reads blanks and comments as an empty dictionary. A half-written file would then remove the
    // keys of its domain.
    guard !fields.isEmpty else {
      throw PropertyListError.damaged("its text contains no value", at: nil)
    }
    return fields
  }

  /// What Foundation makes of the text; nil for an error.
  private static func parseWithFoundation(of text: Data) -> Any? {
    try? PropertyListSerialization.propertyList(from: text, format: nil)
  }

  /// Whether the first character that is neither whitespace nor in a comment is an opening brace.
  private static func beginsWithBrace(_ text: Data) -> Bool {
    var rest = String(decoding: text, as: UTF8.self).unicodeScalars[...]
    func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
      ["\n", "\r", "\u{2028}", "\u{2029}"].contains(scalar)
    }
    while let first = rest.first {
      if first == " " || ("\t"..."\r").contains(first) || isLineBreak(first) {
        rest.removeFirst()
      } else if rest.starts(with: "//".unicodeScalars) {
        rest = rest.drop { !isLineBreak($0) }
      } else if rest.starts(with: "/*".unicodeScalars) {
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".unicodeScalars) { rest.removeFirst() }
        rest = rest.dropFirst(2)
      } else {
        return first == "{"
      }
    }
    return false
  }
}
