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

// MARK: Pages

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
