#if Server
  import Hummingbird

  /// A note as clients see it.
  struct NoteRecord: ResponseCodable, Equatable, Sendable {
    var id: Int
    var title: String
    var text: String
    /// How often it was read; counted by the server.
    var reads: Int
  }

  /// What a client sends.
  struct NoteDraft: Codable, Sendable {
    var title: String
    var text: String
  }
#endif
