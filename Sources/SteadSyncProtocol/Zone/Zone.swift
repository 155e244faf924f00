/// The server's side of a zone: applies pushes, and answers requests for changes.
///
/// A state machine over its storage, without I/O of its own: each call passes the time and, where it needs them, random
/// bits. So the simulation can run millions of calls without a clock, and repeat each by its seed. Calls on one zone
/// come one after another; see ``ZoneStorage`` for what a call reads and writes.
///
/// Invariants: the numbers of changes have no gaps, each record has the number of its last change, and the counters of
/// ``ZoneState`` equal a recount (I13). A push costs some look-ups for each mutation; a page costs its records.
package struct Zone<Storage: ZoneStorage> {
  /// Applies transactions to records. Its base is the zone's storage.
  package var merger: Merger<Storage>
  /// The limits. A server may change them before each call.
  package var limits: SyncLimits

  package init(_ storage: Storage, limits: SyncLimits = SyncLimits()) {
    merger = Merger(storage, schema: .empty)
    self.limits = limits
  }

  /// The zone's storage.
  package var storage: Storage {
    get { merger.overlay.base }
    // In place: a copy would cost as much as the zone has records.
    _modify { yield &merger.overlay.base }
  }

  /// Whether ``takeEvents()`` will be called.
  package var recordsEvents: Bool {
    get { merger.recordsEvents }
    set { merger.recordsEvents = newValue }
  }

  /// What merges have done since the last call.
  package mutating func takeEvents() -> [MergeEvent] { merger.takeEvents() }
}

// MARK: - Reading

extension Zone where Storage.Entry == Record {
  /// Answers a request for the changes since a cursor. Writes nothing.
  ///
  /// - Parameters:
  ///   - request: its limit is lowered to ``SyncLimits/pageRecords``.
  ///   - now: the server's time in milliseconds since 1970, to which clients set their clocks.
  package func changes(
    _ request: ChangesRequest, now: Int64
  ) throws(Storage.Failure) -> ChangesAnswer {
    let state = try storage.state()
    if let problem = try problem(with: request, state) { return problem }
    var found = try page(request, state, now: now)
    found.page.records = found.entries
    return .page(found.page)
  }
}

extension Zone where Storage.Entry == EncodedRecord {
  /// The same for a storage that has records encoded: the page is spliced from their bytes.
  package func encodedChanges(
    _ request: ChangesRequest, now: Int64
  ) throws(Storage.Failure) -> EncodedAnswer {
    let state = try storage.state()
    if let problem = try problem(with: request, state) { return .other(problem) }
    let found = try page(request, state, now: now)
    return .page(found.page.encoded(with: found.entries))
  }
}

extension Zone {
  /// Why a request gets another answer than a page; nil if it gets one.
  private func problem(
    with request: ChangesRequest, _ state: ZoneState
  ) throws(Storage.Failure) -> ChangesAnswer? {
    if let cursor = request.cursor {
      // A first fetch gets no tombstones up to its start, so it misses nothing if these are purged.
      let progress = max(cursor.seq, cursor.start)
      // Before the anchor is looked up: a purge removes old marks, so an old anchor would look like
      // a rollback.
      if progress < state.purged { return .expired }
      guard try contains(cursor.anchor) else { return try rollback(request, state) }
    } else if let newest = request.marks.first {
      // A fetch from nothing by a client that has shown something before.
      guard try contains(newest) else { return try rollback(request, state) }
    }
    return nil
  }

  /// Whether the zone has everything that it had at a mark.
  func contains(_ mark: Mark) throws(Storage.Failure) -> Bool {
    try storage.contains(mark)
  }

  /// The answer to a client whose anchor the zone doesn't have: the newest mark that both have, if the client sent its
  /// own.
  private func rollback(
    _ request: ChangesRequest, _ state: ZoneState
  ) throws(Storage.Failure) -> ChangesAnswer {
    guard !request.marks.isEmpty else { return .rollback(common: nil) }
    var common = Mark.start
    for mark in request.marks where mark.head > common.head {
      if try storage.contains(mark) { common = mark }
    }
    // Records that the client would bring back may have been deleted before the purge, which removed their tombstones.
    return common.head < state.purged ? .expired : .rollback(common: common)
  }

