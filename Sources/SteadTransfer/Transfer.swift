// Without an import of SteadFiles, programs can set `Stead.onProblem`.
@_exported public import enum SteadFiles.Stead

/// A move of items from one store to another that loses no item and duplicates none.
///
/// ```swift
/// let transfer = Transfer(
///   "drafts", from: .preference("draft_posts", of: String.self), to: .records(container)
/// ) { text in Draft(content: text) }
/// print(try transfer.run())
/// ```
///
/// A run reads and converts all items. It writes them together with a *receipt*, in one transaction
/// or in chunks of thousands. It reads them back, and only then removes them from the source. After
/// a crash or a loss of power at any point, the next run continues from there, because the receipt
/// lists what the destination has. So an app runs it at each start.
///
/// An item is recognized by its contents: its identity is made of the SHA-256 of what the source
/// holds. Equal items are counted. Items that don't convert stay in the source. The next run moves
/// items that are added later.
///
/// The whole source is in memory during a run, except for tables of comma-separated values. A
/// second run with nothing to do costs a read of the receipt and the source; of a file that hasn't
/// changed, only of its size and times. Documentation/Transfer.md describes each case.
public struct Transfer<Value, Element>: Sendable {
  /// Converts an item into the element that is written for it.
  public typealias Conversion = @Sendable (Value) throws -> Element

  /// The transfer's name, under which the destination keeps its receipt.
  ///
  /// Under another name, the same source and destination are another transfer, which moves all
  /// items again.
  public let id: String
  /// The source of the items.
  public let source: TransferSource<Value>
  /// The destination of the items.
  public let destination: TransferDestination<Element>
  /// What a run does about items that don't convert, conflicts, and moved items.
  public let options: TransferOptions
  /// The conversion of a run. It may be called several times for one item.
  let convert: Conversion
  /// How much is written at once if the destination accepts chunks; tests set lower limits.
  var limit = ItemBatch<Value, Element>.Limit()

  /// Makes a transfer. Reads and writes nothing until it runs.
  ///
  /// - Parameters:
  ///   - id: The name under which the destination keeps the receipt. Each transfer into one
  ///     destination needs a name of its own, and keeps it: under another one everything would be
  ///     moved again.
  ///   - source: Where the items are.
  ///   - destination: Where their elements go.
  ///   - options: What a run does about items that don't convert, conflicts, and moved items. By
  ///     default all items are moved or none, and moved items are removed from the source.
  ///   - convert: Makes the element of an item, from the item alone: it may be called several times
  ///     for one item, and again by a later run. An error that it throws is the item's failure,
  ///     except for `CancellationError`, which stops the run.
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
  /// Costs a read of the whole source, and memory for all of it, except for a table of
  /// comma-separated values that becomes records. A file that hasn't changed since everything was
  /// moved is not read. Blocks the calling thread; ``runInBackground(_:)`` doesn't. Stops between
  /// two items if the task is cancelled.
  ///
  /// - Parameter progress: Called for each item in each phase, on this thread. An error that it
  ///   throws stops the run, and the next run completes what was written by then.
  /// - Returns: How many items were moved, stayed or failed.
  /// - Throws: ``TransferError``, `CancellationError`, and what `progress` throws. After
  ///   ``TransferError/Code/notConverted`` and ``TransferError/Code/conflict`` nothing was written,
  ///   unless the message says how many items were written before.
  @discardableResult
  public func run(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> TransferReport {
    var run = TransferRun(self, ProgressReporter(progress))
    return try run.run()
  }

  /// Runs the transfer off the caller's actor; otherwise as ``run(_:)``.
  ///
  /// Occupies one thread of the cooperative pool until it finishes.
  @concurrent
  @discardableResult
  public func runInBackground(
    _ progress: @escaping @Sendable (TransferProgress) throws -> Void = { _ in }
  ) async throws -> TransferReport {
    try run(progress)
  }

  /// Reports what ``run(_:)`` would do. Reads and converts, and changes nothing.
  ///
  /// ```swift
  /// let preview = try transfer.preview()
  /// print(preview, preview.failures)
  /// ```
  ///
  /// Conflicts are among ``TransferReport/failures``; to find them, records are written in a
  /// transaction that is rolled back. It does not notice a lack of disk space, nor two items for
  /// one unique value in different chunks. Costs at most as much as a run.
  ///
  /// - Throws: As ``run(_:)``, except that items that don't convert are among
  ///   ``TransferReport/failures``.
  public func preview(
    _ progress: @escaping TransferProgress.Report = { _ in }
  ) throws -> TransferReport {
    var run = TransferRun(self, ProgressReporter(progress))
    return try run.preview()
  }

  /// Empties the receipt, so that the next run moves all items of the source.
  ///
  /// For a source that was restored from a backup on purpose, after the moved items were removed
  /// from the destination. Items in the destination stay, so an item that is in both is duplicated.
  ///
  /// Does nothing if the transfer has never written anything to the destination.
  ///
  /// - Throws: What the destination throws, such as ``TransferError/Code/changed`` if another
  ///   process has written the receipt in the meantime.
  public func resetReceipt() throws {
    // The receipt stays, with another revision, so that a run in another process notices.
    guard let receipt = try destination.items.receipt(named: id) else { return }
    try destination.items.replace(receipt.emptied())
  }
}

// MARK: - Source and destination

/// The source of a ``Transfer``, such as `.preference("drafts", of: String.self)`.
///
/// Items are removed from a source only after they were written to the destination and read back.
/// Other programs may add items at any time; those are left alone.
///
/// Tables of comma-separated values are read row by row, so they may be larger than memory. All
/// other sources are read as a whole.
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
/// A destination replaces nothing unless ``TransferOptions/conflicts`` allows it: an item whose
/// place is taken causes ``TransferError/Code/conflict``. It keeps a receipt next to the items,
/// with about 40 bytes for each item that was ever moved.
public struct TransferDestination<Element>: Sendable {
  let items: any ItemDestination<Element>

