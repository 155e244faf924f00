import Foundation

/// The records of a run's files, for the next run.
///
/// | bytes | holds |
/// |---|---|
/// | 8 | `STEADL`, zero, the version |
/// | | for each file: its path, its digest, a checksum of the record, the record |
///
/// Each part of a file's entry has its length first; the record is packed (``PackedWriter``). The digest is that of
/// the run's limits and the file's contents (``FileReading``): both decide what a record says.
///
/// A file of another version counts as empty, and a damaged record as absent: a cache can always be
/// made again. Records are decoded when they're asked for, on the threads that read the files.
///
/// A damaged file costs time and never a wrong report: each record has a checksum, since a flipped
/// bit in packed values could otherwise decode as other ones.
///
/// It is a value: a run reads one, makes another one from its records, and replaces the file with
/// that.
struct LintCache: Sendable {
  /// The last byte is the version. It grows with every change of the facts or of a rule, since findings are
  /// kept, too.
  private static let head = Array("STEADL".utf8) + [0, 25]

  /// A record as it is in the file.
  private struct Entry: Sendable {
    /// The digest of the limits and the source file's bytes.
    let digest: String
    /// The digest of the record's bytes.
    let check: String
    /// The packed record: a part of the whole file's bytes, which are read once and shared.
    let bytes: ArraySlice<UInt8>
  }

  /// The entries by the paths of their files.
  private let entries: [String: Entry]

  init() {
    entries = [:]
  }

  /// The records of a run. Those that the run took from the earlier cache aren't encoded again.
  ///
  /// Invariant: each entry is what was last read of its file. A file that couldn't be read this time keeps its entry,
  /// which counts again once it can be read and has the same bytes.
  init(records: [FileRecord], after earlier: LintCache) throws {
    entries = try Dictionary(
      records.compactMap { record -> (String, Entry)? in
        let path = record.facts.path
        guard record.isRead else { return earlier.entries[path].map { (path, $0) } }
        // These bytes would be the same, and encoding is among the most expensive steps of a run.
        if record.isFromCache, let known = earlier.entries[path] { return (path, known) }
        let bytes = try PackedWriter.bytes(of: record)[...]
        return (path, Entry(digest: record.digest, check: Self.check(of: bytes), bytes: bytes))
      },
      uniquingKeysWith: { first, _ in first })
  }

  /// Reads a cache's file, without decoding its records. One that isn't a cache of this version counts as empty.
  init(contentsOf url: URL) {
    // A cache can be made again, so one that can't be read counts as empty.
    guard let data = try? Data(contentsOf: url), data.starts(with: Self.head) else {
      self.init()
      return
    }
    self.init(Array(data)[Self.head.count...])
  }

  /// Splits the bytes after the head into entries.
  private init(_ bytes: ArraySlice<UInt8>) {
    let reader = PackedReader(bytes)
    var entries: [String: Entry] = [:]
    // Records after a damaged length can't be separated, so they count as absent.
    while !reader.isAtEnd, let path = try? reader.content(), let digest = try? reader.content(),
      let check = try? reader.content(), let content = try? reader.byteSlice()
    {
      entries[path] = Entry(digest: digest, check: check, bytes: content)
    }
    self.entries = entries
  }

  /// The record of a file with this digest; nil if there is none, or it is damaged.
  ///
  /// Costs a checksum and a decoding. May be called on several threads at once.
  func record(of path: String, digest: String) -> FileRecord? {
    guard let entry = entries[path], entry.digest == digest,
      entry.check == Self.check(of: entry.bytes)
    else { return nil }
    return try? PackedReader.value(FileRecord.self, of: entry.bytes)
  }

  /// Whether a cache of a run's records would have exactly the entries of this one.
  ///
  /// Then there is nothing to write. A file that is gone makes the counts differ; one that couldn't be read changes
  /// nothing.
  func holds(_ records: [FileRecord]) -> Bool {
    let kept = records.filter { $0.isRead || entries[$0.facts.path] != nil }
    return kept.count == entries.count && kept.allSatisfy { $0.isFromCache || !$0.isRead }
  }

  /// Replaces the cache's file atomically, so that runs at the same time read either version.
  func write(to url: URL) throws {
    let writer = PackedWriter()
    // Sorted, since a dictionary's order differs from run to run.
    for (path, entry) in entries.sorted(by: { $0.key < $1.key }) {
      writer.append(content: path)
      writer.append(content: entry.digest)
      writer.append(content: entry.check)
      writer.append(bytes: entry.bytes)
    }
    do {
      try Data(Self.head + writer.bytes).write(to: url, options: .atomic)
    } catch {
      throw LintError(
        .unwritable, "The cache can't be written to \(url.path); name another file, or none.",
        cause: error)
    }
  }

  private static func check(of bytes: ArraySlice<UInt8>) -> String {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.add($0) }
    return digest.description
  }
}
