import Foundation
import SteadEncoding
import SteadSQLite

/// A captured collection, bound as one parameter however many elements it has.
///
/// `x IN (?, ?, …)` would need a statement for each length and is limited to 32,766 parameters. A JSON array and
/// `json_each` need one statement. Elements are written so that reading them back gives the column's own value:
/// floating-point numbers by their bits, data as hexadecimal digits.
struct ListParameter {
  /// The JSON array.
  private(set) var json = "["
  /// The number of elements that were written: without nil and NaN, which equal nothing in a list.
  private(set) var count = 0
  /// The encoding of all elements; nil for an empty collection.
  private(set) var encoding: ColumnEncoding?
  /// Whether the collection has a nil, which is not written: no comparison with NULL is true.
  private(set) var hasNil = false
  /// Whether SQLite's own comparison of strings equals Swift's for all elements, so that an index can be used.
  private(set) var isPlain = true
  /// Whether an element is a string with NUL. It is written as an array of its own, since `json_each` would cut it
  /// off there.
  private(set) var hasNUL = false
  /// The captured objects and identifiers, in order; see ``rows(of:in:)``.
  private var identifiers: [PersistentIdentifier] = []

  /// Writes the elements of a captured collection.
  ///
  /// - Throws: ``NotTranslatable`` if the elements have several encodings, or one that SQL cannot compare.
  init(_ collection: Any, in translation: PredicateTranslation) throws {
    // The commonest type, without a box for each element.
    if let integers = collection as? [Int] {
      for value in integers { append(String(value), .integer) }
    } else if let sequence = collection as? any Sequence, !(collection is any StringProtocol) {
      try append(sequence, translation)
    } else {
      throw NotTranslatable("a captured \(type(of: collection))")
    }
    json += "]"
  }

  private mutating func append<S: Sequence>(
    _ sequence: S, _ translation: PredicateTranslation
  ) throws {
    for element in sequence { try append(Constant(element), translation) }
  }

  /// Writes an element that is JSON already.
  private mutating func append(_ text: String, _ encoding: ColumnEncoding) {
    if count > 0 { json += "," }
    json += text
    count += 1
    self.encoding = encoding
  }

  private mutating func append(
    _ constant: Constant, _ translation: PredicateTranslation
  ) throws {
    switch constant {
    case .null: hasNil = true
    case .identifier(let identifier):
      // Their numbers depend on what they are compared with. Nothing reads them as elements of an array.
      append(String(PredicateTranslation.noRow), .opaque)
      identifiers.append(identifier)
    case .scalar(let value, let encoding):
      // One encoding decides how all elements are read back.
      if let known = self.encoding, known != encoding {
        throw NotTranslatable("a captured collection of several types")
      }
      try append(value, encoding)
    case .other(let value):
      throw NotTranslatable("a captured collection of \(type(of: value))")
    }
  }

  /// Writes one element in the form that ``PredicateTranslation/element(of:)`` reads for its encoding.
  private mutating func append(_ value: SQLValue, _ encoding: ColumnEncoding) throws {
    switch (value, encoding) {
    // NaN equals nothing.
    case (.text, .real), (.text, .date): return
    case (.integer(let number), _): append(String(number), encoding)
    case (.real(let number), _):
      // As JSON's decimal digits the number could come back with another last bit.
      append(String(Int64(bitPattern: number.bitPattern)), encoding)
    case (.text(let text), _):
      if CanonicalSpellings.all(of: text)?.count != 1 { isPlain = false }
      var quoted = JSONText.quoted(text, .short)
      if text.utf8.contains(0) {
        hasNUL = true
        quoted = "[\(quoted)]"
      }
      append(quoted, encoding)
    case (.blob(let data), _): append("\"\(Self.hexadecimal(data))\"", encoding)
    case (.null, _): hasNil = true
    }
  }

  /// The bytes as lower-case hexadecimal digits.
  static func hexadecimal(_ data: Data) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: data.count * 2) { buffer in
      for (index, byte) in data.enumerated() {
        buffer[index * 2] = digits[Int(byte >> 4)]
        buffer[index * 2 + 1] = digits[Int(byte & 15)]
      }
      return data.count * 2
    }
  }

  /// The primary keys of the captured identifiers that can be objects of an entity's hierarchy, as a JSON array. In a
  /// hierarchy each key is paired with the discriminator of its class, since an identifier names an object of that
  /// class alone.
  func rows(of entity: EntityLayout, in translation: PredicateTranslation) -> String {
    var json = "["
    for identifier in identifiers {
      // An identifier of another table would match whichever row happens to have its number.
      guard let own = translation.layout.entity(named: identifier.entityName),
        own.rootIndex == entity.rootIndex
      else { continue }
      let number = translation.rowNumber(identifier)
      if number == PredicateTranslation.noRow { continue }
      if json.utf8.count > 1 { json += "," }
      json += own.discriminator.map { "[\(number),\($0)]" } ?? String(number)
    }
    return json + "]"
  }

  /// The collection as an array whose elements are read one by one.
  func list(alias: String) -> ListTerm {
    ListTerm(
      json: "\(SQLValue.text(json))", element: encoding ?? .integer, elementIsOptional: hasNil,
      form: .parameter, alias: alias, wrapsNUL: hasNUL)
  }
}

// MARK: - Strings that are equal

/// The strings that equal a given ASCII string by Swift's comparison, which is by canonical equivalence.
///
/// Only three ASCII characters are also the normal form of another character: K of the Kelvin sign, the semicolon of
/// the Greek question mark, and the grave accent of the Greek varia. All other ASCII strings equal only their own
/// bytes, so SQLite's own comparison, and an index, can be used. The equality of any other string needs the collation
/// `stead_canonical`, which no index serves.
enum CanonicalSpellings {
  /// The number of such characters up to which the spellings are enumerated: they double with each.
  static let limit = 3

  /// The other character with the same normal form.
  private static func twin(of byte: UInt8) -> Unicode.Scalar? {
    switch byte {
    case UInt8(ascii: "K"): "\u{212A}"
    case UInt8(ascii: ";"): "\u{037E}"
    case UInt8(ascii: "`"): "\u{1FEF}"
    default: nil
    }
  }

  /// All strings that equal a string; nil if it is not ASCII, or has more than ``limit`` such characters.
  static func all(of text: String) -> [String]? {
    var twins = 0
    for byte in text.utf8 {
      // A non-ASCII string may equal strings with other bytes, so the collation has to decide.
      if byte >= 0x80 { return nil }
      if twin(of: byte) != nil { twins += 1 }
    }
    if twins == 0 { return [text] }
    // Eight spellings at most. Each further character would double the list in the statement.
    guard twins <= limit else { return nil }
    var spellings = [""]
    for byte in text.utf8 {
      let character = Unicode.Scalar(byte)
      if let twin = twin(of: byte) {
        spellings = spellings.map { $0 + String(character) } + spellings.map { $0 + String(twin) }
      } else {
        for index in spellings.indices { spellings[index].unicodeScalars.append(character) }
      }
    }
    return spellings
  }
}
