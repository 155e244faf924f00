/// The result of reading the whole source, before anything is written.
struct TransferSurvey<Value, Element> {
  /// The classification of the items.
  var plan: TransferPlan
  /// The number of new items that don't convert.
  var failedCount = 0
  /// The new items and their elements, if they fit into one batch; otherwise those of the last
  /// batch.
  var batch = ItemBatch<Value, Element>()
  /// The fingerprints of the batches before the last. Those were converted and released; the
  /// writing pass converts them again and must get the same items.
  var fingerprints: [String] = []
  /// The number of elements that can be written, of those that were checked.
  var writableCount = 0
  /// How many of these would replace something.
  var replacedCount = 0
  /// The number of elements that wouldn't be written because the existing values stay.
  var keptCount = 0
  /// The conflicts that no rule resolves, of all batches.
  var conflict: TransferError?
  /// The entries of items that earlier runs have moved and this run is to remove, by index.
  var moved: [Int] = []

  init(_ plan: TransferPlan) { self.plan = plan }

  /// Adds the conflicts of a batch to those of the batches before.
  mutating func add(_ error: TransferError) {
    guard var known = conflict else {
      conflict = error
      return
    }
    known.failures += error.failures
    conflict = known
  }
}

// MARK: - Steps

/// The steps of a run before it writes anything.
extension TransferRun {
  /// Reads, classifies and converts all items.
  ///
  /// If the items don't fit into one batch, each full batch is checked for conflicts and released.
  /// So with the rule `.stop` nothing is written when any item of the source has no place, without
  /// all elements in memory at once.
  ///
  /// - Parameter checksConflicts: Whether to check for conflicts even if there is only one batch. A
  ///   run doesn't, since the write finds them.
  mutating func survey(
    _ reading: ItemReading<Value>, _ receipt: TransferReceipt, checksConflicts: Bool
  ) throws -> Survey {
    var survey = Survey(try plan(receipt))
    try forEach(reading) { item in
      report.read += 1
      switch survey.plan.classify(item.identity) {
      case .unfinished(let entry):
        // Listed once, in the run after the crash, and counted as moved from then on.
        if unverified.contains(entry) { report.failures.append(Self.editedFailure(item)) }
        return
      case .moved(let entry):
        countMoved(entry, item, &survey)
        return
      case .new: break
      }
      if survey.batch.isFull(limit) {
        // Only `.stop` promises that nothing is written. The other rules resolve conflicts batch by
        // batch.
        try check(&survey, checksConflicts || options.conflicts == .stop)
        survey.fingerprints.append(survey.batch.fingerprint)
        survey.batch = Batch()
      }
      // The item that is converted next is counted as new already.
      try reporter.send(.converting, survey.plan.newCount - 1, of: reading.count)
      do {
        survey.batch.append(item, try convert(item))
      } catch let failure as Failure {
        survey.failedCount += 1
        report.failures.append(failure.failure)
      }
    }
    // Before anything is removed.
    report.left = report.read
    try reporter.send(.converting, survey.plan.newCount, of: survey.plan.newCount)
    let isChecked = !survey.fingerprints.isEmpty && options.conflicts == .stop
    try check(&survey, checksConflicts || isChecked)
    return survey
  }

  /// A plan from the receipt's entries.
  func plan(_ receipt: TransferReceipt) throws -> TransferPlan {
    try wrappingErrors("The receipt in \(destination.name) could not be read.") {
      try TransferPlan(receipt) { try destination.chunk(of: receipt, at: $0).identityTexts }
    }
  }

  /// Counts an item that an earlier run has moved.
  private mutating func countMoved(
    _ entry: Int, _ item: TransferItem<Value>, _ survey: inout Survey
  ) {
    if unverified.contains(entry) {
      report.failures.append(Self.editedFailure(item))
    } else {
      report.alreadyMoved += 1
      if options.removesAlreadyMoved, removesItems { survey.moved.append(entry) }
    }
  }

  /// The failure of an item whose copy was edited after a crash: writing it again could duplicate
  /// it, and removing it could lose the original.
  private static func editedFailure(_ item: TransferItem<Value>) -> TransferFailure {
    TransferFailure(
      item: item.name,
      reason:
        "It was written by a run that was cut off, and what is in the destination now is not "
        + "what was written. It stays in the source, and is not moved again.")
  }