  /// The records after a cursor, at most as many and as large as the limits allow, but at least one, and the page that
  /// they belong to, without any.
  ///
  /// Invariant: the page's cursor is the number of its last record that was looked at, even if that was left out, or
  /// the head where nothing follows. Otherwise a client would fetch left out tombstones again, or miss a record.
  private func page(
    _ request: ChangesRequest, _ state: ZoneState, now: Int64
  ) throws(Storage.Failure) -> (page: Page, entries: [Storage.Entry]) {
    let head = state.mark.head
    let begin = request.cursor ?? Cursor(seq: 0, start: head, anchor: state.mark)
    let limit = min(max(request.limit, 1), limits.pageRecords)
    let found = try storage.records(after: begin.seq, limit: limit)
    var (entries, bytes, seq, isCut) = ([Storage.Entry](), 0, begin.seq, found.count == limit)
    for entry in found {
      bytes += entry.size
      if !entries.isEmpty, bytes > limits.pageBytes {
        isCut = true
        break
      }
      seq = entry.seq
      // A first fetch needs no tombstones of records that the client never had.
      if entry.isLive || entry.seq > begin.start { entries.append(entry) }
    }
    // A full page that ends at the head has no successor: exactly as many records were left.
    let more = isCut && seq < head
    if !more { seq = head }
    let client = try storage.client(request.client)
    // `now` is never behind the last push, even if the server's clock was set back.
    let page = Page(
      client: request.client, after: request.cursor, records: [],
      cursor: Cursor(seq: seq, start: begin.start, anchor: state.mark), more: more,
      last: client.last, digest: client.digest,
      refused: client.refusals.filter { $0.number > request.acknowledged }.map(\.withoutIDs),
      purged: state.purged, now: max(now, state.now))
    return (page, entries)
  }
}

// MARK: - Upkeep

extension Zone {
  /// Removes the tombstones that are older than ``SyncLimits/tombstoneAge``. A cursor below them is expired then: its
  /// client would never hear of these deletions.
  ///
  /// "Upkeep" in Documentation/SyncProtocol.md.
  package mutating func purge(now: Int64) throws(Storage.Failure) {
    // Everything up to this mark was deleted even earlier.
    guard let mark = try storage.mark(before: now - limits.tombstoneAge) else { return }
    var state = try storage.state()
    guard mark.head > state.purged else { return }
    try storage.purge(upTo: mark.head)
    state.purged = mark.head
    try storage.setState(state)
  }

  /// Removes the blobs that no live record has named for ``SyncLimits/blobGrace``; returns them, so that the caller
  /// deletes their bytes after the commit.
  package mutating func sweep(now: Int64) throws(Storage.Failure) -> [BlobID] {
    try storage.sweepBlobs(untouchedSince: now - limits.blobGrace)
  }

  /// Sets the oldest version of a schema that may write. Pushes of older ones are answered with `schemaTooOld`.
  package mutating func setMinimumSchema(_ version: Int) throws(Storage.Failure) {
    var state = try storage.state()
    state.minimumSchema = version
    try storage.setState(state)
  }
}

// MARK: - Pushes

extension Zone {
  /// Applies a push. A push that was applied before changes nothing, and gets the same receipt: transactions are known
  /// by their client and number.
  ///
  /// Nothing at all is stored unless the answer is `taken`. Each transaction of the push is then applied or refused as
  /// a whole, in order, and a refused one counts as answered, too. A push whose transactions change no record adds no
  /// mark.
  ///
  /// "Push" in Documentation/SyncProtocol.md has the checks in this order.
  ///
  /// - Parameters:
  ///   - now: the server's time in milliseconds since 1970.
  ///   - token: 64 random bits, different for each call.
  package mutating func apply(
    _ push: Push, now: Int64, token: UInt64
  ) throws(Storage.Failure) -> PushAnswer {
    // Everything that can reject the push as a whole comes before the first write.
    var state = try storage.state()
    if let problem = try problem(with: push, state) { return problem }
    var client = try storage.client(push.client)
    let new = push.transactions.filter { $0.number > client.last }
    // The server's clock may be set back. Marks ascend by time, too, which a purge relies on.
    state.now = max(state.now, now)
    let before = state.mark
    let schema = mergedSchema(push, state.schema) ?? state.schema
    let missing = try missingBlobs(new, schema).filter { !push.absentBlobs.contains($0) }
    guard missing.isEmpty else { return .blobsMissing(missing) }
    // From here on the push is taken, and the storage changes.
    try storage.prepare(Set(new.flatMap(\.recordIDs)))
    // Before the transactions, which may rely on the new rules.
    if schema != state.schema { try extend(to: schema, &state) }
    merger.schema = state.schema
    for transaction in new { try apply(transaction, of: push.device, &client, &state) }
    if state.mark.head != before.head {
      state.mark = before.next(head: state.mark.head, random: token, push: push)
      try storage.addMark(state.mark, at: state.now)
    }
    try storage.setClient(push.client, client)
    try storage.setState(state)
    // Also the refusals of an earlier copy of this push, whose answer may have been lost.
    return .taken(
      PushReceipt(
        last: client.last, head: state.mark.head, now: state.now,
        refused: client.refusals.filter { $0.number >= push.transactions.first?.number ?? .max }
          .map(\.withoutIDs)))
  }

