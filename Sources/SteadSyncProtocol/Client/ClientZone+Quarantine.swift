extension ClientZone {
  /// Commits a refused transaction again, as edits of now. Returns what ``commit(_:now:)`` returns, or `tooLarge` for
  /// an index that doesn't exist.
  ///
  /// A counter's field has a total, not an increment. So what the transaction added is determined again, and added to
  /// the counter's present total.
  ///
  /// The quarantine keeps the transaction unless the result is `committed`, so a failed attempt loses nothing.
  package mutating func retry(at index: Int, now: Int64) throws(Storage.Failure) -> CommitResult {
    guard state.quarantine.indices.contains(index) else { return .tooLarge }
    // A copy, as in ``commit(_:now:)``: a refused attempt uses up no moments.
    var clock = state.clock
    let refused = state.quarantine[index]
    var transaction = refused.transaction
    transaction.number = state.lastNumber + 1
    // It builds on what the view has now, no longer on what it was refused with.
    transaction.basis = state.acknowledged
    transaction.mutations = try rebased(refused).map { mutation in
      // A restored state keeps the stamps of its authors.
      if case .restore = mutation { return mutation }
      let moment = clock.tick(now)
      let stamp = Stamp(
        milliseconds: moment.milliseconds, counter: moment.counter, device: state.device)
      return mutation.restamped { _ in stamp }
    }
    if let earlier = refusalBlocking(transaction) {
      return .refused(.follows(number: earlier.number))
    }
    if let reason = try merger.apply(transaction) { return .refused(reason) }
    state.quarantine.remove(at: index)
    append(transaction, clock)
    return .committed(number: transaction.number)
  }

  /// Removes a refused transaction from the quarantine for good.
  package mutating func discard(at index: Int) {
    guard state.quarantine.indices.contains(index) else { return }
    state.quarantine.remove(at: index)
  }

  /// Puts a refused transaction into the quarantine, with the device's own counter entries before it: the difference is
  /// what ``retry(at:now:)`` adds again.
  ///
  /// They cannot be determined later: by then the device may have added to the counters again. An entry's number of
  /// edits tells which of the possible earlier values is the one before.
  mutating func quarantine(
    _ transaction: Transaction, _ reason: Refusal.Reason
  ) throws(Storage.Failure) {
    var counters: [RecordID: [String: SyncValue]] = [:]
    for mutation in transaction.mutations {
      // The first mutation of a counter counts: the retry computes the others from it.
      for (name, value) in ownCounters(of: mutation) where counters[mutation.id]?[name] == nil {
        let edits = SyncCounter.counts(in: value, by: state.device).edits
        // The entry before this addition has one edit less.
        let before = try earlierValues(of: name, mutation, transaction).first {
          SyncCounter.counts(in: $0, by: state.device).edits == edits - 1
        }
        counters[mutation.id, default: [:]][name] = before.map {
          SyncCounter.entry(in: $0, by: state.device)
        }
      }
    }
    state.quarantine.append(
      .init(
        client: state.client, transaction: transaction, reason: reason, counters: counters))
  }

  /// The possible values of a counter before a refused transaction: those of earlier refused ones on which it may
  /// build, the latest first, and the base's.
  private func earlierValues(
    of name: String, _ mutation: Mutation, _ transaction: Transaction
  ) throws(Storage.Failure) -> [SyncValue] {
    var values: [SyncValue] = []
    for earlier in state.quarantine.reversed()
    where earlier.client == state.client && earlier.transaction.number > transaction.basis {
      values += earlier.transaction.mutations.reversed().filter { $0.id == mutation.id }
        .compactMap { $0.values[name] }
    }
    var base = try storage.record(mutation.id)
    // The counter went over to the record into which this one was merged.
    if let into = base?.into { base = try storage.record(into) }
    return values + [base?.fields[name]?.value ?? .null]
  }

  /// The fields of a mutation that are counters to which this device has added.
  private func ownCounters(of mutation: Mutation) -> [(name: String, value: SyncValue)] {
    if case .restore = mutation { return [] }
    return SyncValue.sorted(mutation.values).filter { name, value in
      schema.rule(name, of: mutation.type)?.merge == .counter
        && SyncCounter.counts(in: value, by: state.device).edits > 0
    }.map { ($0.key, $0.value) }
  }

  /// The mutations of a refused transaction, with the same additions to counters as these are in the view now. Two
  /// mutations of one counter add one after the other.
  ///
  /// "Push" in SyncProtocol.md has an example of the arithmetic.
  private func rebased(
    _ refused: ClientState.Quarantined
  ) throws(Storage.Failure) -> [Mutation] {
    var (before, present) = (refused.counters, [RecordID: [String: SyncValue]]())
    var mutations: [Mutation] = []
    for mutation in refused.transaction.mutations {
      var values = mutation.values
      for (name, value) in ownCounters(of: mutation) {
        // Unknown if an older version, which kept none, put it here.
        guard let old = before[mutation.id]?[name] else { continue }
        let current = try merger.resolved(mutation.id)?.fields[name]?.value
        // The first mutation of a counter adds to the value in the view, the next one to what the
        // first has made.
        let seen = present[mutation.id]?[name] ?? current ?? .null
        let (now, then) = (
          SyncCounter.counts(in: value, by: state.device),
          SyncCounter.counts(in: old, by: state.device)
        )
        // Wraps around, as a counter's sum does.
        values[name] = SyncCounter.adding(
          now.total &- then.total, to: seen, by: state.device)
        before[mutation.id]?[name] = value
        present[mutation.id, default: [:]][name] = values[name]
      }
      mutations.append(mutation.withValues(values))
    }
    return mutations
  }
}
