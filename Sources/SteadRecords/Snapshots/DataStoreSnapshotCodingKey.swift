/// The keys of an encoded snapshot.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable, Sendable {
  case persistentIdentifier
  /// A property, by its name.
  case modeledProperty(String)

  public init?(stringValue: String) {
    self =
      stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
  }

  public init?(intValue: Int) { return nil }

  public var stringValue: String {
    switch self {
    case .persistentIdentifier: "persistentIdentifier"
    case .modeledProperty(let name): name
    }
  }

  public var intValue: Int? { nil }
}
