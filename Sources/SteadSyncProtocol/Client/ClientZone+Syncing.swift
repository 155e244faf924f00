// MARK: - Pushing

extension ClientZone {
  /// The next push, or nil if there is nothing to send or no page has been read to the end yet.
  ///
  /// Ask again after a lost answer: the same transactions come again, and the server applies each once. A push has as
  /// many transactions as the limits allow, but at least one.
  ///
  /// - Parameter absentBlobs: of the blobs that the server has asked for, those that this device can't upload.
  package func nextPush(absentBlobs: Set<BlobID> = []) -> Push? {
    guard let anchor = state.anchor else { return nil }
    var (transactions, mutations, bytes) = ([Transaction](), 0, 0)
    for transaction in state.outbox where transaction.number > lastAnswered {
      mutations += transaction.mutations.count
      bytes += transaction.mutations.reduce(0) { $0 + $1.size }
      // What an earlier `tooLarge` has taught about this server.
      if transactions.count >= transactionLimit { break }
      // The first one is sent even if it is too large: the server's answer decides.
      if !transactions.isEmpty, mutations > limits.pushMutations || bytes > limits.pushBytes {
        break
      }
      transactions.append(transaction)
    }
    guard !transactions.isEmpty else { return nil }
    return Push(
      client: state.client, device: state.device, anchor: anchor, schemaVersion: schema.version,
      schemaDigest: serverKnowsSchema ? nil : schemaDigest, schema: sendsSchema ? schema : nil,
      transactions: transactions, absentBlobs: absentBlobs)
  }

  /// Applies an answer to a push. Accepted transactions stay pending until a page includes them. An answer that arrives
  /// late or twice changes nothing.
  ///
  /// After `expired` and `rollback`, send the next request for changes: its answer starts the recovery. After
  /// `schemaTooOld`, `schemaConflict` and `blobsMissing`, nothing here helps: the program must be updated, or upload
  /// the blobs.
  ///
  /// - Parameter freshClient: a random identifier that was never used; becomes the client's if the server was restored.
  package mutating func receive(
    _ answer: PushAnswer, to push: Push, freshClient: ClientID
  ) throws(Storage.Failure) {
    // The client was numbered again after this push was sent.
    guard push.client == state.client else { return }
    switch answer {
    case .taken(let receipt):
      // Refusals in the receipt are handled with the page, which has them, too.
      // The answer to an earlier push may arrive later.
      lastAnswered = max(lastAnswered, receipt.last)
      sendsSchema = false
      serverKnowsSchema = true
    // The digest is sent again, too: the server lacks the schema, whatever it has answered before.
    case .schemaWanted: (sendsSchema, serverKnowsSchema) = (true, false)
    case .gap: try renumber(as: freshClient, prepending: [])
    case .tooLarge: try shrinkPush(after: push, as: freshClient)
    // Otherwise the answer to the next request tells whether the cursor has expired as well.
    case .expired: if hasPendingRestores { try dropRestores(as: freshClient) }
    case .rollback, .schemaTooOld, .schemaConflict, .blobsMissing: break
    }
  }

  /// Halves the pushes that follow, since the server accepts less at once than this client assumes. A transaction that
  /// is too large alone goes to the quarantine.
  private mutating func shrinkPush(
    after push: Push, as client: ClientID
  ) throws(Storage.Failure) {
    if push.transactions.count > 1 {
      // At least 1: a single transaction takes the other branch.
      transactionLimit = push.transactions.count / 2
    } else if let transaction = push.transactions.first {
      try quarantine(transaction, .tooLarge)
      state.outbox.removeAll { $0.number == transaction.number }
      // The server has not seen its number, and takes none after a gap.
      try renumber(as: client, prepending: [])
    }
  }

}

// MARK: - Fetching