  /// The failure of one item, as opposed to an error that ends the run.
  struct Failure: Error { let failure: TransferFailure }

  /// Converts an item, and checks the element.
  ///
  /// - Throws: `Failure` if it doesn't convert; `CancellationError`, which isn't the item's fault.
  func convert(_ item: TransferItem<Value>) throws -> Element {
    do {
      let element = try transfer.convert(item.value.get())
      try destination.check(element)
      return element
    } catch let error as CancellationError {
      throw error
    } catch {
      throw Failure(failure: item.failure(error))
    }
  }

  /// Checks the survey's batch for conflicts.
  ///
  /// A destination may insert model objects for the check, and these then belong to its context. So
  /// the batch is not written afterwards, but converted again.
  private mutating func check(_ survey: inout Survey, _ isWanted: Bool) throws {
    guard isWanted, !survey.batch.elements.isEmpty else { return }
    do {
      var batch = survey.batch
      let run = self
      let replaced = try resolvingConflicts(of: &batch) { batch in
        try run.wrappingErrors("\(run.destination.name) could not be looked at.") {
          try run.destination.checkConflicts(run.elements(of: batch))
        }
      }
      survey.writableCount += batch.elements.count
      survey.keptCount += batch.kept.count
      // Nil if the rule has left no item to write.
      survey.replacedCount += replaced ?? 0
    } catch let error as TransferError where error.code == .conflict {
      survey.add(error)
    }
  }

  /// Converts the items of a batch again, without some of them. The elements of a failed write
  /// can't be used a second time.
  private func reconverted(_ batch: Batch, without excluded: Set<Int>) throws -> Batch {
    var result = Batch()
    // Conversions are repeatable by contract; a second result that differs is reported.
    for (index, item) in batch.items.enumerated() where !excluded.contains(index) {
      do {
        result.append(item, try convert(item))
      } catch let failure as Failure {
        throw TransferError(
          code: .notConverted,
          message:
            "An item converts at one time, and at another it does not. Let the conversion depend on "
            + "the item alone.", failures: [failure.failure])
      }
    }
    return result
  }

  /// A batch as the destination gets it.
  func elements(of batch: Batch) -> ElementBatch<Element> {
    var elements = ElementBatch(batch.elements, options.conflicts)
    elements.kept = batch.kept.map(\.element)
    return elements
  }

  /// Calls `body` with a batch until it throws no conflict that the rule resolves.
  ///
  /// Each conflict takes at least one element out of the batch, so this ends. With `.leave` the
  /// items become failures; with `.keepExisting` and `.replace` they are kept, which needs an
  /// occupant for each. (A destination throws with `.replace` only for elements that another one
  /// replaces.) All other conflicts are thrown.
  ///
  /// - Returns: The result; nil if no item is left.
  mutating func resolvingConflicts<Result>(
    of batch: inout Batch, _ body: (Batch) throws -> Result
  ) throws -> Result? {
    while !batch.isEmpty {
      do {
        return try body(batch)
      } catch var error as TransferError where error.code == .conflict && !error.conflicts.isEmpty {
        // Only an error with conflicts names the elements, which a rule can then leave out.
        let conflicts = error.conflicts
        // A destination names locations, and the caller knows items.
        error.failures = conflicts.map { Self.named(batch.items[$0.element].name, $0.failure) }
        let keeps = [.keepExisting, .replace].contains(options.conflicts)
        guard keeps ? conflicts.allSatisfy({ $0.occupant != nil }) : options.conflicts == .leave
        else {
          throw error
        }
        var rest = try reconverted(batch, without: Set(conflicts.map(\.element)))
        if keeps { rest.carryOver(conflicts, of: batch) } else { report.failures += error.failures }
        batch = rest
      }
    }
    return nil
  }

  /// A failure that names a location in the destination, as one that names the item of the source.
  private static func named(_ item: String, _ failure: TransferFailure) -> TransferFailure {
    let namesItem = failure.item == item || failure.item.hasPrefix("object ")
    let reason = namesItem ? failure.reason : "\(failure.item): \(failure.reason)"
    return TransferFailure(item: item, reason: reason, cause: failure.cause)
  }
}
