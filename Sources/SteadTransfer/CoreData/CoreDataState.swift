import SteadFiles

/// The state of a store's files, read without opening them.
struct CoreDataState: Equatable {
  /// The store itself, its write-ahead log, and the journal of a writer that was cut off.
  static let suffixes = ["", "-wal", "-journal"]

  /// One for each suffix; nil if the file doesn't exist.
  let files: [FileStatus?]

  init(of path: String) throws {
    files = try Self.suffixes.map { try POSIXDisk().status(at: path + $0) }
  }

  /// Whether the file may contain uncommitted parts of an interrupted writer.
  var hasJournal: Bool { files[2].map { $0.size > 0 } ?? false }

  /// A string that differs once one of the files has changed; nil if a change might not show yet, or if the store
  /// doesn't exist.
  var mark: String? {
    guard files[0]?.kind == .file, files.allSatisfy({ $0?.isSettled ?? true }) else { return nil }
    return files.map { $0?.mark ?? "none" }.joined(separator: ", ")
  }
}