extension ClientZone {
  /// The next request for changes. Has the marks only where the server may need them.
  package func nextRequest(limit: Int) -> ChangesRequest {
    var marks = sendsMarks || state.cursor == nil ? state.marks : []
    // The server has asked, and this client has shown nothing yet: they have the beginning in common.
    if sendsMarks, marks.isEmpty { marks = [.start] }
    return ChangesRequest(
      client: state.client, cursor: state.cursor, limit: limit,
      acknowledged: state.acknowledged, marks: marks, round: state.round)
  }

  /// Applies an answer to a request. An answer that arrives late or twice changes nothing: client, cursor and round of
  /// its request are no longer those of the zone.
  ///
  /// - Parameters:
  ///   - sent: when the request was sent, by the device's clock.
  ///   - now: the time by the device's clock.
  ///   - freshClient: a random identifier that was never used; becomes the client's if the server or this device was
  ///     restored.
  package mutating func receive(
    _ answer: ChangesAnswer, to request: ChangesRequest, sent: Int64, now: Int64,
    freshClient: ClientID
  ) throws(Storage.Failure) {
    guard request.client == state.client, request.cursor == state.cursor,
      request.round == state.round
    else { return }
    switch answer {
    case .page(let page):
      // Whatever becomes of the page, the time in it is the server's.
      state.clock.adjust(server: page.now, sent: sent, received: now)
      guard isOfThisDevice(page) else { return try renumber(as: freshClient, prepending: []) }
      try receive(page, now: now)
    case .expired: try expire(as: freshClient)
    // The client asks again, with its marks.
    case .rollback(nil): sendsMarks = true
    case .rollback(let common?): try rollBack(to: common, as: freshClient)
    }
  }
}

// MARK: - Pages

extension ClientZone {
  /// Whether the transactions that the server has of this client are this device's. They aren't if the device was
  /// restored from a backup, or is a copy of another one: then two transactions have one number, and the server has one
  /// of them.
  ///
  /// "Digest" under "Changes" in SyncProtocol.md.
  private func isOfThisDevice(_ page: Page) -> Bool {
    // The digest of fewer transactions than were acknowledged can't be computed: the outbox has
    // lost them.
    guard page.client == state.client, page.last >= state.acknowledged else { return true }
    // The digest costs the outbox, so it is compared once, at the page that acknowledges.
    return page.last <= state.lastNumber
      && (page.more || digest(upTo: page.last) == page.digest)
  }

  /// The digest of this client's transactions up to a number.
  private func digest(upTo number: Int64) -> TransactionDigest {
    var digest = state.digest
    for transaction in state.outbox where transaction.number <= number { digest.add(transaction) }
    return digest
  }

  /// Stages a page. At the head, commits all that is staged to the base and acknowledges transactions.
  ///
  /// Invariant: the base is the zone as it was at one mark, with whole transactions. So pages in the middle of a fetch
  /// are staged. The exception is a first fetch, where a user prefers to see something: each of its pages is shown,
  /// which is safe as long as no two shown records share a unique key.
  ///
  /// "Changes" in SyncProtocol.md has the steps. They are one transaction of the client's database, which the caller
  /// commits.
  private mutating func receive(_ page: Page, now: Int64) throws(Storage.Failure) {
    guard page.client == state.client, page.after == state.cursor else { return }
    // A record that is changed during the fetch moves to a later page. Its old state, from an earlier page, may share a
    // unique key with a record of this page, and the base would have two holders. So the rest is shown at the head.
    if state.phase == .first, page.more, try sharesKeyWithBase(page) { state.phase = .following }
    for record in page.records {
      // Edits of these records are stamped above what the page has.
      state.clock.observe(record.newest)
      try storage.stage(record)
    }
    state.cursor = page.cursor
    // A server that was restored may have forgotten a push without anybody having seen its mark: send it again.
    lastAnswered = min(lastAnswered, page.last)
    if page.more {
      guard state.phase == .first else { return }
      changedRecords.formUnion(try storage.commitStaged(replacing: false, schema: schema))
      return try replay()
    }
    changedRecords.formUnion(
      try storage.commitStaged(replacing: state.phase == .replacing, schema: schema))
    try storage.removeTombstones(upTo: page.purged)
    state.phase = .following
    state.add(page.cursor.anchor)
    // Before the anchor, which depends on whether restores are still pending.
    try acknowledge(page, now: now)
    // Restores keep the anchor at the common mark: if the server purges tombstones above it, the push expires, since
    // other clients may have brought the records back and deleted them.
    if !hasPendingRestores { state.anchor = page.cursor.anchor }
    try replay()
  }

