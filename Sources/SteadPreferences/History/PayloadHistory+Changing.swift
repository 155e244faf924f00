import Foundation

extension PayloadHistory {
  /// Inserts a payload before all others, and drops the oldest beyond the limit.
  ///
  /// It takes some 50 microseconds for 1 KB, however many payloads exist. An existing payload with
  /// the same identity keeps its place: to move it to the front, remove it in a ``batch(_:)``
  /// first.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when it cannot be encoded, `.tooLarge` by
  ///   the options, `.readOnly`, `.noSpace`, `.quotaExceeded`, `.unavailable` when the files cannot
  ///   be written, `.locked` while another process that was stopped has them locked. Nothing has
  ///   changed then.
  public func prepend(_ payload: Payload) throws {
    try commit([.prepend([draft(payload)])])
  }

  /// Inserts payloads before all others, in their order, so that their first one becomes the
  /// newest.
  ///
  /// It is one change and one record; if there are more payloads than the limit, the first ones are
  /// kept.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  public func prepend(contentsOf payloads: some Collection<Payload>) throws {
    guard !payloads.isEmpty else { return }
    // The last draft of an operation becomes the newest entry. Those beyond the limit would be
    // dropped again at once.
    try commit([.prepend(try payloads.prefix(limit).map(draft).reversed())])
  }

  /// Replaces the newest payload that has the same identity; returns false if none exists.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  @discardableResult
  public func update(_ payload: Payload) throws -> Bool {
    try commit([.update(draft(payload))]) > 0
  }

  /// Changes the newest payload with an identity in place; returns false if none exists.
  ///
  /// - Parameters:
  ///   - id: The identity.
  ///   - change: Changes the payload. It is called again, with the current payload, if another
  ///     writer has changed the payload meanwhile.
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``; and whatever `change` throws, in which
  ///   case nothing has changed.
  @discardableResult
  public func update(id: Payload.ID, _ change: (inout Payload) throws -> Void) throws -> Bool {
    while true {
      let found = read { $0.table.newest(id) }
      guard let found, let box = found.content.payload else { return false }
      var payload = PayloadBox<Payload>.payload(in: box)
      try change(&payload)
      // On the condition that the entry is still the one that `change` has seen (compare and swap).
      let replacing = HistoryOperation.replace(
        found.sequence, found.stored, try draft(payload))
      if try commit([replacing]) > 0 { return true }
    }
  }

  /// Removes all payloads with an identity; returns false if none exists.
  ///
  /// - Throws: ``PreferencesError``: `.readOnly`, `.noSpace`, `.unavailable` and `.locked`, as
  ///   ``prepend(_:)``.
  @discardableResult
  public func remove(id: Payload.ID) throws -> Bool {
    try commit([.remove(id)]) > 0
  }

  /// Removes all payloads, as one change.
  ///
  /// - Parameter includingUndecodable: Whether to remove entries that this program cannot read,
  ///   too.
  /// - Throws: ``PreferencesError``, as ``remove(id:)``.
  public func removeAll(includingUndecodable: Bool = false) throws {
    try commit([.removeAll(includingUndecodable: includingUndecodable)])
  }

  /// Removes entries that this program cannot read, if they are unchanged since they were listed.
  ///
  /// - Parameter entries: Entries of ``undecodable``.
  /// - Returns: The number of entries removed.
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
  /// They are one record of the journal and one notification of observers. The limit applies to what they leave, so
  /// their order does not matter to it.
  ///
  /// - Parameter body: Defines the changes. Nothing happens before it returns; if it throws,
  ///   nothing happens at all.
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``; and whatever `body` throws.
  public func batch(_ body: (inout PayloadHistoryBatch<Payload>) throws -> Void) throws {
    var batch = PayloadHistoryBatch<Payload> { payload in try self.draft(payload) }
    try body(&batch)
    try commit(batch.operations)
  }

  // MARK: - Committing

  /// Encodes a payload. Calls the program's code, so without a lock.
  func draft(_ payload: Payload) throws -> HistoryOperation.Draft {
    try addingErrorContext { try coder.draft(payload) }
  }

  /// Makes changes as one record, and returns the number of affected entries.
  @discardableResult
  func commit(_ operations: [HistoryOperation]) throws -> Int {
    try addingErrorContext {
      try refuseIfReadOnly()
      let core = cores.current
      // Without the lock of the files, which a change by an observer takes, too.
      defer { deliver(core) }
      // The blobs' files first, and their lock around both: see ``HistoryBlobs``.
      let outcome = try withBlobs(of: operations, core) { try attempt(operations, core) }
      return outcome.affected.reduce(0, +)
    }
  }

  /// Throws if the preferences were opened read-only.
  func refuseIfReadOnly() throws {
    guard preferences.plan.options.isReadOnly else { return }
    throw PreferencesError(
      code: .readOnly, message: "The preferences were opened read-only; open them for writing.")
  }

  /// Repeats a commit until no other writer comes first. Each repetition means that another writer
  /// has made progress, so this ends (lock-free, not wait-free).
  private func attempt(
    _ operations: [HistoryOperation], _ core: HistoryCore
  ) throws -> HistoryOutcome {
    while true {
      let outcome = try core.withLock { state in
        try state.commit(operations, to: store, limit: limit)
      }
      if let outcome { return outcome }
      _ = pullUpdates(core)
    }
  }
}

// MARK: - Batches

/// Several changes of a history that are made as one.
public struct PayloadHistoryBatch<Payload: Codable & Identifiable & Sendable> {
  private let draft: (Payload) throws -> HistoryOperation.Draft
  private(set) var operations: [HistoryOperation] = []

  init(draft: @escaping (Payload) throws -> HistoryOperation.Draft) { self.draft = draft }

  /// Inserts a payload before all others.
  ///
  /// - Throws: ``PreferencesError``: `.notAPropertyList` when it cannot be encoded, `.tooLarge`.
  public mutating func prepend(_ payload: Payload) throws {
    operations.append(.prepend([try draft(payload)]))
  }

  /// Inserts payloads before all others, in their order.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  public mutating func prepend(contentsOf payloads: some Collection<Payload>) throws {
    operations.append(.prepend(try payloads.map(draft).reversed()))
  }

  /// Replaces the newest payload that has the same identity, if one exists.
  ///
  /// - Throws: ``PreferencesError``, as ``prepend(_:)``.
  public mutating func update(_ payload: Payload) throws {
    operations.append(.update(try draft(payload)))
  }

  /// Removes all payloads with an identity.
  public mutating func remove(id: Payload.ID) { operations.append(.remove(id)) }

  /// Removes all payloads; entries that do not decode stay.
  public mutating func removeAll() {
    operations.append(.removeAll(includingUndecodable: false))
  }
}
