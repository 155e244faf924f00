import Foundation
import SteadFiles

/// The move of a service's secrets from one store to another.
///
/// **Invariant:** at each moment every secret is in one of the stores at least. Nothing is removed until all
/// secrets are copied and read back, and then only what the destination holds at that moment with the same
/// value. So a move that was interrupted can be restarted from the beginning. What is copied already is
/// skipped.
///
/// It knows neither locks nor records; ``ChosenStore`` has these.
struct SecretMove {
  typealias Progress = (SecretMoveProgress) -> Void

  let service: String
  let source: any SecretStore
  let destination: any SecretStore
  /// Whether other values at the destination are replaced.
  var isReplacing = false
  /// The source's features that the destination may lack.
  var accepted: Set<SecretStoreFeature> = []
  var progress: Progress = { _ in }

  /// Copies all items with their labels and attributes, and reads each back.
  ///
  /// All refusals come first: a move that cannot be completed copies nothing.
  func copy() throws(SecretError) {
    try checkFeatures()
    try checkDifferentStores()
    let items = try source.items(service: service)
    // All conflicts before the first copy, so that a refused move has changed nothing.
    for item in items { try checkConflict(item) }
    progress(SecretMoveProgress(step: .copying, completed: 0, total: items.count))
    for (index, item) in items.enumerated() {
      try checkCancellation()
      try copy(item)
      progress(SecretMoveProgress(step: .copying, completed: index + 1, total: items.count))
    }
  }

  /// Removes from the source what the destination contains.
  ///
  /// - Parameter moved: When an interrupted earlier move began to copy; nil for the end of this one. An item
  ///   that was last changed before is one that was copied. It is removed even if the destination has another
  ///   value by now, since programs have used the destination from then on.
  /// - Throws: ``SecretError``: `.changed` when the source has another value, which stays, or when both
  ///   stores have become the same. The copies that an earlier move left are out of reach in that case; nothing is
  ///   removed, and it isn't an error.
  func removeFromSource(movedAt moved: Date? = nil) throws(SecretError) {
    // If both lead to one store by now, for instance since the default collection was changed, each item would be
    // found in the destination and removed from it.
    guard try !isSameStore() else {
      guard moved == nil else { return }
      throw SecretError(
        code: .changed,
        message: "The secrets were moved, but the old location has come to mean the new store, so "
          + "nothing was removed. Remove the old copies from where it led before.",
        service: service)
    }
    let items = try source.items(service: service)
    var kept = 0
    for (index, item) in items.enumerated() {
      try checkCancellation()
      let id = try SecretID(service: service, account: item.account)
      let isDone = try isOld(item, moved) ? true : isSame(id)
      // Compared at this moment and not by what `copy` did: another program may have changed either store since.
      if isDone {
        try source.remove(id)
      } else {
        kept += 1
      }
      progress(SecretMoveProgress(step: .removing, completed: index + 1, total: items.count))
    }
    guard kept == 0 else {
      throw SecretError(
        code: .changed,
        message:
          "The secrets were moved, but \(kept) that another program changed in the old store "
          + "meanwhile are still there. Check which is right, and move again.",
        service: service)
    }
  }
}

extension SecretMove {
  /// Requires the caller's consent to each protection of the source that the destination lacks, except locking.
  private func checkFeatures() throws(SecretError) {
    let lost = source.features.subtracting(destination.features).subtracting(accepted)
      .subtracting([.locking])
    guard let first = SecretStoreFeature.allCases.first(where: lost.contains) else { return }
    throw SecretError(
      code: .unsupported,
      message:
        "The secrets would lose a protection by the move (\(first)). To move them anyway, "
        + "accept that, or choose another store.",
      service: service, feature: first)
  }

  private func checkDifferentStores() throws(SecretError) {
    guard try isSameStore() else { return }
    throw SecretError(
      code: .duplicateItem,
      message: "The old location and the new one are the same store. Nothing has to be moved.",
      service: service)
  }

