/// A store that other programs change, and that saves only to the content that a save was checked against.
///
/// Without it, a save is checked against what the store had when the context last asked: of two programs that save
/// one unique value at the same time, both may make an object. Such a store has one: its context checks the
/// save again. A store that compares versions where it writes, such as a service with entity tags, needs no lock.
public protocol DataStoreVersioning: DataStore {
  /// What tells one content of the store from another: an entity tag, a number that each save increases, or a digest.
  associatedtype Version

  /// The version of the store's current content.
  ///
  /// Called before the context fetches what it checks a save against. A version that is too old is safe: it costs
  /// another attempt. One that is too new would let a save through that was checked against older objects.
  func version() throws -> Version

  /// Saves all changes of the request if the store's content still has a version.
  ///
  /// Returns nil, and saves nothing, if any program has changed the content. The context then asks for the new version,
  /// fetches, checks and saves again, up to 100 times; then its save throws ``SwiftDataError/storeLocked``. Like
  /// `save(_:)`, it saves nothing when it throws. Compare and save in one step, such as a conditional request or under
  /// a lock: otherwise another program can save in between.
  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>, at version: Version
  ) throws -> DataStoreSaveChangesResult<Snapshot>?
}
