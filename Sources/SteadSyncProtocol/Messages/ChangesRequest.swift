/// A client's request for changes.
package struct ChangesRequest: Hashable, Sendable {
  package var client: ClientID
  /// How far the client has read; nil to start from the beginning.
  package var cursor: Cursor?
  /// The maximum number of records.
  package var limit: Int
  /// The client's last transaction that a page has included or refused.
  package var acknowledged: Int64
  /// Marks that the client keeps, newest first. Sent without a cursor, and if the server has answered
  /// ``ChangesAnswer/rollback(common:)`` without a mark.
  package var marks: [Mark]
  /// How often the client has restarted a fetch. The server ignores it: it shows the client that an answer is from an
  /// earlier fetch with the same cursor.
  package var round: Int64

  package init(
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
