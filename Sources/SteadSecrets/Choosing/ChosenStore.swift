import Foundation
import SteadFiles

/// The store of an automatic location: the one that the service's record names, or, without a record, the
/// one that a probe of the system chose.
///
/// The record can change while a process runs: another process writes the service's first secret, or moves
/// the secrets. So each call compares the status of the record's file (one system call) with that of the
/// cached copy, and opens the store again if they differ.
///
/// **Locking.** A write holds ``writersLock`` shared, a move holds it exclusively. So no secret is written to
/// a store that is being emptied. Readers hold no lock; they validate instead, as a reader of a seqlock does.
/// That a secret is missing counts only if the record was the same before and after the read. A secret that
/// was found counts in any case: as long as the old store has it, no write has gone to the new one.
final class ChosenStore: SecretStore {
  /// The number of times that a read is restarted because the secrets were moved during it.
  static let attemptLimit = 10

  /// What was last read of the record, and the store that it led to. A call works with a copy.
  struct Current: Sendable {
    /// The status of the record's file, taken before the record was read; nil if there is no file.
    var stamp: StoreRecordFile.Stamp?
    /// Nil as long as the choice is provisional: no secret has been written yet.
    var record: StoreRecord?
    var choice: StoreChoice
    var store: any SecretStore
  }

  let opener: StoreOpener
  let file: StoreRecordFile
  /// Shared by writers, exclusive for a move and for the first write.
  let writersLock: FileLock
  /// Whether the secrets come back from a store that only the program can open. Then a record of such a store
  /// does not count, and the first write replaces it.
  let isReturn: Bool
  private let cached: ForkSafeLock<Current?>

  init(
    opener: StoreOpener, isReturn: Bool = false
  ) throws(SecretError) {
    self.opener = opener
    file = StoreRecordFile(service: opener.service, in: opener.files.records)
    writersLock = FileLock(file.lock)
    try opener.files.check()
    self.isReturn = isReturn
    cached = ForkSafeLock(nil)
    // Now and not with the first call: a record that cannot be used is an error of the initializer, where the program
    // can name another location.
    _ = try current()
  }

  var service: String { file.service }

  /// The location of the secrets, from the cache if the record is still the one that was read.
  func current() throws(SecretError) -> Current {
    // Before the record is read: if it is replaced in between, the next call sees another stamp and reads again.
    let stamp = try file.stamp()
    let old = cached.withLock { $0 }
    // A planned vault is looked for each time: another process creates it before it writes the record.
    if let old, old.stamp == stamp, !(old.store is PlannedVault) { return old }
    // Two threads may load at once. Both results are right, since each has the stamp from before its reading.
    return try setCurrent(load(stamp, old))
  }

  /// Caches the location for the next call.
  @discardableResult
  func setCurrent(_ new: Current) -> Current {
    let old = cached.withLock { current in
      let old = current
      current = new
      return old
    }
    // The old store is released after the lock: its deinit takes locks of its own.
    return withExtendedLifetime(old) { new }
  }

  private func load(
    _ stamp: StoreRecordFile.Stamp?, _ old: Current?
  ) throws(SecretError) -> Current {
    let record = try file.read()
    // The record decides, whatever a probe would find: secrets in two stores are soon lost in one of them.
    if let record, !(isReturn && record.address.kind == .elsewhere) {
      let choice = StoreChoice(record: record, path: file.path)
      do throws(SecretError) {
        let store = try open(choice.address, old)
        return Current(stamp: stamp, record: record, choice: choice, store: store)
      } catch {
        throw addingRecord(error, record)
      }
    }
    // The first probe counts for as long as the object exists. Otherwise a keyring that starts between two
    // reads would change where this process looks.
    let isChosen = old != nil && old?.record == nil
    let choice = isChosen ? old?.choice : nil
    if let choice { return try provisional(choice, stamp, old) }
    return try provisional(StoreChoice(probe: opener.probe()), stamp, old)
  }

  /// The location by a choice that isn't recorded, since no secret has been written yet.
  private func provisional(
    _ choice: StoreChoice, _ stamp: StoreRecordFile.Stamp?, _ old: Current?
  ) throws(SecretError) -> Current {
    let store: any SecretStore
    let vault = opener.url(ofVault: choice.address)
    // Expected and not merely there: a vault that existed and has disappeared must be an error, so it is opened.
    if choice.address.kind == .vault, try !opener.isVaultExpected(at: vault) {
      store = PlannedVault(path: vault.path(percentEncoded: false))
    } else {
      store = try open(choice.address, old)
    }
    return Current(stamp: stamp, record: nil, choice: choice, store: store)
  }

  /// Opens the store at an address, or reuses the open one if the address is the same: opening a vault derives
  /// keys, and a Secret Service has a connection to keep.
  private func open(_ address: StoreAddress, _ old: Current?) throws(SecretError) -> any SecretStore
  {
    if let old, old.choice.address == address, !(old.store is PlannedVault) { return old.store }
    return try opener.open(address, isNew: false)
  }

  /// Adds to the error of a store that cannot be used now, where the secrets are and why no other store is tried.
  ///
  /// Errors about an item stay as they are.
  func addingLocation(_ error: SecretError, _ record: StoreRecord?) -> SecretError {
    guard let record else { return error }
    switch error.code {
    case .locked, .unavailable, .notInitialized, .interactionRequired:
      return addingRecord(error, record)
    default: return error
    }
  }

  private func addingRecord(_ error: SecretError, _ record: StoreRecord) -> SecretError {
    var error = error
    error.message +=
      " The secrets of \(service.quoted) are in \(record.address) according to the record "
      + "\(file.path), and nowhere else is searched."
    if let leftover = record.leftover { error.message += " Copies may be left in \(leftover)." }
    return error
  }

