import Foundation

extension PropertyList {
  /// A format in which property lists are written.
  public enum Format: Sendable, Hashable {
    /// Apple's `bplist00`: small, quick, exact.
    case binary
    /// Apple's XML: for people and diffs. Dates lose their fraction of a second and `Float` becomes `Double`.
    case xml
  }

  /// Parses a binary, XML or NeXTSTEP property list; the first bytes determine the format.
  ///
  /// Text is UTF-8 or, with a byte order mark, UTF-16; XML may declare ISO 8859-1 or ASCII. In NeXTSTEP's
  /// format, which Foundation reads, all scalars are strings and data; a dictionary may lack its braces, as in a
  /// strings file. Throws a ``PropertyListError`` for
  /// anything malformed, nested deeper than ``maximumDepth``, or crafted to use up memory. A reference of a
  /// keyed archive becomes a dictionary with the single key `CF$UID`.
  public static func parse(_ data: Data) throws -> PropertyList {
    guard !data.isEmpty else { throw PropertyListError.damaged("it is empty", at: 0) }
    // Of a truncated binary file perhaps only the first bytes are left, which form a word. Other versions of
    // the format must not reach Foundation's reader, which damaged files crash.
    let mark = BinaryPropertyList.magic.utf8.prefix(6)
    if data.prefix(mark.count).elementsEqual(mark.prefix(data.count)) {
      return try BinaryPropertyList.decode(data)
    }
    let text = try TextEncoding.utf8(data)
    let xml = try text.withUnsafeBytes { bytes in
      TextEncoding.isXML(bytes) ? try XMLPropertyListReader.read(bytes) : nil
    }
    return try xml ?? NeXTSTEPPropertyList.read(text)
  }

  /// Parses an XML or NeXTSTEP property list in a string.
  ///
  /// Throws as ``parse(_:)-(Data)`` does.
  public static func parse(_ text: String) throws -> PropertyList {
    try parse(Data(text.utf8))
  }

  /// The value of an argument on the command line.
  ///
  /// One that begins with `{`, `(`, `<` or `"` is read as a property list; otherwise, or when it isn't one,
  /// the argument is the string itself.
  public init(argument: String) {
    let isList = argument.utf8.first.map { "{(<\"".utf8.contains($0) } ?? false
    let list = isList ? try? Self.parse(argument) : nil
    self = list ?? .string(argument)
  }

  /// Encodes the property list.
  ///
  /// Throws when it is nested deeper than ``maximumDepth``, and in XML for a string with a control character
  /// and for a date whose year has more than 9 digits, which XML cannot hold.
  public func data(format: Format = .binary) throws -> Data {
    switch format {
    case .binary: try BinaryPropertyList.encode(self)
    case .xml: try XMLPropertyListWriter.write(self)
    }
  }
}

/// The character encoding of a text's bytes.
private enum TextEncoding {
  /// Converts the text to UTF-8, without a byte order mark.
  static func utf8(_ data: Data) throws -> Data {
    if data.starts(with: [0xEF, 0xBB, 0xBF]) { return data.dropFirst(3) }
    if data.starts(with: [0xFE, 0xFF]) { return try converted(data, from: .utf16) }
    if data.starts(with: [0xFF, 0xFE]) { return try converted(data, from: .utf16) }
    guard let name = declaredName(data) else { return data }
    switch name.uppercased() {
    case "UTF-8", "UTF8", "US-ASCII", "ASCII": return data
    case "ISO-8859-1", "LATIN1": return try converted(data, from: .isoLatin1)
    default:
      throw PropertyListError.unsupported(
        "The property list has an unsupported encoding; save it as UTF-8.", at: 0)
    }
  }

  private static func converted(_ data: Data, from encoding: String.Encoding) throws -> Data {
    guard let text = String(data: data, encoding: encoding) else {
      throw PropertyListError.damaged("its text isn't in the declared encoding", at: 0)
    }
    return Data(text.utf8)
  }

  /// The encoding named in an XML declaration.
  private static func declaredName(_ data: Data) -> Substring? {
    let limit = 256
    let start = String(decoding: data.prefix(limit), as: UTF8.self)
    guard start.hasPrefix("<?xml"), let end = start.range(of: "?>"),
      let name = start.range(of: "encoding", range: start.startIndex..<end.lowerBound)
    else { return nil }
    let parts = start[name.upperBound..<end.lowerBound]
      .split(omittingEmptySubsequences: false) { $0 == "\"" || $0 == "'" }
    return parts.count > 1 ? parts[1] : nil
  }

  /// Whether it begins like XML; `<` also begins data in NeXTSTEP's format.
  static func isXML(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var scanner = ByteScanner(bytes)
    scanner.skipSpace()
    guard scanner.take("<") else { return false }
    if scanner.isNext("?") || scanner.isNext("!") { return true }
    let name = scanner.take { !$0.isSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    return XMLPropertyListReader.names.contains(String(decoding: name, as: UTF8.self))
  }
}
