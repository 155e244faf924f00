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
