import Foundation
import SteadFiles

/// The store chosen for a service, and its successor after the secrets were moved.
///
/// Each call checks whether the record is still the one that was read, which costs a system call. So
/// processes that run while another one moves the secrets continue at the new location. Writers share a lock,
/// which a move holds exclusively; readers hold none, and check the record again before they conclude that
/// something is missing.
final class ChosenStore: SecretStore {
  /// How often a read is restarted because the secrets were moved during it.
  static let attemptLimit = 10

  /// The current state of the location. A call works with a copy.
  struct Current: Sendable {
    var stamp: StoreRecordFile.Stamp?
    var record: StoreRecord?
    var choice: StoreChoice
    var store: any SecretStore
  }

  let opener: StoreOpener
  let file: StoreRecordFile
  /// Writers share it, and a move holds it exclusively.
  let writersLock: FileLock
  /// Whether the first write replaces a record that leads elsewhere, as when secrets return.
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
    _ = try current()
  }

  var service: String { file.service }

  /// The current location of the secrets.
  func current() throws(SecretError) -> Current {
    let stamp = try file.stamp()
    let old = cached.withLock { $0 }
    if let old, old.stamp == stamp, !(old.store is PlannedVault) { return old }
    return try setCurrent(load(stamp, old))
  }

  /// Keeps the state for the next call.
  @discardableResult
  func setCurrent(_ new: Current) -> Current {
    let old = cached.withLock { current in
      let old = current
      current = new
      return old
    }
    // Released here: a store's own locks must not be released while this one is held.
    return withExtendedLifetime(old) { new }
  }

  private func load(
    _ stamp: StoreRecordFile.Stamp?, _ old: Current?
  ) throws(SecretError) -> Current {
    let record = try file.read()
    if let record, !(isReturn && record.address.kind == .elsewhere) {
      let choice = StoreChoice(record: record, path: file.path)
      do throws(SecretError) {
        let store = try open(choice.address, old)
        return Current(stamp: stamp, record: record, choice: choice, store: store)
      } catch {
        throw addingRecord(error, record)
      }
    }
    let isChosen = old != nil && old?.record == nil
    let choice = isChosen ? old?.choice : nil
    if let choice { return try provisional(choice, stamp, old) }
    return try provisional(StoreChoice(probe: opener.probe()), stamp, old)
  }

  /// A provisional choice: no secret has been written, so it isn't recorded yet.
  private func provisional(
    _ choice: StoreChoice, _ stamp: StoreRecordFile.Stamp?, _ old: Current?
  ) throws(SecretError) -> Current {
    let store: any SecretStore
    let vault = opener.url(ofVault: choice.address)
    if choice.address.kind == .vault, try !opener.isVaultExpected(at: vault) {
      store = PlannedVault(path: vault.path(percentEncoded: false))
    } else {
      store = try open(choice.address, old)
    }
    return Current(stamp: stamp, record: nil, choice: choice, store: store)
  }

  /// Opens the store at an address; reuses the old one if that is unchanged.
  private func open(_ address: StoreAddress, _ old: Current?) throws(SecretError) -> any SecretStore
  {
    if let old, old.choice.address == address, !(old.store is PlannedVault) { return old.store }
    return try opener.open(address, isNew: false)
  }

  /// Adds to the error of an unusable store where the secrets are.
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
      guard try current().record != nil else { return false }
      try self.write(bytes, id, write)
      return true
    }
    if isDone { return }
    try withWritersLock(.exclusive) { () throws(SecretError) in
      // Another process may have written first, and to another location.
      if try current().record == nil { try commitChoice() }
      try self.write(bytes, id, write)
    }
  }
}

extension ChosenStore {
  /// Reads until the location is the same before and after, or the result needs no second check.
  private func read<Result>(
    isCertain: (Result) -> Bool, _ body: (any SecretStore) throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    var failure: SecretError?
    for _ in 0..<Self.attemptLimit {
      let current = try current()
      do throws(SecretError) {
        let result = try body(current.store)
        if isCertain(result) { return result }
        if try file.stamp() == current.stamp { return result }
      } catch {
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

  /// Changes the store while nobody moves the secrets.
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

  /// Makes the choice final for the service, before its first secret is written.
  ///
  /// A vault is created before the record, so that no record leads to a missing vault; and the record before
  /// the secret, so that no secret is where no record leads.
  private func commitChoice() throws(SecretError) {
    var current = try current()
    current.store = try opener.open(current.choice.address, isNew: true)
    let state = try current.store.state()
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
    current.stamp = try file.stamp()
    setCurrent(current)
  }

  private func withWritersLock<Result>(
    _ mode: FileLock.Mode, _ body: () throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    try SecretError.files {
      try POSIXDisk().makeDirectories(opener.files.records.checkedPath)
      return try writersLock.hold(mode, for: opener.timeout) { try body() }
    }
  }
}
