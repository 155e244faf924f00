/// The result of reading the whole source, before anything is written.
struct TransferSurvey<Value, Element> {
  /// Which items are new.
  var plan: TransferPlan
  /// How many of the new items did not convert.
  var failedCount = 0
  /// The elements to write, if they fit into one batch; otherwise the latest ones.
  var batch = ItemBatch<Value, Element>()
  /// The fingerprints of the batches before, which were converted and released.
  var fingerprints: [String] = []
  /// How many elements have free places in the destination, of those that were looked at.
  var writableCount = 0
  /// How many of these would replace something.
  var replacedCount = 0
  /// How many elements would be left out because their places are taken.
  var keptCount = 0
  /// The places that are taken.
  var conflict: TransferError?
  /// The entries of items that earlier runs have moved, by their places in the receipt, if they are wanted.
  var moved: [Int] = []

  init(_ plan: TransferPlan) { self.plan = plan }

  mutating func add(_ error: TransferError) {
    guard var known = conflict else {
      conflict = error
      return
    }
    known.failures += error.failures
    conflict = known
  }
}

// MARK: - Batches

/// Items on their way into the destination, as many as are written at once.
struct ItemBatch<Value, Element> {
  /// How much of a source is converted and written at once, if the destination accepts chunks.
  struct Limit: Sendable {
    var count = ReceiptChunk.foldLimit
    /// In bytes of the source.
    var size = 4 << 20

    /// For a destination that takes all at once.
    static var none: Limit { Limit(count: .max, size: .max) }
  }

  private(set) var items: [TransferItem<Value>] = []
  private(set) var elements: [Element] = []
  /// Items that are not written, because their places are taken and those values are kept.
  private(set) var kept: [KeptItem] = []
  private var size = 0

  /// An item that is not written, and the value in its place.
  struct KeptItem {
    let item: TransferItem<Value>
    var element: ElementBatch<Element>.Kept
  }

  var isEmpty: Bool { items.isEmpty && kept.isEmpty }

  mutating func append(_ item: TransferItem<Value>, _ element: Element) {
    items.append(item)
    elements.append(element)
    size += item.size
  }

  func isFull(_ limit: Limit) -> Bool { items.count >= limit.count || size >= limit.size }

  /// Keeps what another batch keeps, and some of its items: this batch has all others of that one.
  ///
  /// - Parameter conflicts: The elements of the other batch that are not written.
  mutating func carryOver(_ conflicts: [ElementConflict], of other: Self) {
    let excluded = Set(conflicts.map(\.element))
    var index: [Int: Int] = [:]
    for element in other.items.indices where !excluded.contains(element) {
      index[element] = index.count
    }
    let occupants = Dictionary(conflicts.map { ($0.element, $0.occupant) }) { first, _ in first }
    func reindexed(_ occupant: Occupant) -> Occupant? {
      guard case .element(let element) = occupant else { return occupant }
      if let position = index[element] { return .element(position) }
      // It is not written either; what has its place is, or is there.
      guard case .some(.some(let other)) = occupants[element], other != occupant else { return nil }
      if case .element(let element) = other { return index[element].map { .element($0) } }
      return other
    }
    kept = other.kept.compactMap { kept in
      reindexed(kept.element.occupant).map {
        KeptItem(item: kept.item, element: .init(element: kept.element.element, occupant: $0))
      }
    }
    for conflict in conflicts {
      guard let occupant = conflict.occupant.flatMap(reindexed) else { continue }
      let element = ElementBatch<Element>.Kept(
        element: other.elements[conflict.element], occupant: occupant)
      kept.append(KeptItem(item: other.items[conflict.element], element: element))
    }
  }

  /// A value that is equal for equal items in the same order.
  var fingerprint: String { ItemDigest.text(of: items.lazy.map(\.identity)) }
}

// MARK: - Steps

/// The steps of a run before it writes anything.
extension TransferRun {
  /// Looks at every item, and converts the new ones.
  ///
  /// - Parameter checksPlaces: Whether the destination is asked for the places of all. Otherwise that is done
  ///   where the items are more than are written at once, so that nothing is written when one has no place.
  mutating func survey(
    _ reading: ItemReading<Value>, _ receipt: TransferReceipt, checksConflicts: Bool
  ) throws -> Survey {
    var survey = Survey(try plan(receipt))
    try forEach(reading) { item in
      report.read += 1
      switch survey.plan.classify(item.identity) {
      case .unfinished(let entry):
        if unverified.contains(entry) { report.failures.append(Self.editedFailure(item)) }
        return
      case .moved(let entry):
        countMoved(entry, item, &survey)
        return
      case .new: break
      }
      if survey.batch.isFull(limit) {
        try check(&survey, checksConflicts || options.conflicts == .stop)
        survey.fingerprints.append(survey.batch.fingerprint)
        survey.batch = Batch()
      }
      try reporter.send(.converting, survey.plan.newCount - 1, of: reading.count)
      do {
        survey.batch.append(item, try convert(item))
      } catch let failure as Failure {
        survey.failedCount += 1
        report.failures.append(failure.failure)
      }
    }
    report.left = report.read
    try reporter.send(.converting, survey.plan.newCount, of: survey.plan.newCount)
    let isChecked = !survey.fingerprints.isEmpty && options.conflicts == .stop
    try check(&survey, checksConflicts || isChecked)
    return survey
  }

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

  private static func editedFailure(_ item: TransferItem<Value>) -> TransferFailure {
    TransferFailure(
      item: item.name,
      reason:
        "It was written by a run that was cut off, and what is in the destination now is not "
        + "what was written. It stays in the source, and is not moved again.")
  }

  /// Why an item does not convert.
  struct Failure: Error { let failure: TransferFailure }

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

  /// Asks the destination whether all elements of the survey's batch have free places. They are not written
  /// afterwards: model objects belong to the trial then.
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
      survey.replacedCount += replaced ?? 0
    } catch let error as TransferError where error.code == .conflict {
      survey.add(error)
    }
  }

  /// Converts the items of a batch again, except for some.
  private func reconverted(_ batch: Batch, without excluded: Set<Int>) throws -> Batch {
    var again = Batch()
    for (number, item) in batch.items.enumerated() where !excluded.contains(number) {
      do {
        again.append(item, try convert(item))
      } catch let failure as Failure {
        throw TransferError(
          code: .notConverted,
          message:
            "An item converts at one time, and at another it does not. Let the conversion depend on "
            + "the item alone.", failures: [failure.failure])
      }
    }
    return again
  }

  /// The elements that the destination should write.
  func elements(of batch: Batch) -> ElementBatch<Element> {
    var elements = ElementBatch(batch.elements, options.conflicts)
    elements.kept = batch.kept.map(\.element)
    return elements
  }

  /// Calls `body` with what has free places in the destination, and with what is kept instead of others, as
  /// far as the options say so; nil when all is left behind.
  mutating func resolvingConflicts<Result>(
    of batch: inout Batch, _ body: (Batch) throws -> Result
  ) throws -> Result? {
    while !batch.isEmpty {
      do {
        return try body(batch)
      } catch var error as TransferError where error.code == .conflict && !error.conflicts.isEmpty {
        let conflicts = error.conflicts
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

  /// A failure of a place in the destination, as one of the item that was to go there.
  private static func named(_ item: String, _ failure: TransferFailure) -> TransferFailure {
    let isSaid = failure.item == item || failure.item.hasPrefix("object ")
    let reason = isSaid ? failure.reason : "\(failure.item): \(failure.reason)"
    return TransferFailure(item: item, reason: reason, cause: failure.cause)
  }
}
