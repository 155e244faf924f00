/// A client's request for changes.
public struct ChangesRequest: Hashable, Sendable {
  public var client: ClientID
  /// How far the client has read; nil to start from the beginning.
  public var cursor: Cursor?
  /// The maximum number of records.
  public var limit: Int
  /// The client's last transaction that a page has included or refused.
  public var acknowledged: Int64
  /// Marks that the client keeps, newest first. Sent without a cursor, and if the server has answered
  /// ``ChangesAnswer/rollback(common:)`` without a mark.
  public var marks: [Mark]
  /// How often the client has restarted a fetch. The server ignores it: it shows the client that an answer is from an
  /// earlier fetch with the same cursor.
  public var round: Int64

  public init(
    client: ClientID, cursor: Cursor?, limit: Int, acknowledged: Int64, marks: [Mark] = [],
    round: Int64 = 0
  ) {
    self.round = round
    self.client = client
    self.cursor = cursor
    self.limit = limit
    self.acknowledged = acknowledged
    self.marks = marks
  }
}
