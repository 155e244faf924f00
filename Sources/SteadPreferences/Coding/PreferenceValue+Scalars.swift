import Foundation

extension Bool: UnsetPreferenceValue {
  /// Makes the boolean from a boolean, a number, or a word for it.
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

  /// The boolean.
  public func propertyList() -> PropertyList? { .bool(self) }

  /// False.
  public static var whileUnset: Bool { false }
}

extension String: UnsetPreferenceValue {
  /// Makes the string from a string, or from a number.
  public init(propertyList: PropertyList) throws {
    // A boolean has no string form that would be read as a boolean again.
    if case .bool = propertyList { throw PreferencesError(propertyList, isNo: String.self) }
    guard let text = propertyList.text else {
      throw PreferencesError(propertyList, isNo: String.self)
    }
    self = text
  }

  /// The string.
  public func propertyList() -> PropertyList? { .string(self) }

  /// An empty string.
  public static var whileUnset: String { "" }
}

extension Data: UnsetPreferenceValue {
  /// Makes the data from data.
  public init(propertyList: PropertyList) throws {
    guard case .data(let data) = propertyList else {
      throw PreferencesError(propertyList, isNo: Data.self)
    }
    self = data
  }

  /// The data.
  public func propertyList() -> PropertyList? { .data(self) }

  /// Empty data.
  public static var whileUnset: Data { Data() }
}

extension Date: PreferenceValue {
  /// Makes the date from a date.
  public init(propertyList: PropertyList) throws {
    guard case .date(let date) = propertyList else {
      throw PreferencesError(propertyList, isNo: Date.self)
    }
    self = date
  }

  /// The date.
  public func propertyList() -> PropertyList? { .date(self) }
}

extension UUID: PreferenceValue {
  /// Makes the identifier from a string.
  public init(propertyList: PropertyList) throws {
    guard case .string(let text) = propertyList, let value = UUID(uuidString: text) else {
      throw PreferencesError(propertyList, isNo: UUID.self)
    }
    self = value
  }

  /// The identifier as a string.
  public func propertyList() -> PropertyList? { .string(uuidString) }
}

extension URL: PreferenceValue {
  /// Makes the URL from the stored form of ``Preferences/set(_:forKey:)-(URL?,String)``, or from an
  /// address.
  public init(propertyList: PropertyList) throws {
    var url = propertyList.url
    if case .string(let text) = propertyList, !text.hasPrefix("/"), !text.hasPrefix("~") {
      url = URL(string: text)
    }
    guard let url else { throw PreferencesError(propertyList, isNo: URL.self) }
    self = url
  }

  /// The form that ``Preferences/set(_:forKey:)-(URL?,String)`` stores: a file's path, or an
  /// archive.
  public func propertyList() throws -> PropertyList? { try PropertyList(url: self) }
}

extension PropertyList: PreferenceValue {
  /// Keeps the stored value unchanged.
  public init(propertyList: PropertyList) { self = propertyList }

  /// The value itself.
  public func propertyList() -> PropertyList? { self }
}

// MARK: - Numbers

extension PreferenceValue where Self: FixedWidthInteger & Codable {
  /// Makes the number from a whole number in range, a boolean, a number without a fraction, or a
  /// string.
  @inlinable
  public init(propertyList: PropertyList) throws {
    if case .integer(let number) = propertyList, let value = Self(exactly: number) {
      self = value
    } else {
      self = try Self.coerced(propertyList)
    }
  }

  /// The number.
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
  /// Makes the number from a number that it can hold, a boolean, or a string.
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

  /// The number.
  public func propertyList() -> PropertyList? { .double(self) }

  /// Zero.
  public static var whileUnset: Double { 0 }
}

extension Float: UnsetPreferenceValue {
  /// Makes the number from a number in range, which is rounded, a boolean, or a string.
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

  /// The number.
  public func propertyList() -> PropertyList? { .float(self) }

  /// Zero.
  public static var whileUnset: Float { 0 }
}

extension Decimal: UnsetPreferenceValue {
  /// Makes the number from a string, or from a number.
  public init(propertyList: PropertyList) throws {
    let value: Decimal? =
      switch propertyList {
      case .string(let text): Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
      case .integer(let number): Decimal(number)
      case .unsignedInteger(let number): Decimal(number)
      case .double(let number): number.isFinite ? Decimal(number) : nil
      case .float(let number): number.isFinite ? Decimal(Double(number)) : nil
      case .bool, .date, .data, .array, .dictionary: nil
      }
    guard let value else { throw PreferencesError(propertyList, isNo: Decimal.self) }
    self = value
  }

  /// The number as a string, which keeps all of its digits.
  public func propertyList() -> PropertyList? { .string(description) }

  /// Zero.
  public static var whileUnset: Decimal { 0 }
}
