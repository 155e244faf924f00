/// The keys, besides its identity, by which a record is found.
public struct RecordIndex: Hashable, Sendable {
  /// The unique keys that it holds.
  public var tokens: [UniqueToken]
  /// The records that it refers to, ascending, each once.
  public var targets: [RecordID]
  /// The blobs that it names, ascending, each once.
  public var blobs: [BlobID]

  public init(tokens: [UniqueToken] = [], targets: [RecordID] = [], blobs: [BlobID] = []) {
    self.tokens = tokens
    self.targets = targets
    self.blobs = blobs
  }
}
