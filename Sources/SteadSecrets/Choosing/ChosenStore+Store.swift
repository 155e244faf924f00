import Foundation
import SteadFiles

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
      if try current().record == nil { try settle() }
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
        let error = explained(error, current.record)
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
        throw explained(error, current.record)
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
      throw explained(error, current.record)
    }
  }

  /// Makes the choice final for the service, before its first secret is written.
  ///
  /// A vault is created before the record, so that no record leads to a missing vault; and the record before
  /// the secret, so that no secret is where no record leads.
  private func settle() throws(SecretError) {
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
    adopt(current)
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
