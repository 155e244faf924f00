/// What a transfer may do beside the ordinary.
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

  /// Options: by default all or nothing, and the source gives up what was moved.
  public init(
    acceptsPartial: Bool = false, keepsSource: Bool = false, removesAlreadyMoved: Bool = false
  ) {
    self.acceptsPartial = acceptsPartial
    self.keepsSource = keepsSource
    self.removesAlreadyMoved = removesAlreadyMoved
  }
}
