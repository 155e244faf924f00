/// A transaction that was not taken, and why.
public struct Refusal: Hashable, Sendable {
  /// Why a transaction was refused.
  public enum Reason: Hashable, Sendable {
    /// Records that stay refer to a record that it deletes, by a relationship that denies this.
    case denied(deleted: RecordID, referrer: RecordID)
    /// It changes a record that an earlier transaction changed, which was refused.
    case follows(number: Int64)
    /// The zone would have more bytes than it may.
    case quota(limit: Int, needed: Int)
    /// A record would be larger than it may.
    case recordSize(id: RecordID, limit: Int, needed: Int)
    /// The zone would have more records than it may.
    case recordCount(limit: Int, needed: Int)
    /// A blob that a record names is larger than it may be.
    case blobSize(id: RecordID, limit: Int, needed: Int)
    /// The transaction alone is more than a push may be.
    case tooLarge
    /// A record with this identity has another type.
    case type(id: RecordID)
    /// A stamp names another device than the one that pushes.
    case device
    /// A value or a name isn't valid.
    case invalid(id: RecordID)
    /// A reason of a later server, by its name.
    case other(name: String)
  }

  /// The transaction's number.
  public var number: Int64
  public var reason: Reason
  /// The records that it would have changed. Kept by the server; not sent, since the client has the transaction.
  public var ids: Set<RecordID>

  public init(number: Int64, reason: Reason, ids: Set<RecordID> = []) {
    self.number = number
    self.reason = reason
    self.ids = ids
  }

  var withoutIDs: Refusal { Refusal(number: number, reason: reason) }
}
