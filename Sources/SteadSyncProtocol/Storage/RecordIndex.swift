/// The keys, besides its identity, by which a record is found.
package struct RecordIndex: Hashable, Sendable {
  /// The unique keys that it holds.
  package var tokens: [UniqueToken]
  /// The records that it refers to, ascending, each once.
  package var targets: [RecordID]
  /// The blobs that it names, ascending, each once.
  package var blobs: [BlobID]

  package init(tokens: [UniqueToken] = [], targets: [RecordID] = [], blobs: [BlobID] = []) {
    self.tokens = tokens
    self.targets = targets
    self.blobs = blobs
  }
}
