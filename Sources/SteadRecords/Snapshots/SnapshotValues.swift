/// The values of one snapshot by the names of its properties.
struct SnapshotValues {
  let identifier: PersistentIdentifier
  private let values: [String: (any Encodable)?]

  init<S: DataStoreSnapshot>(_ snapshot: S) throws {
    identifier = snapshot.persistentIdentifier
    let encoder = SnapshotEncoder()
    try snapshot.encode(to: encoder)
    guard encoder.record.isUsable else {
      throw SwiftDataError(
        .unreadableValue,
        "\(S.self) does not encode itself into one keyed container. Encode each property there, under its "
          + "name.")
    }
    values = encoder.record.values
  }

  func has(_ name: String) -> Bool { values[name] != nil }

  /// A value as a property's type; nil if there is none.
  ///
  /// A value that already has the type is used as it is. A value of another type, or one that might share an object
  /// with the snapshot, is encoded and decoded.
  func value<V>(of name: String, as type: V.Type) throws -> V? {
    guard let value = values[name] ?? nil else { return nil }
    if V.self is any _AttributeValue.Type || Self.isRaw(V.self), let value = value as? V {
      return value
    }
    return try SnapshotCoding.convert(value, to: V.self)
  }

  /// A value as the snapshot gave it; nil if there is none.
  func stored(_ name: String) -> (any Encodable)? { values[name] ?? nil }

  /// Whether a type is an enum or option set with raw values.
  private static func isRaw(_ type: any Any.Type) -> Bool {
    PropertyShape(type).wrapped is any RawRepresentable.Type
  }

  /// The destinations of a relationship.
  func identifiers(of name: String) throws -> [PersistentIdentifier] {
    guard let value = values[name] ?? nil else { return [] }
    if let one = value as? PersistentIdentifier { return [one] }
    if let many = value as? [PersistentIdentifier] { return many }
    if let many = try? SnapshotCoding.convert(value, to: [PersistentIdentifier].self) {
      return many
    }
    return try SnapshotCoding.convert(value, to: PersistentIdentifier.self).map { [$0] } ?? []
  }
}
