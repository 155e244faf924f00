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

// MARK: - Source and destination

/// The source of a ``Transfer``, such as `.preference("drafts", of: String.self)`.
///
/// Items are removed from a source only after they were written to the destination and read back. Other programs may
/// add items at any time; those are left alone.
///
/// Tables of comma separated values are read row by row, so they may be larger than the memory. All other sources
/// are read as a whole.
public struct TransferSource<Value>: Sendable {
  let items: any ItemSource<Value>

  init(_ items: some ItemSource<Value>) { self.items = items }

  /// Its description in reports and errors: `key drafts of org.example.Notes`.
  public var name: String { items.name }

  /// Whether items that were moved can be removed; a file of another program is left as it is.
  public var isRemovable: Bool { items.isRemovable }
}

/// The destination of a ``Transfer``, such as `.records(container)`.
///
/// ```swift
/// Transfer("drafts", from: .preference("draft_posts", of: String.self), to: .records(container)) { text in
///   Draft(content: text)
/// }
/// ```
///
/// A destination replaces nothing unless ``TransferOptions/conflicts`` allows it: an item whose place is taken causes
/// ``TransferError/Code/conflict``. It keeps a receipt next to the items, with about 40 bytes for each item that was
/// ever moved.
public struct TransferDestination<Element>: Sendable {
  let items: any ItemDestination<Element>

  init(_ items: some ItemDestination<Element>) { self.items = items }

  /// Its description in reports and errors: `records of Draft`.
  public var name: String { items.name }
}

// MARK: - Options

/// Settings of a transfer that differ from the usual.
public struct TransferOptions: Sendable, Hashable {
  /// Whether items that convert are moved if others don't convert; those stay in the source.
  ///
  /// Otherwise one item that doesn't convert prevents the move of all others, and the run throws
  /// ``TransferError/Code/notConverted``.
  public var acceptsPartial: Bool
  /// Whether moved items stay in the source. A second run still moves nothing twice.
  public var keepsSource: Bool
  /// Whether items that an earlier run has moved, and that are in the source all the same, are removed
  /// there once they were found unchanged in the destination.
  ///
  /// Such items exist after a run that kept the source, and after a backup was restored. Otherwise they stay in the
  /// source.
  public var removesAlreadyMoved: Bool
  /// The rule for items whose places in the destination are taken.
  public var conflicts: ConflictRule

  /// Options: by default all items are moved or none, and moved items are removed from the source.
  public init(
    acceptsPartial: Bool = false, keepsSource: Bool = false, removesAlreadyMoved: Bool = false,
    conflicts: ConflictRule = .stop
  ) {
    self.acceptsPartial = acceptsPartial
    self.keepsSource = keepsSource
    self.removesAlreadyMoved = removesAlreadyMoved
    self.conflicts = conflicts
  }

  /// The rule for an item whose place in the destination is taken, also by an earlier item of the same run. A place
  /// is a `.unique` value, a key or an account.
  ///
  /// The last two lose one of the two values. Check ``TransferReport/kept`` and ``TransferReport/replaced`` of a
  /// preview before.
  public struct ConflictRule: Hashable, Sendable, CustomStringConvertible {
    /// The rule's name.
    public let description: String

    /// Nothing is moved, and the run throws ``TransferError/Code/conflict`` with each such item.
    public static let stop = ConflictRule(description: "stop")
    /// The item stays in the source and is among the report's failures; the others are moved. The next run
    /// tries again.
    public static let leave = ConflictRule(description: "leave")
    /// The value in the destination stays, and the item counts as moved: it is removed from the source, and nothing
    /// of it is written. If a record's relationship leads to a new object with a taken unique value, it leads to the
    /// existing record instead.
    public static let keepExisting = ConflictRule(description: "keepExisting")
    /// The item replaces the value in the destination. Of several items for one place, the last one wins. A record
    /// keeps its identifier and the relationships of other records to it.
    public static let replace = ConflictRule(description: "replace")
  }
}
