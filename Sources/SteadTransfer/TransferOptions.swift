/// Settings of a transfer that differ from the usual.
public struct TransferOptions: Sendable, Hashable {
  /// Whether items that convert are moved although others do not, which stay in the source.
  ///
  /// Otherwise one item that does not convert keeps all others from being moved, and the run throws
  /// ``TransferError/Code/notConverted``.
  public var acceptsPartial: Bool
  /// Whether the source keeps what was moved. A second run moves nothing twice all the same.
  public var keepsSource: Bool
  /// Whether items that an earlier run has moved, and that are in the source all the same, are removed
  /// there once they were found unchanged in the destination.
  ///
  /// They are there after a run that kept the source, and after a backup was restored. Otherwise they
  /// are left where they are.
  public var removesAlreadyMoved: Bool
  /// What becomes of items whose places in the destination are taken by something else.
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

  /// What becomes of an item whose place in the destination, such as a `.unique` value, a key or an account, is
  /// taken by something else, or by an earlier item of the same run.
  ///
  /// The last two lose one of the two values, as they are told to: look at the report's ``TransferReport/kept`` and
  /// ``TransferReport/replaced`` of a preview before.
  public struct ConflictRule: Hashable, Sendable, CustomStringConvertible {
    /// The rule's name.
    public let description: String

    /// Nothing is moved, and the run throws ``TransferError/Code/conflict`` with each such item.
    public static let stop = ConflictRule(description: "stop")
    /// The item stays in the source and is among the report's failures; the others are moved. The next run
    /// tries again.
    public static let leave = ConflictRule(description: "leave")
    /// What is there stays as it is, and the item counts as moved: it is removed from the source, and nothing of it is
    /// written. A new object that a record's relationship reaches becomes the record that has its unique value.
    public static let keepExisting = ConflictRule(description: "keepExisting")
    /// The item is written over what is there. Of several items for one place the last one stays. A record keeps
    /// its identifier, and the relationships that others have to it.
    public static let replace = ConflictRule(description: "replace")
  }
}
