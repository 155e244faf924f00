import Foundation
import SteadFiles

// A move of an automatic location. Under the exclusive lock, in this order:
//
//     copy and read back -> record leads to the new store -> remove from the old store -> record without leftover
//
// Until the record is replaced, the old store has everything; from then on the new one has. A process that is
// killed leaves copies in the old store at worst. The record names it as `leftover`, and the next move removes
// them. Readers follow the record and hold no lock (see ChosenStore).
extension ChosenStore {
  /// How long a move waits for writers, and for other moves.
  static let moveTimeout = Duration.seconds(60)

  /// Moves the service's secrets, and updates the record.
  func move(to location: SecretStoreLocation, _ options: SecretMove.Options)
    async throws(SecretError)
  {
    // Before the lock is taken: the key of a vault may be a secret in an automatic location, whose first write
    // takes this same lock.
    let unrecorded = try unrecordedStore(at: location)
    do {
      try POSIXDisk().makeDirectories(opener.files.records.checkedPath)
      // Exclusively, keeping writers out: a secret written now would be missing at the new location.
      try await writersLock.withLock(timeout: Self.moveTimeout) {
        try moveLocked(to: location, unrecorded, options)
      }
    } catch let error as SecretError {
      throw error
    } catch is CancellationError {
      throw SecretError(
        code: .cancelled, message: "The move was cancelled before it began.", service: service)
    } catch {
      try SecretError.files { throw error }
    }
  }

  /// Moves the secrets. Requires the exclusive lock.
  private func moveLocked(
    to location: SecretStoreLocation, _ unrecorded: (any SecretStore)?,
    _ options: SecretMove.Options
  ) throws(SecretError) {
    // Before this move writes its own `leftover`: a record has room for one store with old copies.
    let old = try finishEarlierMove(current(), options)
    let (chosen, reason) = try target(location, unrecorded)
    if old.choice.address == chosen, unrecorded == nil { return try record(old, reason) }
    let destination: any SecretStore
    if let unrecorded { destination = unrecorded } else { destination = try open(chosen, location) }
    // Before the first copy is made: an item that was changed earlier has been copied, and may be removed from
    // the old store by a later move without a comparison.
    let begin = Date()
    let move = options.move(service, from: old.store, to: destination)
    try move.copy()
    // A vault that was never created has nothing to copy or to remove.
    let hasOld = !(old.store is PlannedVault)
    var record = StoreRecord(
      service: service, address: chosen, since: begin, reason: reason,
      leftover: hasOld ? old.choice.address : nil)
    // The commit point. Readers that find nothing in the old store from here on see another stamp, and read again.
    try replace(record, destination)
    options.progress(SecretMoveProgress(step: .recorded, completed: 0, total: 0))
    guard hasOld else { return }
    // If this throws, the record keeps `leftover`, and the next move comes back to it.
    try move.removeFromSource()
    record.leftover = nil
    try replace(record, destination)
  }

  /// Removes from the old store of an interrupted move what that move copied.
  private func finishEarlierMove(_ current: Current, _ options: SecretMove.Options)
    throws(SecretError)
    -> Current
  {
    guard var record = current.record, let leftover = record.leftover else { return current }
    // Opening a vault that has disappeared is an error; here it means that nothing is left.
    let exists = try leftover.kind == .vault ? opener.hasVault(leftover) : true
    // Not if it is the current store: what that has are the secrets, and no copies.
    if exists, leftover != record.address {
      let source = try opener.open(leftover, isNew: false)
      try options.move(service, from: source, to: current.store)
        .removeFromSource(movedAt: record.since)
    }
    record.leftover = nil
    return try replace(record, current.store)
  }

  /// The store at a location that a record cannot describe: one that the caller made, or a vault with a key that
  /// isn't a default one. Nil for a location that an address leads to.
  private func unrecordedStore(at location: SecretStoreLocation) throws(SecretError) -> (
    any SecretStore
  )? {
    switch location {
    case .automatic, .secretService, .vault(_, nil, _): nil
    // The store of another `Secrets` at an automatic location: it has an address.
    case .store(let store) where store is ChosenStore: nil
    case .vault(_, _?, _), .store: try location.open(opener, isReturn: false)
    }
  }

  /// Opens the store at the address of a location, and creates a vault if none exists.
  private func open(
    _ address: StoreAddress, _ location: SecretStoreLocation
  ) throws(SecretError) -> any SecretStore {
    switch location {
    case .automatic(let allowsKeyFile):
      try opener.allowing(keyFile: allowsKeyFile).open(address, isNew: true)
    case .vault(_, _, let opening):
      try opener.openVault(at: opener.url(ofVault: address), key: nil, opening)
    case .secretService, .store: try opener.open(address, isNew: true)
    }
  }

  /// The address that the record gets, and the reason that it states.
  private func target(
    _ location: SecretStoreLocation, _ unrecorded: (any SecretStore)?
  ) throws(SecretError) -> (StoreAddress, reason: String) {
    let named = "The program moved the secrets there."
    if let description = unrecorded?.storeDescription {
      let words = [description.kind.name, description.location].compactMap(\.self)
      return (StoreAddress(kind: .elsewhere, location: words.joined(separator: " ")), named)
    }
    switch location {
    case .automatic(let allowsKeyFile):
      let choice = try StoreChoice(probe: opener.allowing(keyFile: allowsKeyFile).probe())
      return (choice.address, choice.reason)
    case .store:
      let choice = try StoreChoice(probe: opener.probe())
      return (choice.address, choice.reason)
    case .secretService(.default, _): return (.secretService, named)
    case .secretService(let collection, _):
      return (StoreAddress(kind: .secretService, location: "\(collection)"), named)
    case .vault(nil, _, _): return (.vault, named)
    case .vault(let url?, _, _):
      let path = url.absoluteURL.path(percentEncoded: false)
      return (StoreAddress(kind: .vault, location: path), named)
    }
  }

  /// Records the location that the secrets are at already, if it isn't recorded yet. Nothing is moved.
  private func record(_ current: Current, _ reason: String) throws(SecretError) {
    guard current.record == nil else { return }
    let store = try opener.open(current.choice.address, isNew: true)
    try replace(
      StoreRecord(
        service: service, address: current.choice.address, since: Date(), reason: reason), store)
  }

  @discardableResult
  private func replace(
    _ record: StoreRecord, _ store: any SecretStore
  ) throws(SecretError) -> Current {
    try file.replace(with: record)
    return setCurrent(
      Current(
        stamp: try file.stamp(), record: record,
        choice: StoreChoice(record: record, path: file.path), store: store))
  }
}

extension SecretStoreDescription.Kind {
  /// The kind's name in a record's address.
  fileprivate var name: String {
    switch self {
    case .secretService: "Secret Service"
    case .vault: "vault"
    case .keychain: "Keychain"
    case .inMemory: "memory"
    case .other(let name): name
    }
  }
}
