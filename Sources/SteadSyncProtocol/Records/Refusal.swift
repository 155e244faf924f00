/// A transaction that was refused, and why.
package struct Refusal: Hashable, Sendable {
  /// Why a transaction was refused.
  package enum Reason: Hashable, Sendable {
    /// It deletes a record to which other records still refer, through a relationship whose delete rule is deny.
    case denied(deleted: RecordID, referrer: RecordID)
    /// It changes a record that an earlier, refused transaction changed.
    case follows(number: Int64)
    /// The zone would exceed its limit of bytes.
    case quota(limit: Int, needed: Int)
    /// A record would exceed its limit of bytes.
    case recordSize(id: RecordID, limit: Int, needed: Int)
    /// The zone would exceed its limit of records.
    case recordCount(limit: Int, needed: Int)
    /// A blob that a record names exceeds its limit of bytes.
    case blobSize(id: RecordID, limit: Int, needed: Int)
    /// The transaction alone exceeds the limits of a push.
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
  package var number: Int64
  package var reason: Reason
  /// The records that it would have changed. Kept by the server; not sent, since the client has the transaction.
  package var ids: Set<RecordID>

  package init(number: Int64, reason: Reason, ids: Set<RecordID> = []) {
    self.number = number
    self.reason = reason
    self.ids = ids
  }

  var withoutIDs: Refusal { Refusal(number: number, reason: reason) }
}
