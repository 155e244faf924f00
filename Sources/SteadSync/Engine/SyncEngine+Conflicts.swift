internal import SteadSyncProtocol

extension SyncEngine {
  /// The edits of this device that other devices overruled, oldest first: the last 1,000 of each zone.
  ///
  /// An edit is listed if the edit or deletion that overruled it is already on the server when the page arrives that
  /// confirms this one. Otherwise the other device may have known it, and has replaced it deliberately.
  ///
  /// Reads the disk. The list stays until ``clearConflicts()``, also over restarts of the program; ``undo(_:)``
  /// removes one entry.
  ///
  /// - Returns: The conflicts zone by zone; none if a zone was never synced.
  /// - Throws: What the store throws, if its tables can't be read.
  public func conflicts() throws -> [SyncConflict] {
    try zones.flatMap { try $0.conflicts() }
  }

  /// Sets an overwritten field to this device's value again, as a new edit. Returns whether that is possible; if so,
  /// the conflict is removed and the edit is sent.
  ///
  /// It isn't possible if the object no longer exists, if a model's rule forbids it, or if this device no longer has
  /// the bytes of a large value. Only conflicts of the kind ``SyncConflict/Kind/overwritten`` can be undone.
  ///
  /// The row is changed in the same transaction, by the author `sync`, so contexts see the value at once. The edit is
  /// sent when the engine runs next; it wins against all edits that this device knows, and loses against later ones.
  ///
  /// ```swift
  /// for conflict in try await engine.conflicts() where conflict.field == "title" {
  ///   try await engine.undo(conflict)
  /// }
  /// ```
  ///
  /// - Throws: What the store throws. The conflict then stays in the list.
  @discardableResult
  public func undo(_ conflict: SyncConflict) throws -> Bool {
    guard let edit = conflict.undoing else { return false }
    for zone in zones where try zone.conflicts().contains(conflict) {
      // A large value without its bytes could never be uploaded.
      if let blob = conflict.sent.flatMap({ SteadSyncProtocol.Schema.blob($0) }),
        try zone.bytes(of: blob) == nil
      {
        return false
      }
      let answer = try zone.write { try $0.commit([edit], now: options.now()) }
      guard case .committed = answer else { return false }
      // After the commit: if this fails, an edit that was undone is still listed, and nothing is
      // lost.
      try zone.remove(conflict)
      signals[zone.id]?.set()
      return true
    }
    return false
  }

  /// Removes all conflicts from the list, in a transaction for each zone. Nothing else changes.
  ///
  /// - Throws: What the store throws. Zones that come later are then left as they are.
  public func clearConflicts() throws { for zone in zones { try zone.clearConflicts() } }

  /// The changes that the server has refused, with the reasons: a quota, or a deletion that a model denies. They are
  /// no longer in the store, and are kept until ``retry(_:)`` or ``discard(_:)``.
  ///
  /// The number of entries isn't limited. ``SyncStatus/Zone/quarantinedCount`` is their number as of the last
  /// exchange.
  ///
  /// - Throws: What the store throws, if its tables can't be read.
  public func quarantine() throws -> [QuarantinedChange] {
    try zones.flatMap { zone in
      try zone.read { $0.state.quarantine }.map { QuarantinedChange(zone.id, $0) }
    }
  }

  /// Makes a refused change again, as new edits of now. Returns whether that is possible; if so, it is sent.
  ///
  /// It isn't possible if the change is no longer in quarantine, if a model's rule still denies it, or if an earlier
  /// change of the same objects is still refused. The change then stays in quarantine. An edit of an object that was
  /// deleted meanwhile has no effect. A counter gets what the change had added, on top of its present value.
  ///
  /// Make room or delete what refers to the object first: the server decides again, and may refuse the new edits,
  /// too.
  ///
  /// - Throws: What the store throws. Nothing has changed then.
  @discardableResult
  public func retry(_ change: QuarantinedChange) throws -> Bool {
    try perform(on: change) { zone, index in
      if case .committed = try zone.retry(at: index, now: options.now()) { true } else { false }
    }
  }

  /// Discards a refused change for good. Nothing happens if it is no longer in quarantine.
  ///
  /// - Throws: What the store throws.
  public func discard(_ change: QuarantinedChange) throws {
    _ = try perform(on: change) { zone, index in
      zone.discard(at: index)
      return true
    }
  }

  /// Runs a body with a refused change, by its index in the quarantine; returns false if it is no longer there.
  private func perform(
    on change: QuarantinedChange,
    _ body: (inout ClientZone<StoredRecords>, Int) throws -> Bool
  ) throws -> Bool {
    guard let zone = zones.first(where: { $0.id.text == change.zone }) else { return false }
    let isDone = try zone.write { state in
      // Looked up in the transaction, since another process may have changed the quarantine.
      guard let index = state.state.quarantine.firstIndex(of: change.item) else { return false }
      return try body(&state, index)
    }
    signals[zone.id]?.set()
    return isDone
  }
}

// MARK: - Refused changes

/// A transaction that the server has refused, from ``SyncEngine/quarantine()``. It is no longer in the store, and is
/// kept until it is sent again or discarded.
public struct QuarantinedChange: Hashable, Sendable {
  /// The zone's name.
  public let zone: String
  /// The reason, as a sentence.
  public let reason: String
  /// The identities of the objects that it would have changed.
  public let records: [String]
  /// Identifies the transaction.
  let item: ClientState.Quarantined

  init(_ zone: ZoneID, _ item: ClientState.Quarantined) {
    self.zone = zone.text
    self.item = item
    reason = Self.words(item.reason)
    records = item.transaction.ids.map(\.text).sorted()
  }

  private static func words(_ reason: Refusal.Reason) -> String {
    switch reason {
    case .denied:
      "An object still refers to one that was deleted, and its model's delete rule denies that."
    case .follows: "It changes an object that an earlier refused change inserted or changed."
    case .quota(let limit, let needed):
      "The zone would have \(needed) bytes, and may have \(limit). Delete objects, or raise the server's quota."
    case .recordSize(_, let limit, let needed):
      "An object would have \(needed) bytes, and may have \(limit). Put large values into external storage."
    case .tooLarge: "It is larger than a server accepts. Save fewer objects at a time."
    case .type: "An object of another model has this identity."
    default: "The server's reason is: \(reason)."
    }
  }
}
