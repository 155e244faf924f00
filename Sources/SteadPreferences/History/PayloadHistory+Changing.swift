import Foundation

extension PayloadHistory {
  /// Puts a payload in front of all others, and drops the oldest beyond the limit.
  ///
  /// Some 50 microseconds for 1 KB, however many there are. One with the same identity stays
  /// where it is: to bring it to the front, remove it in a ``batch(_:)`` first.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when it does not encode, `.tooLarge` by the
  ///   options, `.readOnly`, `.noSpace`, `.quotaExceeded`. Nothing has changed then.
  public func prepend(_ payload: Payload) throws {
    try commit([.prepend([draft(payload)])])
  }

  /// Puts payloads in front of all others, in their order: the first of them is then the newest.
  ///
  /// All of it is one change and one record; of more payloads than the limit the first ones count.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  public func prepend(contentsOf payloads: some Collection<Payload>) throws {
    guard !payloads.isEmpty else { return }
    try commit([.prepend(try payloads.prefix(limit).map(draft).reversed())])
  }

  /// Puts a payload in the place of the newest one with its identity; false when there is none.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  @discardableResult
  public func update(_ payload: Payload) throws -> Bool {
    try commit([.update(draft(payload))]) > 0
  }

  /// Changes the newest payload with an identity where it is; false when there is none.
  ///
  /// - Parameters:
  ///   - id: The identity.
  ///   - change: Changes the payload. It is called again, with what is there then, when somebody else
  ///     has changed the payload meanwhile.
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``; and whatever `change` throws, in which case
  ///   nothing has changed.
  @discardableResult
  public func update(id: Payload.ID, _ change: (inout Payload) throws -> Void) throws -> Bool {
    while true {
      let found = read { $0.table.newest(id) }
      guard let found, let box = found.content.payload else { return false }
      var payload = PayloadBox<Payload>.payload(in: box)
      try change(&payload)
      let replacing = HistoryOperation.replace(
        found.sequence, found.stored, try draft(payload))
      if try commit([replacing]) > 0 { return true }
    }
  }

  /// Removes all payloads with an identity; false when there is none.
  ///
  /// - Throws: ``PreferencesError``: `.readOnly`, `.noSpace`.
  @discardableResult
  public func remove(id: Payload.ID) throws -> Bool {
    try commit([.remove(id)]) > 0
  }

  /// Removes all payloads, as one change.
  ///
  /// - Parameter includingUndecodable: Whether entries go that this program cannot read, too.
  /// - Throws: ``PreferencesError``, as ``remove(id:)``.
  public func removeAll(includingUndecodable: Bool = false) throws {
    try commit([.removeAll(includingUndecodable: includingUndecodable)])
  }

  /// Removes entries that this program cannot read, if they still are what was listed.
  ///
  /// - Parameter entries: Entries of ``undecodable``.
  /// - Returns: How many were removed.
  /// - Throws: ``PreferencesError``, as ``remove(id:)``.
  @discardableResult
  public func discardUndecodable(_ entries: some Sequence<UndecodablePayload>) throws -> Int {
    try commit([.removeEntries(entries.map { ($0.sequence, $0.stored) })])
  }

  /// Makes several changes as one: other processes, and the next opening, see all of them or none.
  ///
  /// ```swift
  /// try history.batch { batch in
  ///   batch.remove(id: search.id)
  ///   try batch.prepend(search)
  /// }
  /// ```
  ///
  /// They are one record of the journal and one notice to observers.
  ///
  /// - Parameter body: Says what to change. Nothing has happened before it returns; when it throws,
  ///   nothing does.
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``; and whatever `body` throws.
  public func batch(_ body: (inout PayloadHistoryBatch<Payload>) throws -> Void) throws {
    var batch = PayloadHistoryBatch<Payload> { payload in try self.draft(payload) }
    try body(&batch)
    try commit(batch.operations)
  }
}

extension PayloadHistory {
  func draft(_ payload: Payload) throws -> HistoryOperation.Draft {
    try naming { try coder.draft(payload) }
  }

  /// Makes changes as one, and returns how many entries they concerned.
  @discardableResult
  func commit(_ operations: [HistoryOperation]) throws -> Int {
    try naming {
      guard !preferences.plan.options.isReadOnly else {
        throw PreferencesError(
          code: .readOnly, message: "The preferences were opened for reading only.")
      }
      let outcome = try withBlobs(of: operations) { try attempt(operations) }
      return outcome.affected.reduce(0, +)
    }
  }

  /// Tries until nobody else is faster; somebody has then come further with each try.
  private func attempt(_ operations: [HistoryOperation]) throws -> HistoryOutcome {
    let core = cores.current
    defer { deliver(core) }
    while true {
      let outcome = try core.withLock { state in
        try state.commit(operations, to: store, limit: limit)
      }
      if let outcome { return outcome }
      catchUp(core)
    }
  }
}
