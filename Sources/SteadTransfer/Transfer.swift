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
/// A run reads and converts all items. It writes them together with a receipt, in one transaction or in chunks of
/// thousands. It reads them back, and only then removes them from the source. After a kill or a loss of power at any
/// point, the next run continues from there, because the receipt lists what the destination has. So an app runs it at
/// each start.
///
/// Items that don't convert stay in the source. The next run moves items that are added later.
/// Documentation/Transfer.md describes each case.
public struct Transfer<Value, Element>: Sendable {
  /// Converts an item into the element that is written for it.
  public typealias Conversion = @Sendable (Value) throws -> Element

  /// The transfer's name, under which the destination keeps its receipt. Another name is another transfer, which
  /// moves the items again.
  public let id: String
  /// The source of the items.
  public let source: TransferSource<Value>
  /// The destination of the items.
  public let destination: TransferDestination<Element>
  /// Settings that differ from the usual.
  public let options: TransferOptions
  let convert: Conversion
  /// How much is written at once.
  var limit = ItemBatch<Value, Element>.Limit()

  /// A transfer; nothing is read or written until it runs.
  ///
  /// - Parameters:
  ///   - id: A name that never changes while the app may run the transfer.
  ///   - source: The source of the items.
  ///   - destination: The destination of the items.
  ///   - options: Settings that differ from the usual.
  ///   - convert: Converts an item into the element that is written for it; throws if it can't. It should have no
  ///     side effects, because it also runs in a preview and after a failure.
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
  /// Costs a read of the whole source, and memory for all of it, except for a table of comma-separated values that
  /// becomes records. A file that hasn't changed since everything was moved is not read. Stops between two items if
  /// the task is cancelled.
  ///
  /// - Parameter progress: Called for each item in each phase, on this thread. An error that it throws stops the run,
  ///   and the next run completes what was written by then.
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

  /// Shows what ``run(_:)`` would do. Reads and converts, and changes nothing.
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

  /// Forgets what was moved, so that the next run moves all items of the source.
  ///
  /// For a source that was restored from a backup on purpose, after the moved items were removed from the
  /// destination. Items in the destination stay, so an item that is in both is duplicated.
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
