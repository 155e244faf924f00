import Foundation
import SteadFiles

/// The store that was chosen for a service, and the next one once the secrets were moved.
///
/// Each call looks whether the record is still the one that was read, which costs a system call. So
/// processes that run while another one moves the secrets go on at the new place. Writers hold a
/// lock together, which who moves has alone; readers hold none, and look at the record again before
/// they believe that something is missing.
final class ChosenStore: SecretStore {
  /// How often a read is begun anew because the secrets were moved in the middle of it.
  static let attemptLimit = 10

  /// What is known of the place. A call works with a copy.
  struct Current: Sendable {
    var stamp: StoreRecordFile.Stamp?
    var record: StoreRecord?
    var choice: StoreChoice
    var store: any SecretStore
  }

  let opener: StoreOpener
  let file: StoreRecordFile
  /// Writers hold it together, and a move holds it alone.
  let writersLock: FileLock
  /// Whether a record that leads elsewhere is replaced by the first write, as when secrets come back.
  let isReturn: Bool
  private let known: ForkSafeLock<Current?>

  init(
    opener: StoreOpener, isReturn: Bool = false
  ) throws(SecretError) {
    self.opener = opener
    file = StoreRecordFile(service: opener.service, in: opener.files.records)
    writersLock = FileLock(file.lock)
    try opener.files.check()
    self.isReturn = isReturn
    known = ForkSafeLock(nil)
    _ = try current()
  }

  var service: String { file.service }

  /// Where the secrets are now.
  func current() throws(SecretError) -> Current {
    let stamp = try file.stamp()
    let old = known.withLock { $0 }
    if let old, old.stamp == stamp, !(old.store is PlannedVault) { return old }
    return try adopt(find(stamp, old))
  }

  /// Keeps what is known for the next call.
  @discardableResult
  func adopt(_ new: Current) -> Current {
    let old = known.withLock { current in
      let old = current
      current = new
      return old
    }
    // Let go of here: a store's own locks must not go while this one is held.
    return withExtendedLifetime(old) { new }
  }

  private func find(
    _ stamp: StoreRecordFile.Stamp?, _ old: Current?
  ) throws(SecretError) -> Current {
    let record = try file.read()
    if let record, !(isReturn && record.address.kind == .elsewhere) {
      let choice = StoreChoice(record: record, path: file.path)
      do throws(SecretError) {
        let store = try open(choice.address, old)
        return Current(stamp: stamp, record: record, choice: choice, store: store)
      } catch {
        throw located(error, record)
      }
    }
    let isChosen = old != nil && old?.record == nil
    let choice = isChosen ? old?.choice : nil
    if let choice { return try provisional(choice, stamp, old) }
    return try provisional(StoreChoice(probe: opener.probe()), stamp, old)
  }

  /// A choice that no write has made the service's yet.
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

  /// The store at an address; the old one where that has stayed the same.
  private func open(_ address: StoreAddress, _ old: Current?) throws(SecretError) -> any SecretStore
  {
    if let old, old.choice.address == address, !(old.store is PlannedVault) { return old.store }
    return try opener.open(address, isNew: false)
  }

  /// Says of the error of a store that cannot be used where the secrets are.
  func explained(_ error: SecretError, _ record: StoreRecord?) -> SecretError {
    guard let record else { return error }
    switch error.code {
    case .locked, .unavailable, .notInitialized, .interactionRequired:
      return located(error, record)
    default: return error
    }
  }

  private func located(_ error: SecretError, _ record: StoreRecord) -> SecretError {
    var error = error
    error.message +=
      " The secrets of \(service.quoted) are in \(record.address), by the record \(file.path), and are looked "
      + "for nowhere else."
    if let leftover = record.leftover { error.message += " Copies may be left in \(leftover)." }
    return error
  }

  /// What the store says of itself, with the reason of the choice.
  var storeDescription: SecretStoreDescription {
    guard let current = (try? current()) ?? known.withLock({ $0 }) else {
      return SecretStoreDescription(kind: .other("none"), reason: "No store has been chosen.")
    }
    var description = current.store.storeDescription
    description.reason = current.choice.reason
    return description
  }

  var features: Set<SecretStoreFeature> { known.withLock { $0?.store }?.features ?? [] }
  var sizeLimit: Int { known.withLock { $0?.store }?.sizeLimit ?? 0 }
}
