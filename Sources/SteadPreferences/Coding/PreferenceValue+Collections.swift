import SteadFormats

extension Optional: PreferenceValue where Wrapped: PreferenceValue {
  /// Reads a value of the wrapped type. A stored value is never nil.
  ///
  /// - Throws: What the wrapped type throws.
  public init(propertyList: PropertyList) throws {
    self = .some(try Wrapped(propertyList: propertyList))
  }

  /// The stored form of the wrapped value; nil removes the key.
  public func propertyList() throws -> PropertyList? { try self?.propertyList() }
}

extension Optional: UnsetPreferenceValue where Wrapped: PreferenceValue {
  /// Nil.
  public static var whileUnset: Wrapped? { nil }
}

extension Array: PreferenceValue where Element: PreferenceValue {
  /// Reads an array, all of whose elements must be readable.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value, and what the element type
  ///   throws.
  public init(propertyList: PropertyList) throws {
    guard case .array(let stored) = propertyList else {
      throw PreferencesError(propertyList, isNo: Self.self)
    }
    self = try stored.map { try Element(propertyList: $0) }
  }

  /// Stored as an array.
  ///
  /// - Throws: ``PreferencesError`` `.notAPropertyList` for an element that is nil, which a
  ///   property list cannot contain.
  public func propertyList() throws -> PropertyList? {
    .array(try map { element in try element.propertyList().orThrow(inside: "an array") })
  }
}

extension Array: UnsetPreferenceValue where Element: PreferenceValue {
  /// No elements.
  public static var whileUnset: [Element] { [] }
}

extension Set: PreferenceValue where Element: PreferenceValue {
  /// Reads an array, all of whose elements must be readable; equal ones become one.
  ///
  /// - Throws: As for an array.
  public init(propertyList: PropertyList) throws {
    self = Set(try [Element](propertyList: propertyList))
  }

  /// Stored as an array. Strings and whole numbers are sorted, so that equal sets have equal stored
  /// values.
  ///
  /// - Throws: As for an array.
  public func propertyList() throws -> PropertyList? {
    let stored = try map { element in try element.propertyList().orThrow(inside: "a set") }
    return .array(
      // A set has no order, and a different one in each process: unsorted, an equal set would count
      // as changed.
      stored.sorted { left, right in
        switch (left, right) {
        case (.string(let left), .string(let right)): left.comesBefore(right)
        case (.integer(let left), .integer(let right)): left < right
        default: false
        }
      })
  }
}

extension Set: UnsetPreferenceValue where Element: PreferenceValue {
  /// No elements.
  public static var whileUnset: Set<Element> { [] }
}

extension Dictionary: PreferenceValue where Key: CodingKeyRepresentable, Value: PreferenceValue {
  /// Reads a dictionary, all of whose keys and values must be readable.
  ///
  /// Keys are `String`, `Int`, and types that are `RawRepresentable` by one of them and declare
  /// conformance to `CodingKeyRepresentable`.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value, and what the value type
  ///   throws.
  public init(propertyList: PropertyList) throws {
    guard case .dictionary(let fields) = propertyList else {
      throw PreferencesError(propertyList, isNo: Self.self)
    }
    self.init(minimumCapacity: fields.count)
    for field in fields {
      guard let key = Key(codingKey: FieldKey(stringValue: field.key)) else {
        throw PreferencesError(
          code: .doesNotDecode,
          message: "A key of the stored dictionary isn't a valid \(Key.self).")
      }
      self[key] = try Value(propertyList: field.value)
    }
  }

  /// Stored as a dictionary, without the keys whose value is nil.
  public func propertyList() throws -> PropertyList? {
    .dictionary(
      PropertyList.Fields(
        try compactMap { key, value in
          try value.propertyList().map { .init(key.codingKey.stringValue, $0) }
        }))
  }
}

extension Dictionary: UnsetPreferenceValue
where Key: CodingKeyRepresentable, Value: PreferenceValue {
  /// No keys.
  public static var whileUnset: [Key: Value] { [:] }
}

// MARK: - Ranges

extension Range: PreferenceValue where Bound: PreferenceValue {
  /// Reads an array of the two bounds, the lower one first.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    let bounds = try [Bound](propertyList: propertyList)
    guard bounds.count == 2, bounds[0] <= bounds[1] else {
      throw PreferencesError(propertyList, isNo: Self.self)
    }
    self = bounds[0]..<bounds[1]
  }

  /// Stored as an array of the two bounds.
  public func propertyList() throws -> PropertyList? {
    try [lowerBound, upperBound].propertyList()
  }
}

extension ClosedRange: PreferenceValue where Bound: PreferenceValue {
  /// Reads an array of the two bounds, the lower one first.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` for any other value.
  public init(propertyList: PropertyList) throws {
    let bounds = try [Bound](propertyList: propertyList)
    guard bounds.count == 2, bounds[0] <= bounds[1] else {
      throw PreferencesError(propertyList, isNo: Self.self)
    }
    self = bounds[0]...bounds[1]
  }

  /// Stored as an array of the two bounds.
  public func propertyList() throws -> PropertyList? {
    try [lowerBound, upperBound].propertyList()
  }
}

// MARK: - Helpers

/// A key of a stored dictionary, in the form that `Codable` requires.
private struct FieldKey: CodingKey {
  let stringValue: String
  var intValue: Int? { Int(stringValue) }

  init(stringValue: String) { self.stringValue = stringValue }
  init(intValue: Int) { stringValue = String(intValue) }
}

extension PropertyList? {
  fileprivate func orThrow(inside container: String) throws -> PropertyList {
    guard let self else {
      throw PreferencesError(
        code: .notAPropertyList,
        message: "A property list cannot contain nil in \(container). Remove it before storing.")
    }
    return self
  }
}