  init(_ items: some ItemDestination<Element>) { self.items = items }

  /// Its description in reports and errors: `records of Draft`.
  public var name: String { items.name }
}

// MARK: - Options

/// What a transfer does about items that don't convert, conflicts, and moved items.
///
/// ```swift
/// TransferOptions(acceptsPartial: true, conflicts: .keepExisting)
/// ```
public struct TransferOptions: Sendable, Hashable {
  /// Whether items that convert are moved if others don't; those stay in the source.
  ///
  /// Otherwise one item that doesn't convert prevents the move of all others, and the run throws
  /// ``TransferError/Code/notConverted``.
  public var acceptsPartial: Bool
  /// Whether moved items stay in the source. A second run still moves nothing twice.
  public var keepsSource: Bool
  /// Whether a run removes items from the source that an earlier run has moved, after it has found
  /// them unchanged in the destination.
  ///
  /// Such items exist after a run that kept the source, and after a backup was restored. Otherwise
  /// they stay in the source.
  public var removesAlreadyMoved: Bool
  /// What becomes of an item whose place in the destination is taken.
  public var conflicts: ConflictRule

  /// Makes options. By default all items are moved or none, moved items are removed from the
  /// source, and a conflict stops the run.
  public init(
    acceptsPartial: Bool = false, keepsSource: Bool = false, removesAlreadyMoved: Bool = false,
    conflicts: ConflictRule = .stop
  ) {
    self.acceptsPartial = acceptsPartial
    self.keepsSource = keepsSource
    self.removesAlreadyMoved = removesAlreadyMoved
    self.conflicts = conflicts
  }

  /// What becomes of an item whose place in the destination is taken by something else, or by an
  /// earlier item of the same run.
  ///
  /// A place is a `.unique` value, a key, an account or the path of a record. ``keepExisting`` and
  /// ``replace`` lose one of the two values, so check ``TransferReport/kept`` and
  /// ``TransferReport/replaced`` of a preview first.
  public struct ConflictRule: Hashable, Sendable, CustomStringConvertible {
    /// The rule's name.
    public let description: String

    /// Nothing is moved, and the run throws ``TransferError/Code/conflict`` with each such item.
    /// The default.
    public static let stop = ConflictRule(description: "stop")
    /// The item stays in the source and is among the report's failures; the others are moved. The
    /// next run tries again.
    ///
    /// It doesn't if an equal item was moved and removed from the source. The one that is left is
    /// taken for that one then, and counts as ``TransferReport/alreadyMoved`` whatever the rule is;
    /// ``TransferOptions/removesAlreadyMoved`` removes it.
    public static let leave = ConflictRule(description: "leave")
    /// The existing value stays, and the item counts as moved: it is removed from the source, and
    /// nothing of it is written.
    ///
    /// If a record's relationship leads to a new object with a taken unique value, it leads to the
    /// existing record instead.
    public static let keepExisting = ConflictRule(description: "keepExisting")
    /// The item replaces the existing value. Of several items for one place, the last one wins.
    ///
    /// A record keeps its identifier and the relationships of other records to it.
    public static let replace = ConflictRule(description: "replace")
  }
}
