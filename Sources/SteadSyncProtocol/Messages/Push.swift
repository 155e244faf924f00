/// Transactions that a client sends.
package struct Push: Hashable, Sendable {
  package var client: ClientID
  package var device: DeviceID
  /// The anchor of what the client has shown; a server that doesn't know it has forgotten something.
  package var anchor: Mark
  /// The version of the client's schema.
  package var schemaVersion: Int
  /// The digest of the client's schema, until the server has accepted a push with it.
  package var schemaDigest: UInt64?
  /// The client's schema, if the server asked for it.
  package var schema: Schema?
  /// In the order of their numbers, without gaps.
  package var transactions: [Transaction]
  /// Blobs that the transactions name and that the client no longer has; the server accepts the records without them.
  package var absentBlobs: Set<BlobID>

  package init(
    client: ClientID, device: DeviceID, anchor: Mark, schemaVersion: Int,
    schemaDigest: UInt64? = nil, schema: Schema? = nil, transactions: [Transaction],
    absentBlobs: Set<BlobID> = []
  ) {
    self.absentBlobs = absentBlobs
    self.client = client
    self.device = device
    self.anchor = anchor
    self.schemaVersion = schemaVersion
    self.schemaDigest = schemaDigest
    self.schema = schema
    self.transactions = transactions
  }
}