  /// Why a push is rejected as a whole. The order matters: a client recovers from a purge or a rollback before anything
  /// else, since its numbers and its schema mean nothing to a server that has forgotten them.
  private func problem(
    with push: Push, _ state: ZoneState
  ) throws(Storage.Failure) -> PushAnswer? {
    // Before the mark is looked up: a purge has removed the marks below it.
    if push.anchor.head < state.purged { return .expired }
    guard try contains(push.anchor) else { return .rollback }
    let last = try storage.client(push.client).last
    // A client numbers without a gap: a missing number is one that the server has forgotten.
    guard push.isNumbered(after: last) else { return .gap }
    if push.schemaVersion < state.minimumSchema {
      return .schemaTooOld(minimum: state.minimumSchema)
    }
    if needsSchema(push, state.schema) {
      guard push.schema?.version == push.schemaVersion else { return .schemaWanted }
      guard mergedSchema(push, state.schema) != nil else { return .schemaConflict }
    }
    // Last, so that a client that has to number again doesn't halve its pushes for nothing.
    return isTooLarge(push) ? .tooLarge : nil
  }

  /// Whether the push's schema may have rules that the zone's lacks.
  private func needsSchema(_ push: Push, _ schema: Schema) -> Bool {
    guard push.schemaVersion == schema.version else { return push.schemaVersion > schema.version }
    return push.schemaDigest.map { $0 != schema.digest } ?? false
  }

  /// The zone's schema with the push's additions; nil if the two contradict each other.
  private func mergedSchema(_ push: Push, _ schema: Schema) -> Schema? {
    guard let sent = push.schema, sent.version >= schema.version else { return schema }
    return sent.extends(schema) ? sent : schema.union(sent)
  }

  /// Takes over a schema with more rules, and enforces them on the records that the zone already has.
  private mutating func extend(
    to schema: Schema, _ state: inout ZoneState
  ) throws(Storage.Failure) {
    let types = schema.typesToIndex(since: state.schema)
    state.schema = schema
    merger.schema = schema
    for type in types { try merger.revalidate(try storage.records(ofType: type)) }
    try write(&state, reindexes: true)
  }
}

// MARK: - Transactions

extension Zone {
  /// Applies or refuses one transaction, and stores the result.
  ///
  /// A transaction that changes a record of an earlier refused one is refused as well, unless its basis says that its
  /// author knew of the refusal: it builds on a state that never came to be.
  ///
  /// Invariant: the transaction counts as answered in either case, and either all of its effects are stored or none.
  /// The client's number, its digest and its refusals change together.
  private mutating func apply(
    _ transaction: Transaction, of device: DeviceID, _ client: inout ZoneClient,
    _ state: inout ZoneState
  ) throws(Storage.Failure) {
    // Before the outcome is known: a refused transaction counts as answered, and isn't sent again.
    client.last = max(client.last, transaction.number)
    client.digest.add(transaction)
    // The basis says which refusals the client knew of when it made this one; it knows them in all later ones, too.
    client.refusals.removeAll { $0.number <= transaction.basis }
    let stamped = clamped(transaction, &state)
    var reason: Refusal.Reason?
    // The checks are in the order of their costs; a transaction has one reason.
    if let earlier = client.refusals.first(where: { !$0.ids.isDisjoint(with: transaction.ids) }) {
      reason = .follows(number: earlier.number)
    } else if let invalid = stamped.problem(device: device, limits, merger.schema) {
      reason = invalid
    } else {
      reason = try merger.apply(stamped)
      if reason == nil { reason = try exceededLimit(state) }
      // Harmless after a refusal by `merger.apply`, which has rolled back already.
      if reason != nil { merger.rollBack() }
    }
    if let reason {
      client.refuse(transaction, reason)
    } else {
      // The zone's clock is above every accepted stamp, so that a clamped stamp never loses to an older edit.
      for mutation in stamped.mutations { state.clock.observe(mutation.newestStamp) }
      try write(&state)
    }
  }

