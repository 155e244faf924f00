/// The values of one object at one moment, exchanged between a context and a store.
///
/// The context reads a snapshot through its `encode(to:)`: a keyed container with a key for each property, by the
/// property's name. A to-one relationship is the destination's identifier or nil, a to-many one the array of
/// identifiers in the relationship's order. A missing attribute gets its default value or nil, and a missing
/// relationship stays as the other side has it.
public protocol DataStoreSnapshot: Codable, Sendable {
  var persistentIdentifier: PersistentIdentifier { get }

  /// Takes the values of an object that is about to be saved.
  ///
  /// - Parameters:
  ///   - backingData: The object's values by key path.
  ///   - relatedBackingDatas: The objects of the same save, by their identifiers.
  init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

  /// The snapshot with another identifier, and with new identifiers in its relationships.
  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> Self
}

/// The form of a property's value in a snapshot.
public typealias DataStoreSnapshotValue = Codable & Sendable