  /// The store's own description, with the reason for the choice.
  var storeDescription: SecretStoreDescription {
    guard let current = (try? current()) ?? cached.withLock({ $0 }) else {
      return SecretStoreDescription(kind: .other("none"), reason: "No store has been chosen.")
    }
    var description = current.store.storeDescription
    description.reason = current.choice.reason
    return description
  }

  // Without I/O, since they cannot throw: those of the store that was used last.
  var features: Set<SecretStoreFeature> { cached.withLock { $0?.store }?.features ?? [] }
  var sizeLimit: Int { cached.withLock { $0?.store }?.sizeLimit ?? 0 }
}

// MARK: - SecretStore

extension ChosenStore {
  func state() throws(SecretError) -> SecretStoreState {
    try read(isCertain: { _ in true }) { store throws(SecretError) in try store.state() }
  }

  func unlock(timeout: Duration) async throws(SecretError) {
    try await current().store.unlock(timeout: timeout)
  }

  func lock() throws(SecretError) { try current().store.lock() }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? {
    try read(isCertain: { $0 != nil }) { store throws(SecretError) in try store.bytes(for: id) }
  }

  func item(for id: SecretID) throws(SecretError) -> SecretItem? {
    try read(isCertain: { $0 != nil }) { store throws(SecretError) in try store.item(for: id) }
  }

  func items(service: String) throws(SecretError) -> [SecretItem] {
    try read(isCertain: { _ in false }) { store throws(SecretError) in
      try store.items(service: service)
    }
  }

  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] {
    try read(isCertain: { _ in false }) { store throws(SecretError) in
      try store.items(matching: attributes)
    }
  }

  func remove(_ id: SecretID) throws(SecretError) -> Bool {
    try change { store throws(SecretError) in try store.remove(id) }
  }

  func removeAll(service: String) throws(SecretError) -> Int {
    try change { store throws(SecretError) in try store.removeAll(service: service) }
  }

  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    let isDone = try withWritersLock(.shared) { () throws(SecretError) in
      // Under the lock, which a move holds exclusively: the record stays what it is until the secret is written.
      guard try current().record != nil else { return false }
      try self.write(bytes, id, write)
      return true
    }
    if isDone { return }
    // A lock cannot be upgraded: it was released, and another process may have written the first secret since,
    // to another location. So the record is read again.
    try withWritersLock(.exclusive) { () throws(SecretError) in
      if try current().record == nil { try commitChoice() }
      try self.write(bytes, id, write)
    }
  }
}

extension ChosenStore {
  /// Reads from the current store, and again from the new one if the secrets were moved during the read.
  ///
  /// - Parameter isCertain: Whether the result counts without a second look at the record. True for a secret that
  ///   was found; false for nil, and for lists, which a move may have halved.
  private func read<Result>(
    isCertain: (Result) -> Bool, _ body: (any SecretStore) throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    var failure: SecretError?
    for _ in 0..<Self.attemptLimit {
      let current = try current()
      do throws(SecretError) {
        let result = try body(current.store)
        if isCertain(result) { return result }
        // The second half of the seqlock: with the same stamp no move has removed anything during the read.
        if try file.stamp() == current.stamp { return result }
      } catch {
        // The store may have failed because a move has just removed it. The new one is tried before that is
        // an error.
        let error = addingLocation(error, current.record)
        guard try file.stamp() != current.stamp else { throw error }
        failure = error
      }
    }
    throw failure
      ?? SecretError(
        code: .failed, message: "The secrets were moved repeatedly during the read. Try again.",
        service: service)
  }

  /// Removes from the current store, while nobody moves the secrets.
  private func change<Result>(
    _ body: (any SecretStore) throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    try withWritersLock(.shared) { () throws(SecretError) in
      let current = try current()
      do throws(SecretError) {
        return try body(current.store)
      } catch {
        throw addingLocation(error, current.record)
      }
    }
  }

  private func write(
    _ bytes: SecretBytes, _ id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) {
    let current = try current()
    do throws(SecretError) {
      try current.store.write(bytes, for: id, write)
    } catch {
      throw addingLocation(error, current.record)
    }
  }

  /// Records the choice for the service, before its first secret is written. Requires the exclusive lock.
  ///
  /// The order matters to a process that is killed in between. The vault is created before the record, so
  /// that no record leads to a missing vault; and the record is written before the secret, so that no secret
  /// is where no record leads. A vault without a record is found by the next probe.
  private func commitChoice() throws(SecretError) {
    var current = try current()
    current.store = try opener.open(current.choice.address, isNew: true)
    let state = try current.store.state()
    // Without a record so far: a keyring that the user does not open must not become the place for good.
    guard state == .ready else {
      throw SecretError(
        code: state == .locked ? .locked : .notInitialized,
        message: "Nothing was stored. \(current.choice.reason)", service: service)
    }
    let record = StoreRecord(
      service: service, address: current.choice.address, since: Date(),
      reason: current.choice.reason)
    if isReturn { try file.replace(with: record) } else { try file.create(record) }
    current.record = record
    // After the record was written. Only moves replace it, and they wait for this lock.
    current.stamp = try file.stamp()
    setCurrent(current)
  }

  /// Calls `body` with the writers' lock; creates the directory of the lock and the record if necessary.
  private func withWritersLock<Result>(
    _ mode: FileLock.Mode, _ body: () throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    try SecretError.files {
      try POSIXDisk().makeDirectories(opener.files.records.checkedPath)
      return try writersLock.hold(mode, for: opener.timeout) { try body() }
    }
  }
}
