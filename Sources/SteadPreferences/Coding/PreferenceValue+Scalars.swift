import Foundation

extension Bool: UnsetPreferenceValue {
  /// Reads a boolean; a number, which is true unless 0; or one of the words yes, no, true, false,
  /// y, n, t, f, in upper or lower case, or a whole number in a string, as the command line has
  /// them.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    let value: Bool? =
      switch propertyList {
      case .bool(let flag): flag
      case .integer(let number): number != 0
      case .unsignedInteger(let number): number != 0
      case .float(let number): number != 0
      case .double(let number): number != 0
      case .string(let text): Bool(word: text)
      case .date, .data, .array, .dictionary: nil
      }
    guard let value else { throw PreferencesError(propertyList, isNo: Bool.self) }
    self = value
  }

  private init?(word: String) {
    switch word.lowercased() {
    case "yes", "true", "y", "t": self = true
    case "no", "false", "n", "f": self = false
    default:
      guard let number = Int(word) else { return nil }
      self = number != 0
    }
  }

  /// Stored as a boolean.
  public func propertyList() -> PropertyList? { .bool(self) }

  /// False.
  public static var whileUnset: Bool { false }
}

extension String: UnsetPreferenceValue {
  /// Reads a string, or a number in its shortest decimal form.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value, including a boolean.
  public init(propertyList: PropertyList) throws {
    // A boolean has no string form that would be read as a boolean again.
    if case .bool = propertyList { throw PreferencesError(propertyList, isNo: String.self) }
    guard let text = propertyList.text else {
      throw PreferencesError(propertyList, isNo: String.self)
    }
    self = text
  }

  /// Stored as a string.
  public func propertyList() -> PropertyList? { .string(self) }

  /// An empty string.
  public static var whileUnset: String { "" }
}

extension Data: UnsetPreferenceValue {
  /// Reads data. Nothing else is converted.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    guard case .data(let data) = propertyList else {
      throw PreferencesError(propertyList, isNo: Data.self)
    }
    self = data
  }

  /// Stored as data.
  public func propertyList() -> PropertyList? { .data(self) }

  /// Empty data.
  public static var whileUnset: Data { Data() }
}

// MARK: - Dates and identifiers

extension Date: PreferenceValue {
  /// Reads a date. Nothing else is converted.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    guard case .date(let date) = propertyList else {
      throw PreferencesError(propertyList, isNo: Date.self)
    }
    self = date
  }

  /// Stored as a date, with its fraction of a second in the journal; a property list in XML has
  /// whole seconds.
  public func propertyList() -> PropertyList? { .date(self) }
}

extension UUID: PreferenceValue {
  /// Reads a UUID's string, in upper or lower case.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    guard case .string(let text) = propertyList, let value = UUID(uuidString: text) else {
      throw PreferencesError(propertyList, isNo: UUID.self)
    }
    self = value
  }

  /// Stored as a string.
  public func propertyList() -> PropertyList? { .string(uuidString) }
}

extension URL: PreferenceValue {
  /// Reads what ``Preferences/set(_:forKey:)-(URL?,String)`` stores, or the address in a string.
  ///
  /// A string that begins with `/` or `~` is a path, and any other an address.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    var url = propertyList.url
    if case .string(let text) = propertyList, !text.hasPrefix("/"), !text.hasPrefix("~") {
      url = URL(string: text)
    }
    guard let url else { throw PreferencesError(propertyList, isNo: URL.self) }
    self = url
  }

  /// Stored as ``Preferences/set(_:forKey:)-(URL?,String)`` does: a file's path, or an archive.
  public func propertyList() throws -> PropertyList? { try PropertyList(url: self) }
}

extension PropertyList: PreferenceValue {
  /// Keeps the stored value as it is.
  public init(propertyList: PropertyList) { self = propertyList }

  /// Stored as it is.
  public func propertyList() -> PropertyList? { self }
}

// MARK: - Numbers

extension PreferenceValue where Self: FixedWidthInteger & Codable {
  /// Reads a whole number in the type's range; a boolean as 1 or 0; a number without a fraction; or
  /// the whole string as a number, as the command line has it.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value, and for one that is out
  ///   of range.
  @inlinable
  public init(propertyList: PropertyList) throws {
    if case .integer(let number) = propertyList, let value = Self(exactly: number) {
      self = value
    } else {
      self = try Self.coerced(propertyList)
    }
  }

