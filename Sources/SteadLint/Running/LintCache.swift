import Foundation

/// The records of a run's files, for the next run.
///
/// A property list in binary form: `version`, and `records` by path. A file of another version, or that can't be
/// read, counts as none.
struct LintCache: Sendable {
  /// Another one after every change of facts or of a rule, since findings are kept, too.
  private static let version = 3

  private struct Content: Codable {
    let version: Int
    let records: [String: FileRecord]
  }

  private let records: [String: FileRecord]

  init() {
    self.init(content: [:])
  }

  private init(content: [String: FileRecord]) {
    records = content
  }

  init(records: [FileRecord]) {
    self.init(content: Dictionary(records.map { ($0.facts.path, $0) }) { first, _ in first })
  }

  init(contentsOf url: URL) {
    // A cache can be made again: one that doesn't read is as good as none.
    guard let data = try? Data(contentsOf: url),
      let content = try? PropertyListDecoder().decode(Content.self, from: data),
      content.version == Self.version
    else {
      self.init()
      return
    }
    self.init(content: content.records)
  }

  func record(of path: String, digest: String) -> FileRecord? {
    guard let record = records[path], record.digest == digest else { return nil }
    return record
  }

  func write(to url: URL) throws {
    do {
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      let data = try encoder.encode(Content(version: Self.version, records: records))
      try data.write(to: url, options: .atomic)
    } catch {
      throw LintError(.unwritable, "The cache can't be written to \(url.path).", cause: error)
    }
  }
}
