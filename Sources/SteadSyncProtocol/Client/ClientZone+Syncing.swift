extension ClientZone {
  /// The next push, or nil if there is nothing to send or no page has been read to the end yet.
  ///
  /// Ask again after a lost answer: the same transactions come again, and the server applies each once.
  ///
  /// - Parameter absentBlobs: of the blobs that the server has asked for, those that this device can't upload.
  package func nextPush(absentBlobs: Set<BlobID> = []) -> Push? {
    guard let anchor = state.anchor else { return nil }
    var (transactions, mutations, bytes) = ([Transaction](), 0, 0)
    for transaction in state.outbox where transaction.number > answered {
      mutations += transaction.mutations.count
      bytes += transaction.mutations.reduce(0) { $0 + $1.size }
      if transactions.count >= transactionLimit { break }
      if !transactions.isEmpty, mutations > limits.pushMutations || bytes > limits.pushBytes {
        break
      }
      transactions.append(transaction)
    }
    guard !transactions.isEmpty else { return nil }
    return Push(
      client: state.client, device: state.device, anchor: anchor, schemaVersion: schema.version,
      schemaDigest: knowsSchema ? nil : schemaDigest, schema: sendsSchema ? schema : nil,
      transactions: transactions, absentBlobs: absentBlobs)
  }

  /// Applies an answer to a push. Accepted transactions stay pending until a page includes them.
  ///
  /// After `expired` and `rollback`, send the next request for changes: its answer starts the recovery.
  ///
  /// - Parameter freshClient: a random identifier that was never used; adopted if the server was restored.
  package mutating func receive(
    _ answer: PushAnswer, to push: Push, freshClient: ClientID
  ) throws(Storage.Failure) {
    guard push.client == state.client else { return }
    switch answer {
    case .taken(let receipt):
      answered = max(answered, receipt.last)
      sendsSchema = false
      knowsSchema = true
    case .schemaWanted: (sendsSchema, knowsSchema) = (true, false)
    case .gap: try renumber(as: freshClient, before: [])
    case .tooLarge: try sendLess(than: push, as: freshClient)
    case .expired: if bringsBack { try giveUpRestores(as: freshClient) }
    case .rollback, .schemaTooOld, .schemaConflict, .blobsMissing: break
    }
  }

  /// The server accepts less at once than this client assumes.
  private mutating func sendLess(
    than push: Push, as client: ClientID
  ) throws(Storage.Failure) {
    if push.transactions.count > 1 {
      transactionLimit = push.transactions.count / 2
    } else if let transaction = push.transactions.first {
      try quarantine(transaction, .tooLarge)
      state.outbox.removeAll { $0.number == transaction.number }
      // The server has not seen its number, and takes none after a gap.
      try renumber(as: client, before: [])
    }
  }

  /// The next request for changes.
  package func nextRequest(limit: Int) -> ChangesRequest {
    var marks = sendsMarks || state.cursor == nil ? state.marks : []
    // A fetch that has not read to the end yet only has the beginning in common.
    if sendsMarks, marks.isEmpty { marks = [.start] }
    return ChangesRequest(
      client: state.client, cursor: state.cursor, limit: limit,
      acknowledged: state.acknowledged, marks: marks, round: state.round)
  }

  /// Applies an answer to a request. An answer that arrives late or twice changes nothing.
  ///
  /// - Parameters:
  ///   - sent: when the request was sent, by the device's clock.
  ///   - now: the time by the device's clock.
  ///   - freshClient: a random identifier that was never used; adopted if the server was restored.
  package mutating func receive(
    _ answer: ChangesAnswer, to request: ChangesRequest, sent: Int64, now: Int64,
    freshClient: ClientID
  ) throws(Storage.Failure) {
    guard request.client == state.client, request.cursor == state.cursor,
      request.round == state.round
    else { return }
    switch answer {
    case .page(let page):
      state.clock.adjust(server: page.now, sent: sent, received: now)
      guard isOwn(page) else { return try renumber(as: freshClient, before: []) }
      try receive(page, now: now)
    case .expired: try expire(as: freshClient)
    case .rollback(nil): sendsMarks = true
    case .rollback(let common?): try rollBack(to: common, as: freshClient)
    }
  }
}

// MARK: - Pages

extension ClientZone {
  /// Whether the server's transactions of this client are this device's. They aren't if the device was restored from a
  /// backup, or is a copy of another one: then numbers were given twice.
  private func isOwn(_ page: Page) -> Bool {
    guard page.client == state.client, page.last >= state.acknowledged else { return true }
    // The digest costs the outbox, so only the page that acknowledges is compared.
    return page.last <= state.numbered
      && (page.more || digest(upTo: page.last) == page.digest)
  }

  private func digest(upTo number: Int64) -> TransactionDigest {
    var digest = state.digest
    for transaction in state.outbox where transaction.number <= number { digest.add(transaction) }
    return digest
  }

  private mutating func receive(_ page: Page, now: Int64) throws(Storage.Failure) {
    guard page.client == state.client, page.after == state.cursor else { return }
    // A record that has moved to a later page shows its old state until then, which may share a key with a record of
    // this page. So show the rest at the head.
    if state.phase == .first, page.more, try collides(page) { state.phase = .following }
    for record in page.records {
      state.clock.observe(record.newest)
      try merger.overlay.base.stage(record)
    }
    state.cursor = page.cursor
    // A server that has forgotten a push before anybody saw it: send it again.
    answered = min(answered, page.last)
    if page.more {
      guard state.phase == .first else { return }
      changed.formUnion(try merger.overlay.base.commitStaged(replacing: false, schema: schema))
      return try replay()
    }
    changed.formUnion(
      try merger.overlay.base.commitStaged(replacing: state.phase == .replacing, schema: schema))
    try merger.overlay.base.forgetTombstones(upTo: page.purged)
    state.phase = .following
    state.add(page.cursor.anchor)
    try acknowledge(page, now: now)
    // What is brought back stays as old as the common mark: a purge of later tombstones expires it.
    if !bringsBack { state.anchor = page.cursor.anchor }
    try replay()
  }

