import SteadFormats

extension Optional: PreferenceValue where Wrapped: PreferenceValue {
  /// Makes the value from its stored form.
  public init(propertyList: PropertyList) throws {
    self = .some(try Wrapped(propertyList: propertyList))
  }

  /// The form in which to store the value; nil removes the key.
  public func propertyList() throws -> PropertyList? { try self?.propertyList() }
}

extension Optional: UnsetPreferenceValue where Wrapped: PreferenceValue {
  /// Nil.
  public static var whileUnset: Wrapped? { nil }
}

extension Array: PreferenceValue where Element: PreferenceValue {
  /// Makes the array from a stored one, all of whose elements must be readable.
  public init(propertyList: PropertyList) throws {
    guard case .array(let stored) = propertyList else {
      throw PreferencesError(propertyList, isNo: Self.self)
    }
    self = try stored.map { try Element(propertyList: $0) }
  }

  /// An array. Throws when an element is nil, which an array cannot contain.
  public func propertyList() throws -> PropertyList? {
    .array(try map { element in try element.propertyList().orThrow(inside: "an array") })
  }
}

extension Array: UnsetPreferenceValue where Element: PreferenceValue {
  /// No elements.
  public static var whileUnset: [Element] { [] }
}

extension Set: PreferenceValue where Element: PreferenceValue {
  /// Makes the set from a stored array, all of whose elements must be readable.
  public init(propertyList: PropertyList) throws {
    self = Set(try [Element](propertyList: propertyList))
  }

  /// An array; strings and whole numbers are sorted, so that equal sets are stored alike.
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
  /// Makes the dictionary from a stored one, all of whose keys and values must be readable.
  ///
  /// Keys are `String`, `Int`, and types that are `RawRepresentable` by one of them and declare
  /// conformance to `CodingKeyRepresentable`.
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

  /// A dictionary; keys whose value is nil are omitted.
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

extension Range: PreferenceValue where Bound: PreferenceValue {
  /// Makes the range from an array of its two bounds.
  public init(propertyList: PropertyList) throws {
    let bounds = try [Bound](propertyList: propertyList)
    guard bounds.count == 2, bounds[0] <= bounds[1] else {
      throw PreferencesError(propertyList, isNo: Self.self)
    }
    self = bounds[0]..<bounds[1]
  }

  /// An array of the two bounds.
  public func propertyList() throws -> PropertyList? {
    try [lowerBound, upperBound].propertyList()
  }
}

extension ClosedRange: PreferenceValue where Bound: PreferenceValue {
  /// Makes the range from an array of its two bounds.
  public init(propertyList: PropertyList) throws {
    let bounds = try [Bound](propertyList: propertyList)
    guard bounds.count == 2, bounds[0] <= bounds[1] else {
      throw PreferencesError(propertyList, isNo: Self.self)
    }
    self = bounds[0]...bounds[1]
  }

  /// An array of the two bounds.
  public func propertyList() throws -> PropertyList? {
    try [lowerBound, upperBound].propertyList()
  }
}

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
