import Foundation
import SteadFiles

extension ChosenStore {
  /// How long a move waits for writers, and for other moves.
  static let moveTimeout = Duration.seconds(60)

  /// Moves the service's secrets, and the record with them.
  func move(to place: SecretPlace, _ plan: MovePlan) async throws(SecretError) {
    // Outside of the lock: what opens it may be a secret of an automatic place.
    let given = try opened(place)
    do {
      try POSIXDisk().makeDirectories(opener.files.records.checkedPath)
      // Alone, and with writers held off: what is written now would be missing at the new place.
      try await turns.withLock(timeout: Self.moveTimeout) {
        try moveLocked(to: place, given, plan)
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

  private func moveLocked(
    to place: SecretPlace, _ given: (any SecretStore)?, _ plan: MovePlan
  ) throws(SecretError) {
    let old = try finish(current(), plan)
    let (chosen, reason) = target(place, given)
    if old.choice.place == chosen, given == nil { return try record(old, reason) }
    let destination: any SecretStore
    if let given { destination = given } else { destination = try opener.open(chosen, isNew: true) }
    let begin = Date()
    let move = plan.move(service, from: old.store, to: destination)
    try move.copy()
    let hasOld = !(old.store is VaultToCome)
    var record = StoreRecord(
      service: service, place: chosen, since: begin, reason: reason,
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

  /// A store that no record leads to; nil for all places that can be found again.
  private func opened(_ place: SecretPlace) throws(SecretError) -> (any SecretStore)? {
    switch place {
    case .automatic, .secretService, .vault(_, nil): nil
    // That is an automatic place by another name.
    case .store(let store) where store is ChosenStore: nil
    case .vault(_, _?), .store: try place.open(service, opener, isReturn: false)
    }
  }

  /// Where a place is by a record, and why it is the new one.
  private func target(
    _ place: SecretPlace, _ given: (any SecretStore)?
  ) -> (ChosenPlace, reason: String) {
    let named = "The program moved the secrets there."
    if let backend = given?.backend {
      let location = [backend.kind.name, backend.location].compactMap(\.self)
      return (ChosenPlace(kind: .elsewhere, location: location.joined(separator: " ")), named)
    }
    switch place {
    case .automatic, .store:
      let choice = StoreChoice(probe: opener.probe())
      return (choice.place, choice.reason)
    case .secretService(.default, _): return (.secretService, named)
    case .secretService(let collection, _):
      return (ChosenPlace(kind: .secretService, location: "\(collection)"), named)
    case .vault(nil, _): return (.vault, named)
    case .vault(let url?, _):
      let path = url.absoluteURL.path(percentEncoded: false)
      return (ChosenPlace(kind: .vault, location: path), named)
    }
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
