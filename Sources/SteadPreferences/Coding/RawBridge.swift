import Foundation

/// The bridge of a type that is stored as its raw value.
@usableFromInline
enum RawBridge<Value: RawRepresentable>: PreferenceBridge where Value.RawValue: PreferenceValue {
  @usableFromInline
  static func decode(_ stored: PropertyList) throws -> Value {
    guard let value = Value(rawValue: try Value.RawValue(propertyList: stored)) else {
      throw PreferencesError(
        code: .doesNotDecode, message: "The stored raw value isn't one of \(Value.self).")
    }
    return value
  }

  @usableFromInline
  static func encode(_ value: Value) throws -> PropertyList? { try value.rawValue.propertyList() }
}
