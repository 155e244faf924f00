public import Foundation

/// What a destination knows of a transfer: which items of the source it has, and where.
///
/// It is written as one with the items, so that after a kill it is known whether they are there.
public struct TransferReceipt: Hashable, Codable, Sendable {
  /// One item that was moved.
  public struct Entry: Hashable, Codable, Sendable {
    /// The item's ``TransferItem/identity`` in the source.
    public var identity: String
    /// Where it is now.
    public var placement: TransferPlacement

    /// An entry.
    public init(identity: String, placement: TransferPlacement) {
      self.identity = identity
      self.placement = placement
    }
  }

  /// How far the transfer has come.
  public enum State: String, Codable, Sendable {
    /// The items of `pending` are written, and the source may still hold them.
    case written
    /// They were read back, and the source has given them up or keeps them on purpose.
    case finished
  }

  /// The transfer's name.
  public var id: String
  /// How far it has come.
  public var state: State
  /// When the last items were written.
  public var date: Date
  /// What earlier runs have moved.
  public var moved: [Entry]
  /// What the last run has written; moved on to `moved` when it is finished.
  public var pending: [Entry]

  /// A receipt.
  public init(id: String, state: State, date: Date, moved: [Entry], pending: [Entry]) {
    self.id = id
    self.state = state
    self.date = date
    self.moved = moved
    self.pending = pending
  }
}
