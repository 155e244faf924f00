/// The result of a save.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
  public let storeIdentifier: String
  /// The permanent identifier of each inserted object, by its temporary one.
  public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
  /// Objects that the store keeps with different values than it was given, by identifier.
  public let snapshotsToReregister: [PersistentIdentifier: T]
  /// The save's place in the store's history, if it has one.
  public let historyToken: (any HistoryToken)?

  public convenience init(
    for storeIdentifier: String,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: T] = [:]
  ) {
    self.init(
      for: storeIdentifier, remappedIdentifiers: remappedIdentifiers,
      snapshotsToReregister: snapshotsToReregister, historyToken: nil)
  }

  public init(
    for storeIdentifier: String,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
  ) {
    self.storeIdentifier = storeIdentifier
    self.remappedIdentifiers = remappedIdentifiers
    self.snapshotsToReregister = snapshotsToReregister
    self.historyToken = historyToken
  }
}
