import Foundation

extension PreferenceValue where Self: FixedWidthInteger & Codable {
  /// Makes the number from a whole number in range, a boolean, a number without a fraction, or a string.
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
