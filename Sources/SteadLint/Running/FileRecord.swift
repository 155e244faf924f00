/// What a run knows about a file, and what the cache keeps for the next run.
struct FileRecord: Codable, Sendable {
  let digest: String
  let facts: FileFacts
  /// What the rules about single files found.
  let findings: [Finding]
  /// Why the file, or a part of it, wasn't checked.
  let problems: [Finding]
  var isFromCache = false

  enum CodingKeys: CodingKey { case digest, facts, findings, problems }
}