  /// Stored as a whole number.
  ///
  /// - Throws: ``PreferencesError`` `.notAPropertyList` for a number of more than 64 bits.
  @inlinable
  public func propertyList() throws -> PropertyList? {
    // The signed form where it suffices, since most tools know no other.
    if let number = Int64(exactly: self) { return .integer(number) }
    if let number = UInt64(exactly: self) { return .unsignedInteger(number) }
    throw PreferencesError(
      code: .notAPropertyList,
      message: "A whole number has more than 64 bits. Store it as a string.")
  }

  /// Zero.
  @inlinable
  public static var whileUnset: Self { 0 }

  /// The slow path of ``init(propertyList:)``, which is inlined into programs.
  @usableFromInline
  static func coerced(_ stored: PropertyList) throws -> Self {
    let value: Self? =
      switch stored {
      case .integer(let number): Self(exactly: number)
      case .unsignedInteger(let number): Self(exactly: number)
      case .bool(let flag): flag ? 1 : 0
      case .float(let number): Self(exactly: number)
      case .double(let number): Self(exactly: number)
      case .string(let text): Self(text)
      case .date, .data, .array, .dictionary: nil
      }
    guard let value else { throw PreferencesError(stored, isNo: Self.self) }
    return value
  }
}

extension Double: UnsetPreferenceValue {
  /// Reads a number that a `Double` holds exactly; a boolean as 1 or 0; or the whole string as a
  /// number.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value, such as a whole number
  ///   that it cannot hold exactly.
  public init(propertyList: PropertyList) throws {
    let value: Double? =
      switch propertyList {
      case .double(let number): number
      case .float(let number): Double(number)
      case .integer(let number): Double(exactly: number)
      case .unsignedInteger(let number): Double(exactly: number)
      case .bool(let flag): flag ? 1 : 0
      case .string(let text): Double(text)
      case .date, .data, .array, .dictionary: nil
      }
    guard let value else { throw PreferencesError(propertyList, isNo: Double.self) }
    self = value
  }

  /// Stored as a 64-bit floating-point number.
  public func propertyList() -> PropertyList? { .double(self) }

  /// Zero.
  public static var whileUnset: Double { 0 }
}

extension Float: UnsetPreferenceValue {
  /// Reads what `Double` reads, rounded to a `Float`.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value, and for a number out of
  ///   range.
  public init(propertyList: PropertyList) throws {
    if case .float(let number) = propertyList {
      self = number
      return
    }
    let number = try Double(propertyList: propertyList)
    self = Float(number)
    // Rounding is allowed, but a finite number must not become infinite.
    guard isFinite || !number.isFinite else {
      throw PreferencesError(propertyList, isNo: Float.self)
    }
  }

  /// Stored as a 32-bit floating-point number in the journal; a property list in XML has 64 bits.
  public func propertyList() -> PropertyList? { .float(self) }

  /// Zero.
  public static var whileUnset: Float { 0 }
}

extension Decimal: UnsetPreferenceValue {
  /// Reads a string, whose decimal point does not depend on the locale, or a finite number.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    let value: Decimal? =
      switch propertyList {
      case .string("NaN"): .nan
      case .string(let text) where Self.isNumber(text):
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
      case .integer(let number): Decimal(number)
      case .unsignedInteger(let number): Decimal(number)
      case .double(let number): number.isFinite ? Decimal(number) : nil
      case .float(let number): number.isFinite ? Decimal(Double(number)) : nil
      case .string, .bool, .date, .data, .array, .dictionary: nil
      }
    guard let value else { throw PreferencesError(propertyList, isNo: Decimal.self) }
    self = value
  }

  /// Whether a text is a number as a whole. `Decimal(string:locale:)` reads the beginning of "12 apples".
  private static func isNumber(_ text: String) -> Bool {
    text.wholeMatch(of: /[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?/) != nil
  }

  /// Stored as a string, which keeps all digits.
  public func propertyList() -> PropertyList? { .string(description) }

  /// Zero.
  public static var whileUnset: Decimal { 0 }
}
