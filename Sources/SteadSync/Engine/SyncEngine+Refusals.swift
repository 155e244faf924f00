import SteadSyncProtocol

// What others, or the server, did not let stand.

extension SyncEngine {
  /// The edits of this device that others did not let stand, oldest first: the last 1,000 of each zone.
  public func conflicts() throws -> [SyncConflict] {
    try zones.flatMap { try $0.conflicts() }
  }

  /// Gives an overwritten field the value again that this device had given it, as an edit of now. Returns whether that
  /// is possible; then the conflict is forgotten, and the edit is sent.
  ///
  /// Not possible for objects that are gone, for what a model denies, and for a large value whose bytes aren't on this
  /// device any more.
  @discardableResult
  public func undo(_ conflict: SyncConflict) throws -> Bool {
    guard let edit = conflict.undoing else { return false }
    for zone in zones where try zone.conflicts().contains(conflict) {
      if let blob = conflict.mine.flatMap({ SteadSyncProtocol.Schema.blob($0) }),
        try zone.bytes(of: blob) == nil
      {
        return false
      }
      let answer = try zone.turn { try $0.commit([edit], now: options.now()) }
      guard case .committed = answer else { return false }
      try zone.forget(conflict)
      signals[zone.id]?.set()
      return true
    }
    return false
  }

  /// Forgets the conflicts.
  public func clearConflicts() throws { for zone in zones { try zone.clearConflicts() } }

  /// The changes that the server has refused, with reasons. They are not in the store any more.
  public func quarantine() throws -> [QuarantinedChange] {
    try zones.flatMap { zone in
      try zone.peek { $0.state.quarantine }.map { QuarantinedChange(zone.id, $0) }
    }
  }

  /// Makes a refused change once more, as edits of now. Returns whether that is possible; then it is sent.
  @discardableResult
  public func retry(_ change: QuarantinedChange) throws -> Bool {
    try act(on: change) { zone, index in
      if case .committed = try zone.retry(at: index, now: options.now()) { true } else { false }
    }
  }

  /// Gives a refused change up.
  public func discard(_ change: QuarantinedChange) throws {
    _ = try act(on: change) { zone, index in
      zone.discard(at: index)
      return true
    }
  }

  private func act(
    on change: QuarantinedChange,
    _ body: (inout ClientZone<StoredRecords>, Int) throws -> Bool
  ) throws -> Bool {
    guard let zone = zones.first(where: { $0.id.text == change.zone }) else { return false }
    let isDone = try zone.turn { state in
      guard let index = state.state.quarantine.firstIndex(of: change.item) else { return false }
      return try body(&state, index)
    }
    signals[zone.id]?.set()
    return isDone
  }
}
