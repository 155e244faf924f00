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
