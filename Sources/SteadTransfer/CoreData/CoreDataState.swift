import SteadFiles

/// What is known of a store's files without opening them.
struct CoreDataState: Equatable {
  /// The store itself, its write-ahead log, and the journal of a writer that was cut off.
  static let suffixes = ["", "-wal", "-journal"]

  /// One for each suffix, nil where there is no such file.
  let files: [FileStatus?]

  init(of path: String) throws {
    files = try Self.suffixes.map { try POSIXDisk().status(at: path + $0) }
  }

  /// Whether the file may hold a part of what a writer that was cut off had not committed.
  var hasJournal: Bool { files[2].map { $0.size > 0 } ?? false }

  /// What is another text once one of the files has changed; nil when that might not show yet, or when there is
  /// no store.
  var mark: String? {
    guard files[0]?.kind == .file, files.allSatisfy({ $0?.isSettled ?? true }) else { return nil }
    return files.map { $0?.mark ?? "none" }.joined(separator: ", ")
  }
}