  /// Whether a record of the page has a key of a record that the page doesn't change.
  private func sharesKeyWithBase(_ page: Page) throws(Storage.Failure) -> Bool {
    // A holder that the page changes as well gets its new keys with the page.
    let ids = Set(page.records.map(\.id))
    for record in page.records {
      for (_, token) in schema.tokens(of: record) {
        if let holder = try storage.holder(of: token), !ids.contains(holder) { return true }
      }
    }
    return false
  }

  /// Removes the transactions that a page includes or refuses from the outbox; refused ones go to the quarantine.
  ///
  /// Invariant: ``ClientState/digest`` covers exactly the transactions up to ``ClientState/acknowledged``. So it is
  /// computed before the outbox loses them, and both change in one call.
  private mutating func acknowledge(_ page: Page, now: Int64) throws(Storage.Failure) {
    let reasons = Dictionary(page.refused.map { ($0.number, $0.reason) }) { $1 }
    for transaction in state.outbox where transaction.number <= page.last {
      guard let reason = reasons[transaction.number] else { continue }
      try quarantine(transaction, reason)
    }
    if page.last > state.acknowledged { state.digest = digest(upTo: page.last) }
    // The base has their effects now, or the quarantine has them.
    state.outbox.removeAll { $0.number <= page.last }
    // A server that has lost only transactions that changed nothing has a smaller number and the
    // same mark.
    state.acknowledged = max(state.acknowledged, page.last)
    // No pending edit is left whose stamp could be above the clock.
    if state.outbox.isEmpty { state.clock.discardFuture(now) }
  }
}

// MARK: - Recovery

// Two things can go wrong with what a client and its server have agreed on. After a purge the client fetches everything
// again and keeps what is pending. After a rollback, the server's loss of its newest changes, the client also sends
// again what it has of these, as restores before the pending transactions. In both cases the view stays as it is until
// the fetch has led to the head.

extension ClientZone {
  /// Fetches everything again, which replaces the base at the head. Shown records and pending changes stay.
  package mutating func refetch() throws(Storage.Failure) {
    try storage.discardStaged()
    state.cursor = nil
    // A server that was restored may have lost the schema, too.
    serverKnowsSchema = false
    // Answers to earlier requests without a cursor are recognised by their round.
    state.round += 1
    state.phase = .replacing
  }

  /// Fetches everything again after a purge. The client's records may have been deleted since, and the tombstones are
  /// gone, so none of them is ever restored to a server: without marks a rollback has nothing in common but the
  /// beginning.
  ///
  /// The row `expired` of "Changes" in SyncProtocol.md.
  mutating func expire(as client: ClientID) throws(Storage.Failure) {
    try refetch()
    state.anchor = nil
    state.marks = []
    sendsMarks = false
    if hasPendingRestores { try dropRestores(as: client) }
  }

  /// Whether restores are still in the outbox.
  var hasPendingRestores: Bool { state.outbox.contains(where: \.isRestore) }

  /// Removes the restores from the outbox: other clients may have restored the same records and deleted them, and the
  /// tombstones were purged.
  mutating func dropRestores(as client: ClientID) throws(Storage.Failure) {
    // While a fetch replaces the base there is no anchor, and nothing is pushed until the fetch
    // ends.
    state.anchor = state.phase == .following ? state.marks.first : nil
    state.outbox.removeAll(where: \.isRestore)
    try renumber(as: client, prepending: [])
  }

