/// Transactions that a client sends.
public struct Push: Hashable, Sendable {
  public var client: ClientID
  public var device: DeviceID
  /// The anchor of what the client has shown; a server that doesn't know it has forgotten something.
  public var anchor: Mark
  /// The version of the client's schema.
  public var schemaVersion: Int
  /// The digest of the client's schema, until the server has accepted a push with it.
  public var schemaDigest: UInt64?
  /// The client's schema, if the server asked for it.
  public var schema: Schema?
  /// In the order of their numbers, without gaps.
  public var transactions: [Transaction]
  /// Blobs that the transactions name and that the client no longer has; the server accepts the records without them.
  public var absentBlobs: Set<BlobID>

  public init(
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
