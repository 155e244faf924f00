extension PreferenceValue where Self: RawRepresentable, RawValue: PreferenceValue {
  /// Makes the value from its stored raw value. Throws when no value has that raw value.
  public init(propertyList: PropertyList) throws {
    self = try RawBridge<Self>.decode(propertyList)
  }

  /// The raw value.
  public func propertyList() throws -> PropertyList? { try rawValue.propertyList() }
}

extension PreferenceValue where Self: Codable {
  /// Makes the value from the tree that ``propertyList()`` returns, or from JSON data.
  public init(propertyList: PropertyList) throws {
    self = try CodableBridge<Self>.decode(propertyList)
  }

  /// A tree of property list values.
  public func propertyList() throws -> PropertyList? { try CodableBridge.encode(self) }
}

extension PreferenceValue where Self: RawRepresentable & Codable, RawValue: PreferenceValue {
  /// Makes the value from its stored raw value. Throws when no value has that raw value.
  public init(propertyList: PropertyList) throws {
    self = try RawBridge<Self>.decode(propertyList)
  }

  /// The raw value.
  public func propertyList() throws -> PropertyList? { try rawValue.propertyList() }
}