  /// A transaction without stamps that are further in the future than ``SyncLimits/futureLimit``. Such a stamp would
  /// win against every edit until its time has come. Those stamps become moments of the zone's clock, in their order.
  ///
  /// Equal stamps get one moment, so a record that was inserted and edited by one stamp keeps them equal.
  private func clamped(_ transaction: Transaction, _ state: inout ZoneState) -> Transaction {
    let limit = state.now + limits.futureLimit
    let hasLate = transaction.mutations.contains { $0.newestStamp.milliseconds > limit }
    guard hasLate else { return transaction }
    let late = Set(transaction.mutations.flatMap(\.stamps).filter { $0.milliseconds > limit })
    var replacements: [Stamp: Stamp] = [:]
    for stamp in late.sorted() {
      let moment = state.clock.tick(state.now)
      replacements[stamp] = Stamp(
        milliseconds: moment.milliseconds, counter: moment.counter, device: stamp.device)
    }
    var result = transaction
    result.mutations = transaction.mutations.map { $0.restamped { replacements[$0] ?? $0 } }
    return result
  }

  /// Numbers the changed records, in the order of their identities, and stores them.
  ///
  /// A record that ends as it was gets no number: clients would fetch it for nothing. With `reindexes` its index is
  /// stored nevertheless, since the schema has changed.
  ///
  /// Invariant: numbers ascend without a gap, a changed record has one of them, and the counters are those of a
  /// recount (I13).
  private mutating func write(
    _ state: inout ZoneState, reindexes: Bool = false
  ) throws(Storage.Failure) {
    for id in merger.overlay.changed.ids {
      guard let change = merger.overlay.changed[id] else { continue }
      let old = try storage.record(id)
      var (new, index) = (change.record, change.index)
      // With the old number, so that the comparison below is about the contents alone.
      new.seq = old?.seq ?? 0
      if let old, new == old {
        if reindexes { try storage.put(new, index: index) }
        continue
      }
      state.mark.head += 1
      new.seq = state.mark.head
      state.bytes += change.size - (old?.size ?? 0)
      state.records += (new.isLive ? 1 : 0) - (old?.isLive == true ? 1 : 0)
      // The grace period of a blob begins when the last record stops naming it, so old and new ones are touched.
      let blobs = old.map { merger.schema.index(of: $0).blobs } ?? []
      if !blobs.isEmpty || !index.blobs.isEmpty {
        try storage.touchBlobs(Set(blobs).union(index.blobs).sorted(), at: state.now)
      }
      try storage.put(new, index: index)
    }
    // The storage has the changes now, and the next transaction begins without any.
    merger.overlay.reset()
  }
}

// MARK: - Limits

extension Zone {
  /// Whether a push as a whole has too many mutations or bytes.
  func isTooLarge(_ push: Push) -> Bool {
    let count = push.transactions.reduce(0) { $0 + $1.mutations.count }
    let size = push.transactions.reduce(0) { $1.mutations.reduce($0) { $0 + $1.size } }
    return count > limits.pushMutations || size > limits.pushBytes
  }

  /// The blobs that transactions name and the zone lacks, without those that are too large: the transactions that name
  /// these are refused, so their upload would be for nothing.
  func missingBlobs(
    _ transactions: [Transaction], _ schema: Schema
  ) throws(Storage.Failure) -> [BlobID] {
    // Most zones have no blobs, and their pushes needn't be searched.
    guard schema.entities.values.contains(where: \.hasBlobs) else { return [] }
    var missing: Set<BlobID> = []
    for mutation in transactions.flatMap(\.mutations) {
      for blob in schema.blobs(of: mutation)
      where blob.size <= limits.blobBytes && !missing.contains(blob.id) {
        if try !storage.hasBlob(blob.id) { missing.insert(blob.id) }
      }
    }
    return missing.sorted()
  }

  /// The limit that the open transaction's changes exceed.
  ///
  /// A change that makes a record or a zone smaller always passes: a zone may be beyond a limit that was lowered, and
  /// deleting must still be possible.
  func exceededLimit(_ state: ZoneState) throws(Storage.Failure) -> Refusal.Reason? {
    var (limits, grown, added) = (limits, 0, 0)
    for id in merger.overlay.changedInTransaction {
      guard let new = merger.overlay.changed[id] else { continue }
      let old = try storage.record(id)
      // One key is enough: the whole zone is then held to the limits of a store.
      if new.record.type == KeyValueZone.type { limits = limits.lowered(to: KeyValueZone.limits) }
      let before = old?.size ?? 0
      if new.size > limits.recordBytes, new.size > before {
        return .recordSize(id: id, limit: limits.recordBytes, needed: new.size)
      }
      grown += new.size - before
      added += (new.record.isLive ? 1 : 0) - (old?.isLive == true ? 1 : 0)
    }
    if added > 0, state.records + added > limits.zoneRecords {
      return .recordCount(limit: limits.zoneRecords, needed: state.records + added)
    }
    guard grown > 0, state.bytes + grown > limits.zoneBytes else { return nil }
    return .quota(limit: limits.zoneBytes, needed: state.bytes + grown)
  }
}

extension Zone: Sendable where Storage: Sendable {}
