/// Edits of one file that correct a finding.
public struct Fix: Codable, Hashable, Sendable {
  /// Replaces bytes of a file with a string.
  public struct Edit: Codable, Hashable, Sendable {
    /// The first byte, counted from the file's beginning.
    public let offset: Int
    /// How many bytes are replaced; zero inserts.
    public let length: Int
    public let replacement: String
  }

  /// What the edits do, in a few words.
  public let title: String
  public let edits: [Edit]

  init(_ title: String, _ edits: [Edit]) {
    self.title = title
    self.edits = edits
  }
}
