extension Zone {
  /// Applies a push. A push that was applied before changes nothing, and gets the same receipt.
  ///
  /// Nothing at all is stored unless the answer is `taken`. Each transaction of the push is then applied or refused as
  /// a whole, in order.
  ///
  /// - Parameters:
  ///   - now: the server's time in milliseconds since 1970.
  ///   - token: 64 random bits, different for each call.
  package mutating func apply(
    _ push: Push, now: Int64, token: UInt64
  ) throws(Storage.Failure) -> PushAnswer {
    var state = try storage.state()
    if let problem = try problem(with: push, state) { return problem }
    var client = try storage.client(push.client)
    let new = push.transactions.filter { $0.number > client.last }
    state.now = max(state.now, now)
    let before = state.mark
    let schema = agreed(push, state.schema) ?? state.schema
    let missing = try missingBlobs(new, schema).filter { !push.absentBlobs.contains($0) }
    guard missing.isEmpty else { return .blobsMissing(missing) }
    try storage.prepare(Set(new.flatMap(\.recordIDs)))
    if schema != state.schema { try grow(to: schema, &state) }
    merger.schema = state.schema
    for transaction in new { try apply(transaction, of: push.device, &client, &state) }
    if state.mark.head != before.head {
      state.mark = before.next(head: state.mark.head, random: token, push: push)
      try storage.addMark(state.mark, at: state.now)
    }
    try storage.setClient(push.client, client)
    try storage.setState(state)
    return .taken(
      PushReceipt(
        last: client.last, head: state.mark.head, now: state.now,
        refused: client.refusals.filter { $0.number >= push.transactions.first?.number ?? .max }
          .map(\.withoutIDs)))
  }

  private func problem(
    with push: Push, _ state: ZoneState
  ) throws(Storage.Failure) -> PushAnswer? {
    if push.anchor.head < state.purged { return .expired }
    guard try knows(push.anchor) else { return .rollback }
    let last = try storage.client(push.client).last
    // A client numbers without a gap: a missing number is one that the server has forgotten.
    guard push.isNumbered(after: last) else { return .gap }
    if push.schemaVersion < state.minimumSchema {
      return .schemaTooOld(minimum: state.minimumSchema)
    }
    if isWanted(push, state.schema) {
      guard push.schema?.version == push.schemaVersion else { return .schemaWanted }
      guard agreed(push, state.schema) != nil else { return .schemaConflict }
    }
    return isTooLarge(push) ? .tooLarge : nil
  }

  /// Whether the push's schema may have rules that the zone's lacks.
  private func isWanted(_ push: Push, _ schema: Schema) -> Bool {
    guard push.schemaVersion == schema.version else { return push.schemaVersion > schema.version }
    return push.schemaDigest.map { $0 != schema.digest } ?? false
  }

  /// The zone's schema with the push's additions; nil if the two contradict each other.
  private func agreed(_ push: Push, _ schema: Schema) -> Schema? {
    guard let sent = push.schema, sent.version >= schema.version else { return schema }
    return sent.extends(schema) ? sent : schema.union(sent)
  }

  private mutating func grow(
    to schema: Schema, _ state: inout ZoneState
  ) throws(Storage.Failure) {
    let types = schema.typesToIndex(since: state.schema)
    state.schema = schema
    merger.schema = schema
    for type in types { try merger.reconsider(try storage.records(ofType: type)) }
    try write(&state, reindexes: true)
  }
}

// MARK: Transactions

extension Zone {
  private mutating func apply(
    _ transaction: Transaction, of device: DeviceID, _ client: inout ZoneClient,
    _ state: inout ZoneState
  ) throws(Storage.Failure) {
    client.last = max(client.last, transaction.number)
    client.digest.add(transaction)
    // Later transactions don't build on refused ones that an earlier one already knew of.
    client.refusals.removeAll { $0.number <= transaction.basis }
    let stamped = clamped(transaction, &state)
    var reason: Refusal.Reason?
    if let earlier = client.refusals.first(where: { !$0.ids.isDisjoint(with: transaction.ids) }) {
      reason = .follows(number: earlier.number)
    } else if let invalid = stamped.problem(device: device, limits, merger.schema) {
      reason = invalid
    } else {
      reason = try merger.apply(stamped)
      if reason == nil { reason = try exceededLimit(state) }
      if reason != nil { merger.undo() }
    }
    if let reason {
      client.refuse(transaction, reason)
    } else {
      for mutation in stamped.mutations { state.clock.observe(mutation.newestStamp) }
      try write(&state)
    }
  }

  /// A transaction whose stamps are not too far in the future. Stamps that are too far become now, in order, and above
  /// everything in the zone.
  private func clamped(_ transaction: Transaction, _ state: inout ZoneState) -> Transaction {
    let limit = state.now + limits.future
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

  /// Numbers the changed records and stores them. One that has only got another index keeps its number.
  private mutating func write(
    _ state: inout ZoneState, reindexes: Bool = false
  ) throws(Storage.Failure) {
    for id in merger.overlay.changed.ids {
      guard let change = merger.overlay.changed[id] else { continue }
      let old = try storage.record(id)
      var (new, index) = (change.record, change.index)
      new.seq = old?.seq ?? 0
      if let old, new == old {
        if reindexes { try storage.put(new, index: index) }
        continue
      }
      state.mark.head += 1
      new.seq = state.mark.head
      state.bytes += change.size - (old?.size ?? 0)
      state.records += (new.isLive ? 1 : 0) - (old?.isLive == true ? 1 : 0)
      let blobs = old.map { merger.schema.index(of: $0).blobs } ?? []
      if !blobs.isEmpty || !index.blobs.isEmpty {
        try storage.touchBlobs(Set(blobs).union(index.blobs).sorted(), at: state.now)
      }
      try storage.put(new, index: index)
    }
    merger.overlay.reset()
  }
}
