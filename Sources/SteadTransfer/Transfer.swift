// Without an import of SteadFiles, programs can set `Stead.onProblem`.
@_exported public import enum SteadFiles.Stead

/// A move of items from one store to another that loses none and doubles none.
///
/// ```swift
/// let transfer = Transfer(
///   "drafts", from: .preference("draft_posts", of: String.self), to: .records(container)
/// ) { text in Draft(content: text) }
/// print(try transfer.run())
/// ```
///
/// A run reads all, converts all, writes all with a receipt as one, or a chunk of thousands after the other, reads
/// back what was written, and only then removes it from the source. Ended at any point, by a kill or a loss of power, the next run goes on
/// from there: the receipt says what the destination has. So an app runs it each time it starts.
///
/// What is in the source and does not convert stays there. What is added to the source later is moved by
/// the next run. Documentation/Transfer.md says what happens in each case.
public struct Transfer<Value, Element>: Sendable {
  /// What turns an item into what is written for it.
  public typealias Conversion = @Sendable (Value) throws -> Element

  /// The transfer's name, under which the destination keeps its receipt; another name is another transfer,
  /// which knows nothing of what this one has moved.
  public let id: String
  /// Where items are moved from.
  public let source: TransferSource<Value>
  /// Where they are moved to.
  public let destination: TransferDestination<Element>
  /// Settings that differ from the usual.
  public let options: TransferOptions
  let convert: Conversion
  /// How much is written at once.
  var limit = ItemBatch<Value, Element>.Limit()

  /// A transfer; nothing is read or written until it runs.
  ///
  /// - Parameters:
  ///   - id: A name that stays the same for as long as the app may run it.
  ///   - source: Where items are moved from.
  ///   - destination: Where they are moved to.
  ///   - options: Settings that differ from the usual.
  ///   - convert: Turns an item into what is written for it; throws for one that cannot be. It should
  ///     have no effect of its own, since it runs again in a preview and after a failure.
  public init(
    _ id: String, from source: TransferSource<Value>, to destination: TransferDestination<Element>,
    options: TransferOptions = TransferOptions(), convert: @escaping Conversion
  ) {
    self.id = id
    self.source = source
    self.destination = destination
    self.options = options
    self.convert = convert
  }

  /// Finishes an earlier run that was interrupted, then moves the rest.
  ///
  /// Costs a reading of the whole source, and memory for all of it, unless it is a table of comma separated values
  /// that goes to records. A file that has not changed since all was moved is not read. Stops between two items when the task is cancelled.
  ///
  /// - Parameter progress: Called for each item in each phase, on this thread; an error that it throws
  ///   stops the run. What was written by then is brought to its end by the next run.
  /// - Throws: ``TransferError``, `CancellationError`, and what `progress` throws. After
  ///   ``TransferError/Code/notConverted`` and ``TransferError/Code/conflict`` nothing was written.
  @discardableResult
  public func run(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> TransferReport {
    var run = TransferRun(self, ProgressReporter(progress))
    return try run.run()
  }

  /// As ``run(_:)``, off the caller's actor.
  ///
  /// Occupies one thread of the cooperative pool until it finishes.
  @concurrent
  @discardableResult
  public func runInBackground(
    _ progress: @escaping @Sendable (TransferProgress) throws -> Void = { _ in }
  ) async throws -> TransferReport {
    try run(progress)
  }

  /// What ``run(_:)`` would do. Reads and converts, and changes nothing.
  ///
  /// It does not check whether the destination has enough space. Conflicts are among ``TransferReport/failures``; for
  /// them records are written in a transaction that is rolled back.
  ///
  /// - Throws: As ``run(_:)``; items that do not convert are among ``TransferReport/failures``.
  public func preview(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> TransferReport {
    var run = TransferRun(self, ProgressReporter(progress))
    return try run.preview()
  }

  /// Forgets what was moved, so that the next run moves all that the source holds.
  ///
  /// For a source that was restored from a backup on purpose, when the moved items were removed from the
  /// destination. What is in the destination stays, so items that are in both will be there twice.
  public func resetReceipt() throws {
    guard let receipt = try destination.items.receipt(named: id) else { return }
    try destination.items.replace(receipt.emptied())
  }
}

extension Transfer where Value == StoredRow, Element == StoredRow {
  /// A transfer of rows as they are: `Transfer("library", from: .store(old), to: .store(new))`.
  public init(
    _ id: String, from source: TransferSource<StoredRow>,
    to destination: TransferDestination<StoredRow>, options: TransferOptions = TransferOptions()
  ) {
    self.init(id, from: source, to: destination, options: options) { $0 }
  }
}
