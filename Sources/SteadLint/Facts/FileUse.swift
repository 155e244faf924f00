/// A file that is written.
struct FileUse: Codable, Sendable {
  /// A system directory, as far as the file shows.
  enum Directory: String, Codable, Sendable {
    case documents
    case support = "application support"
    case caches
    case temporary
    case group = "the app group's container"
  }

  /// The expression for the file, without spaces.
  let target: String
  let scopeType: String
  let function: String
  let directory: Directory?
  /// Whether an image, a sound or a film is written.
  let isMedia: Bool
  let place: Place
}
