import Foundation

/// The bridge of a type that is stored as the tree of its `Codable` form.
@usableFromInline
enum CodableBridge<Value: Codable>: PreferenceBridge {
  /// Data is read as JSON, since SteadDefault's `df.store` stores a value that way.
  @usableFromInline
  static func decode(_ stored: PropertyList) throws -> Value {
    do {
      if case .data(let json) = stored, Value.self != Data.self {
        return try JSONDecoder().decode(Value.self, from: json)
      }
      return try TreeDecoder(stored, path: []).decode(Value.self)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The stored value does not decode as \(Value.self). Have the type decode it, or "
          + "set another value.", cause: error)
    }
  }

  @usableFromInline
  static func encode(_ value: Value) throws -> PropertyList? {
    do {
      return try TreeEncoder.tree(of: value)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError(
        code: .notAPropertyList,
        message: "A value of \(Value.self) could not be encoded; correct what the cause names.",
        cause: error)
    }
  }
}
