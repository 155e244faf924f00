import Foundation
import SteadFiles

extension ChosenStore {
  /// How long a move waits for writers, and for other moves.
  static let moveTimeout = Duration.seconds(60)

  /// Moves the service's secrets, and the record with them.
  func move(to place: SecretPlace, _ plan: MovePlan) async throws(SecretError) {
    do {
      try POSIXDisk().makeDirectories(opener.files.records.checkedPath)
      // Alone, and with writers held off: what is written now would be missing at the new place.
      try await turns.withLock(timeout: Self.moveTimeout) { try moveLocked(to: place, plan) }
    } catch let error as SecretError {
      throw error
    } catch is CancellationError {
      throw SecretError(
        code: .cancelled, message: "The move was cancelled before it began.", service: service)
    } catch {
      try SecretError.files { throw error }
    }
  }

  private func moveLocked(to place: SecretPlace, _ plan: MovePlan) throws(SecretError) {
    let old = try finish(current(), plan)
    let (chosen, reason) = target(place)
    if old.choice.place == chosen, chosen.kind != .elsewhere { return try record(old, reason) }
    let (destination, name) = try open(place, as: chosen)
    let begin = Date()
    let move = plan.move(service, from: old.store, to: destination)
    try move.copy()
    let hasOld = !(old.store is VaultToCome)
    var record = StoreRecord(
      service: service, place: name, since: begin, reason: reason,
      leftover: hasOld ? old.choice.place : nil)
    try replace(record, destination)
    plan.progress(SecretMoveProgress(step: .recorded, completed: 0, total: 0))
    guard hasOld else { return }
    try move.removeFromSource()
    record.leftover = nil
    try replace(record, destination)
  }

  /// Removes what an earlier move left behind that did not come to its end.
  private func finish(_ current: Current, _ plan: MovePlan) throws(SecretError) -> Current {
    guard var record = current.record, let leftover = record.leftover else { return current }
    let isThere = try leftover.kind == .vault ? opener.hasVault(leftover) : true
    if isThere, leftover != record.place {
      let source = try opener.open(leftover, isNew: false)
      try plan.move(service, from: source, to: current.store)
        .removeFromSource(movedAt: record.since)
    }
    record.leftover = nil
    return try replace(record, current.store)
  }

  /// Where a place is by a record, and why it is the new one.
  private func target(_ place: SecretPlace) -> (ChosenPlace, reason: String) {
    let named = "The program moved the secrets there."
    switch place {
    case .automatic:
      let choice = StoreChoice(probe: opener.probe())
      return (choice.place, choice.reason)
    case .secretService(.default, _): return (.secretService, named)
    case .secretService(let collection, _):
      return (ChosenPlace(kind: .secretService, location: "\(collection)"), named)
    case .vault(nil, nil): return (.vault, named)
    case .vault(let url?, nil):
      return (
        ChosenPlace(kind: .vault, location: url.absoluteURL.path(percentEncoded: false)), named
      )
    case .vault(_, _?), .store: return (ChosenPlace(kind: .elsewhere), named)
    }
  }

  /// Opens or makes the new store; one elsewhere is recorded by what it says of itself.
  private func open(
    _ place: SecretPlace, as chosen: ChosenPlace
  ) throws(SecretError) -> (any SecretStore, ChosenPlace) {
    guard chosen.kind == .elsewhere else { return (try opener.open(chosen, isNew: true), chosen) }
    let store = try place.open(service, opener, isReturn: false)
    let location = [store.backend.kind.name, store.backend.location].compactMap(\.self)
      .joined(separator: " ")
    return (store, ChosenPlace(kind: .elsewhere, location: location))
  }

  /// Makes the choice of a place that is the right one already the service's.
  private func record(_ current: Current, _ reason: String) throws(SecretError) {
    guard current.record == nil else { return }
    let store = try opener.open(current.choice.place, isNew: true)
    try replace(
      StoreRecord(
        service: service, place: current.choice.place, since: Date(), reason: reason), store)
  }

  @discardableResult
  private func replace(
    _ record: StoreRecord, _ store: any SecretStore
  ) throws(SecretError) -> Current {
    try file.replace(with: record)
    return adopt(
      Current(
        stamp: try file.stamp(), record: record,
        choice: StoreChoice(record: record, path: file.path), store: store))
  }
}

extension SecretBackend.Kind {
  /// What a person calls it.
  fileprivate var name: String {
    switch self {
    case .secretService: "Secret Service"
    case .vault: "vault"
    case .keychain: "Keychain"
    case .inMemory: "memory"
    case .plaintext: "file in the clear"
    case .other(let name): name
    }
  }
}
