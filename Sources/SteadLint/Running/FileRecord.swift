/// What a run knows of a file: all that is kept of it for the next one.
struct FileRecord: Codable, Sendable {
  let digest: String
  let facts: FileFacts
  /// What the rules about single files found.
  let findings: [Finding]
  /// Why it, or a part of it, wasn't read.
  let problems: [Finding]
  var isFromCache = false

  enum CodingKeys: CodingKey { case digest, facts, findings, problems }
}