  /// Whether source and destination are the same store: a probe item written to one appears in the other.
  ///
  /// The stores' descriptions are not conclusive. One collection has an alias and a name, and one vault can have
  /// several paths.
  private func isSameStore() throws(SecretError) -> Bool {
    // Resolves the source's alias anew. A read would accept one that was resolved up to a second ago.
    _ = try source.state()
    let probe = try SecretID(service: "stead.move", account: UUID().uuidString)
    // A random name, so that no other move and no leftover of a killed one is taken for this one.
    try destination.write(
      SecretBytes(""), for: probe,
      SecretStoreWrite(condition: .ifAbsent, label: "Made for a moment by a move of secrets"))
    let isSame: Bool
    do throws(SecretError) {
      isSame = try source.item(for: probe) != nil
    } catch {
      // On this way out, too: the probe would stay in the user's keyring.
      try destination.remove(probe)
      throw error
    }
    try destination.remove(probe)
    return isSame
  }

  private func checkConflict(_ item: SecretItem) throws(SecretError) {
    try checkCancellation()
    let id = try SecretID(service: service, account: item.account)
    guard !isReplacing, try destination.item(for: id) != nil, try !isSame(id) else { return }
    throw SecretError(
      code: .duplicateItem,
      message: "The new store holds another secret of this name, so nothing was moved. Remove the "
        + "one that is wrong, or move with replacing: true.",
      service: service, account: item.account)
  }

  private func copy(_ item: SecretItem) throws(SecretError) {
    let id = try SecretID(service: service, account: item.account)
    // Nil if another program has removed it since it was listed.
    guard let bytes = try source.bytes(for: id) else { return }
    // An earlier move that was interrupted may have copied it.
    let existing = try destination.bytes(for: id)
    let isDone = try existing == bytes ? describes(id, item) : false
    if !isDone {
      // Not `.always`: another program may write the secret between the read above and this write. If the
      // destination has another value, the condition fails, as it should without the caller's consent.
      let condition: SecretStoreWrite.Condition = existing == nil ? .ifAbsent : .ifHolding(bytes)
      try destination.write(
        bytes, for: id,
        SecretStoreWrite(
          condition: isReplacing ? .always : condition, label: item.label,
          attributes: item.attributes))
    }
    // The description counts, too: it is gone once the original is removed.
    guard try destination.bytes(for: id) == bytes, try describes(id, item) else {
      throw SecretError(
        code: .corrupt,
        message: "The new store returned something other than what was copied to it. Nothing was "
          + "removed from the old one; choose another new one.",
        service: service, account: item.account)
    }
  }

  /// Whether the destination has the item's label and attributes.
  private func describes(_ id: SecretID, _ item: SecretItem) throws(SecretError) -> Bool {
    guard let found = try destination.item(for: id) else { return false }
    return found.label == item.label && found.attributes == item.attributes
  }

  private func isSame(_ id: SecretID) throws(SecretError) -> Bool {
    guard let existing = try destination.bytes(for: id) else { return false }
    return try source.bytes(for: id) == existing
  }

  /// Whether an item was last changed before an earlier move.
  ///
  /// The Secret Service records whole seconds. So an item changed within the second of the move does not count
  /// as old, and its value is compared.
  private func isOld(_ item: SecretItem, _ moved: Date?) -> Bool {
    guard let moved, let modified = item.modified else { return false }
    return modified.timeIntervalSince1970 < moved.timeIntervalSince1970.rounded(.down)
  }

  private func checkCancellation() throws(SecretError) {
    guard Task.isCancelled else { return }
    throw SecretError(
      code: .cancelled,
      message: "The move was cancelled. Secrets may be in both stores; move again to finish.",
      service: service)
  }
}

extension SecretMove {
  /// The caller's options for a move besides the new location.
  struct Options {
    var isReplacing: Bool
    var accepted: Set<SecretStoreFeature>
    var progress: SecretMove.Progress

    func move(
      _ service: String, from source: any SecretStore, to destination: any SecretStore
    ) -> SecretMove {
      SecretMove(
        service: service, source: source, destination: destination, isReplacing: isReplacing,
        accepted: accepted, progress: progress)
    }
  }
}

// MARK: - Automatic locations

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
