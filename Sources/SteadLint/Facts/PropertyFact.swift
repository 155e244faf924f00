/// A property of a type.
struct PropertyFact: Codable, Sendable {
  let name: String
  /// As it's written, or as its default value shows.
  let type: String?
  let defaultValue: String?
  let isStatic: Bool
  let isComputed: Bool
  let isConstant: Bool
  let attributes: [AttributeFact]
  let place: Place
  /// Where an attribute can be inserted.
  let start: Int
  /// Where a default value can be inserted.
  let end: Int

  func attribute(_ name: String) -> AttributeFact? {
    attributes.first { $0.name == name }
  }

  /// Whether a model stores it.
  var isStored: Bool {
    !isStatic && !isComputed && attribute("Transient") == nil
  }
}