  /// Whether a record of the page has a key of a record that the page doesn't change.
  private func collides(_ page: Page) throws(Storage.Failure) -> Bool {
    let ids = Set(page.records.map(\.id))
    for record in page.records {
      for (_, token) in schema.tokens(of: record) {
        if let holder = try storage.holder(of: token), !ids.contains(holder) { return true }
      }
    }
    return false
  }

  private mutating func acknowledge(_ page: Page, now: Int64) throws(Storage.Failure) {
    let reasons = Dictionary(page.refused.map { ($0.number, $0.reason) }) { $1 }
    for transaction in state.outbox where transaction.number <= page.last {
      guard let reason = reasons[transaction.number] else { continue }
      try quarantine(transaction, reason)
    }
    if page.last > state.acknowledged { state.digest = digest(upTo: page.last) }
    state.outbox.removeAll { $0.number <= page.last }
    state.acknowledged = max(state.acknowledged, page.last)
    if state.outbox.isEmpty { state.clock.settle(now) }
  }
}

// MARK: - Recovery

// Fetching again and numbering again.

extension ClientZone {
  /// Fetches everything again. Shown records and pending changes stay.
  package mutating func refetch() throws(Storage.Failure) {
    try merger.overlay.base.discardStaged()
    state.cursor = nil
    knowsSchema = false
    state.round += 1
    state.phase = .replacing
  }

  /// Fetches everything again after a purge. The client's records may have been deleted since, so none of them is ever
  /// brought back to a server.
  mutating func expire(as client: ClientID) throws(Storage.Failure) {
    try refetch()
    state.anchor = nil
    state.marks = []
    sendsMarks = false
    if bringsBack { try giveUpRestores(as: client) }
  }

  /// Whether something that the server has forgotten is still to be brought back.
  var bringsBack: Bool { state.outbox.contains(where: \.isRestore) }

  /// Brings nothing back: other clients may have brought it back and deleted it, and the tombstones were purged.
  mutating func giveUpRestores(as client: ClientID) throws(Storage.Failure) {
    state.anchor = state.phase == .following ? state.marks.first : nil
    state.outbox.removeAll(where: \.isRestore)
    try renumber(as: client, before: [])
  }

  /// Restarts with a server that has forgotten everything after a mark: the client's records from after it go into the
  /// outbox, before the pending changes.
  mutating func rollBack(
    to common: Mark, as client: ClientID
  ) throws(Storage.Failure) {
    let held = try storage.held(after: common.head)
    state.marks.removeAll { $0.head > common.head }
    try refetch()
    state.anchor = common
    // The fetch names it: what was brought back may be purged before the fetch ends.
    state.add(common)
    try renumber(as: client, before: chunks(held))
  }

  /// Numbers the pending transactions from 1, after others. Those that build on refused ones are refused here, since
  /// the server won't know.
  mutating func renumber(
    as client: ClientID, before earlier: [[Mutation]]
  ) throws(Storage.Failure) {
    for transaction in state.outbox {
      guard let number = refusalInQuarantine(before: transaction) else { continue }
      try quarantine(transaction, .follows(number: number))
    }
    let quarantined = Set(
      state.quarantine.filter { $0.client == state.client }.map(\.transaction.number))
    let pending = state.outbox.filter { !quarantined.contains($0.number) }.map(\.mutations)
    state.client = client
    state.outbox = []
    for mutations in earlier + pending {
      state.outbox.append(
        Transaction(
          number: Int64(state.outbox.count) + 1, basis: 0, mutations: mutations))
    }
    state.numbered = Int64(state.outbox.count)
    state.acknowledged = 0
    state.digest = TransactionDigest()
    (answered, sendsMarks, knowsSchema) = (0, false, false)
    try replay()
  }

  private func refusalInQuarantine(before transaction: Transaction) -> Int64? {
    state.quarantine.first {
      $0.client == state.client && $0.transaction.number > transaction.basis
        && !$0.transaction.ids.isDisjoint(with: transaction.ids)
    }?.transaction.number
  }

  /// Records to bring back, live ones first: so a merged one finds the record that it was merged into.
  private func chunks(_ held: [Record]) -> [[Mutation]] {
    let ordered = held.filter(\.isLive) + held.filter { !$0.isLive }
    var (chunks, bytes) = ([[Mutation]](), 0)
    for record in ordered {
      let mutation = Mutation.restore(record)
      bytes += mutation.size
      if let last = chunks.last, last.count < limits.pushMutations, bytes <= limits.pushBytes {
        chunks[chunks.count - 1].append(mutation)
      } else {
        chunks.append([mutation])
        bytes = mutation.size
      }
    }
    return chunks
  }
}

extension ClientZone {
  /// Gives the device another name, as after it was enrolled again.
  ///
  /// Pending changes are renumbered under the new name, by a new client: a server accepts no stamps of another device.
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
        // Records that are only brought back keep their authors.
        if case .restore = mutation { return mutation }
        return mutation.restamped { stamp in
          var stamp = stamp
          if stamp.device == old { stamp.device = device }
          return stamp
        }
      }
      return result
    }
    try renumber(as: client, before: [])
  }
}
