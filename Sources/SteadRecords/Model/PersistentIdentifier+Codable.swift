import Foundation

// The form that SwiftData on Apple's systems writes:
//
// | key                    | meaning                                                          |
// | ---------------------- | ---------------------------------------------------------------- |
// | `implementation`       | a dictionary of the rest                                         |
// | `primaryKey`           | `p12`; `t3` of an object that was never saved                    |
// | `entityName`           | the entity                                                       |
// | `storeIdentifier`      | the store; absent while temporary                                |
// | `isTemporary`          | whether the object was never saved                               |
// | `uriRepresentation`    | `x-coredata://` with store, entity and primary key               |
// | `key`                  | ours: the primary key of a store with keys of its own, unchanged |
//
// An earlier form of ours, still read, has `store`, `entity`, `row` and `key` at the top.
extension PersistentIdentifier: Codable {
  private enum CodingKeys: CodingKey { case implementation, store, entity, row, key }

  private enum ImplementationKeys: CodingKey {
    case primaryKey, entityName, storeIdentifier, isTemporary, uriRepresentation, key
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard container.contains(.implementation) else {
      let entity = try container.decode(String.self, forKey: .entity)
      let store = try container.decodeIfPresent(String.self, forKey: .store)
      let reference =
        store.map { EntityReference.permanent(entity, store: $0) } ?? .temporary(entity)
      let key = try container.decodeIfPresent(String.self, forKey: .key)
      self.init(
        reference: reference,
        row: try key.map(reference.row) ?? container.decode(Int64.self, forKey: .row))
      return
    }
    let parts = try container.nestedContainer(
      keyedBy: ImplementationKeys.self, forKey: .implementation)
    let entity = try parts.decode(String.self, forKey: .entityName)
    let isTemporary = try parts.decodeIfPresent(Bool.self, forKey: .isTemporary) ?? false
    let store = isTemporary ? nil : try parts.decode(String.self, forKey: .storeIdentifier)
    let reference = store.map { EntityReference.permanent(entity, store: $0) } ?? .temporary(entity)
    if let key = try parts.decodeIfPresent(String.self, forKey: .key) {
      self.init(reference: reference, row: reference.row(of: key))
      return
    }
    let primaryKey = try parts.decode(String.self, forKey: .primaryKey)
    if let row = Self.row(primaryKey, prefix: isTemporary ? "t" : "p") {
      self.init(reference: reference, row: isTemporary ? -row : row)
    } else {
      self.init(reference: reference, row: reference.row(of: primaryKey))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var parts = container.nestedContainer(
      keyedBy: ImplementationKeys.self, forKey: .implementation)
    try parts.encode(entityName, forKey: .entityName)
    try parts.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
    try parts.encode(isTemporary, forKey: .isTemporary)
    try parts.encode(primaryKey, forKey: .primaryKey)
    try parts.encode(
      "x-coredata://\(storeIdentifier ?? "")/\(entityName)/\(primaryKey)",
      forKey: .uriRepresentation)
    try parts.encodeIfPresent(id.key, forKey: .key)
  }

  /// The primary key as Apple's systems write it.
  var primaryKey: String { id.key ?? (id.row < 0 ? "t\(-id.row)" : "p\(id.row)") }

  /// The number behind a letter; nil for a key of any other form.
  private static func row(_ primaryKey: String, prefix: Character) -> Int64? {
    guard primaryKey.first == prefix, let row = Int64(primaryKey.dropFirst()), row > 0 else {
      return nil
    }
    return row
  }
}