  /// Restarts with a server that has forgotten everything after a mark: the client's records from after it go into the
  /// outbox as restores, before the pending changes.
  ///
  /// Every device does this, in any order; equal restores change nothing. The client gets a new identifier, since the
  /// server may know some of its numbers and not others.
  ///
  /// "After a rollback" in SyncProtocol.md has the steps in this order. The records are collected before anything is
  /// forgotten, since staged ones are discarded with the refetch.
  mutating func rollBack(
    to common: Mark, as client: ClientID
  ) throws(Storage.Failure) {
    let held = try storage.allRecords(after: common.head)
    state.marks.removeAll { $0.head > common.head }
    try refetch()
    state.anchor = common
    // The fetch has to name it: what other clients have restored may be deleted and purged before the fetch ends.
    state.add(common)
    try renumber(as: client, prepending: chunks(held))
  }

  /// Numbers the pending transactions from 1, under a new client, after others. Those that build on refused ones go to
  /// the quarantine here, since a server knows nothing of the refusals of another client.
  ///
  /// Invariant: afterwards the outbox has the numbers from 1 on, without a gap, and every basis is 0: a basis of the
  /// earlier numbering would name other transactions.
  mutating func renumber(
    as client: ClientID, prepending earlier: [[Mutation]]
  ) throws(Storage.Failure) {
    for transaction in state.outbox {
      guard let number = numberOfRefusal(blocking: transaction) else { continue }
      try quarantine(transaction, .follows(number: number))
    }
    let quarantined = Set(
      state.quarantine.filter { $0.client == state.client }.map(\.transaction.number))
    let pending = state.outbox.filter { !quarantined.contains($0.number) }.map(\.mutations)
    // After the quarantine, whose entries name the client that numbered them.
    state.client = client
    state.outbox = []
    for mutations in earlier + pending {
      state.outbox.append(
        Transaction(
          number: Int64(state.outbox.count) + 1, basis: 0, mutations: mutations))
    }
    state.lastNumber = Int64(state.outbox.count)
    state.acknowledged = 0
    state.digest = TransactionDigest()
    // All of this was about the old numbering.
    (lastAnswered, sendsMarks, serverKnowsSchema) = (0, false, false)
    try replay()
  }

  /// The number of the refused transaction on which a pending one builds; nil for none.
  private func numberOfRefusal(blocking transaction: Transaction) -> Int64? {
    state.quarantine.first {
      $0.client == state.client && $0.transaction.number > transaction.basis
        && !$0.transaction.ids.isDisjoint(with: transaction.ids)
    }?.transaction.number
  }

  /// Restores of records, in transactions that fit a push. Live ones come first: so an alias finds the record that it
  /// was merged into.
  private func chunks(_ held: [Record]) -> [[Mutation]] {
    // Within each half in the order of numbers, as the storage returns them.
    let ordered = held.filter(\.isLive) + held.filter { !$0.isLive }
    var (chunks, bytes) = ([[Mutation]](), 0)
    for record in ordered {
      let mutation = Mutation.restore(record)
      bytes += mutation.size
      if let last = chunks.last, last.count < limits.pushMutations, bytes <= limits.pushBytes {
        chunks[chunks.count - 1].append(mutation)
      } else {
        // Also a record that alone is larger than a push: the server's answer decides about it.
        chunks.append([mutation])
        bytes = mutation.size
      }
    }
    return chunks
  }
}

extension ClientZone {
  /// Gives the device another name, which a server assigns when the device is enrolled.
  ///
  /// Pending changes get stamps and numbers of the new name, by a new client: a server accepts no stamps of another
  /// device.
  ///
  /// - Parameter client: a random identifier that was never used.
  package mutating func rename(
    device: DeviceID, as client: ClientID
  ) throws(Storage.Failure) {
    let old = state.device
    guard device != old else { return }
    state.device = device
    state.outbox = state.outbox.map { transaction in
      var result = transaction
      result.mutations = transaction.mutations.map { mutation in
        // A restored record keeps its authors, who may be other devices.
        if case .restore = mutation { return mutation }
        return mutation.restamped { stamp in
          var stamp = stamp
          if stamp.device == old { stamp.device = device }
          return stamp
        }
      }
      return result
    }
    try renumber(as: client, prepending: [])
  }
}
