import Foundation
import SteadFiles
import SteadSQLite

/// The first 100 bytes of a SQLite file, read without a connection: a connection would create files next to a file that
/// isn't ours, and treat one of a few bytes as an empty database.
///
/// | offset | size | meaning |
/// | --- | --- | --- |
/// | 0 | 16 | `SQLite format 3` and a NUL |
/// | 16 | 2 | bytes of a page; 1 stands for 65,536 |
/// | 28 | 4 | pages of the file |
/// | 40 | 4 | schema cookie; 0 while there never was a table |
/// | 60 | 4 | user version: the format, and the mark of ``LogMark`` |
/// | 68 | 4 | application identifier |
///
/// Numbers are big-endian.
struct StoreHeader: Equatable {
  /// The size of the header, in bytes.
  static let size = 100
  /// What each SQLite database begins with.
  private static let magic = Array("SQLite format 3\0".utf8)

  /// The first 100 bytes, or fewer of a shorter file; none if the file cannot be read.
  private let bytes: [UInt8]
  /// The size of the file, in bytes.
  private let fileSize: Int
  /// Whether a write-ahead log has pages that may be newer than the file's.
  private let hasLog: Bool
  /// Whether a writer may have been killed that used a rollback journal, as SQLite does until it is set to use a log.
  let hasRollbackJournal: Bool

  /// Reads the header until two readings in a row agree: another process may be checkpointing its log between two of the
  /// system calls, so that a size from before meets a header from afterwards.
  ///
  /// nil if the file does not exist or is empty.
  init?(path: String) {
    guard var header = StoreHeader(reading: path) else { return nil }
    for _ in 0..<Self.readingLimit {
      guard let next = StoreHeader(reading: path) else { return nil }
      let isSame = next == header
      header = next
      if isSame { break }
    }
    self = header
  }

  /// The most readings for which a file is still changing.
  private static let readingLimit = 100

  /// Reads the header once.
  private init?(reading path: String) {
    guard let size = Self.size(of: path), size > 0 else { return nil }
    fileSize = size
    hasLog = (Self.size(of: path + "-wal") ?? 0) > 0
    hasRollbackJournal = (Self.size(of: path + "-journal") ?? 0) > 0
    bytes = SQLiteFile.start(of: path, count: min(Self.size, size))
  }

  /// Whether the file has the mark of a store.
  var isMarked: Bool { number(at: 68, bytes: 4) == Int(StoreFile.applicationID) }

  /// The bytes of a page.
  private var pageSize: Int {
    let stored = number(at: 16, bytes: 2)
    // 65,536 does not fit, and is stored as 1.
    return stored == 1 ? 65_536 : stored
  }

  /// How many pages the file has by its own account.
  private var pageCount: Int { number(at: 28, bytes: 4) }

  /// Whether the file is shorter than it says. False where it could not be read: SQLite says why.
  var isShort: Bool {
    if bytes.count < Self.size { return fileSize < Self.size }
    return pageCount * pageSize > fileSize
  }

  /// The numbers of the pages that a short file lacks at its end; nil if it lacks its header.
  var missingPages: Range<Int>? {
    guard bytes.count == Self.size, pageSize > 0 else { return nil }
    return min(fileSize / pageSize, pageCount) + 1..<pageCount + 1
  }

  /// Whether the file says that its log has commits which it lacks.
  var hasLogMark: Bool {
    bytes.count == Self.size && LogMark.isSet(in: Int64(number(at: 60, bytes: 4)))
  }

  /// The size of a file, in bytes; nil if there is none.
  private static func size(of path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
  }

  private func number(at offset: Int, bytes count: Int) -> Int {
    bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Throws when the file is something else than a store, or not all there.
  ///
  /// A file without the mark of a store is accepted if it never had a table, or if a log may have its first tables: a
  /// process that creates the store has not finished.
  func check(path: String) throws {
    // SQLite's file layer follows no link, and the size is the link's. SQLite itself would put the log beside the file that
    // it leads to, where nothing here looks for it.
    if (try? POSIXDisk().status(at: path))?.kind == .link {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) is a symbolic link, and a store has its log and its large values beside its file. Nothing was opened; give "
          + "the configuration the URL of the file that the link leads to, or link the store's directory."
      )
    }
    // Its size is known and its bytes are not: another user owns it, such as the superuser in a user's directory.
    guard !bytes.isEmpty else {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) cannot be read. It was left untouched; run the program as the user that owns the file, or give "
          + "the file to this user with chown.")
    }
    guard bytes.count == Self.size, bytes.starts(with: Self.magic) else {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) is not a store. It was left untouched; give the store a separate file.")
    }
    // A checkpoint that was interrupted leaves a short file, and the log that completes it.
    if isShort, !hasLog, !hasRollbackJournal {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) is truncated: it has \(fileSize) of \(pageCount * pageSize) bytes. It was left untouched; open "
          + "a backup, or move the file away to start afresh.")
    }
    let isFresh = number(at: 68, bytes: 4) == 0 && (number(at: 40, bytes: 4) == 0 || hasLog)
    guard isMarked || isFresh else {
      throw SwiftDataError(
        .unreadableStore,
        "\(path) is a SQLite database of another program. It was left untouched; give the store "
          + "a separate file.")
    }
  }
}

// MARK: - Stores that are only read

/// How a store that is opened read-only is read.
///
/// To read a store with a write-ahead log, SQLite needs the log's index (`-shm`) next to it, and creates it if it is
/// missing: in a directory that this process may not write, it cannot.
///
/// It is found out once, when the container opens the store.
enum StoreReading: Sendable {
  /// The prefix of the temporary directories of copies.
  static let directoryPrefix = "stead-copy-"

  /// With its log, as other processes write it.
  case shared
  /// The file alone, as immutable: it has no log with commits, and the index cannot be created.
  case alone
  /// A copy of the file and its log, since the log's index cannot be created next to the original.
  case copy(TemporaryCopy)

  /// How the store at a path can be read by this process.
  init(of path: String) throws {
    let disk = POSIXDisk()
    // In a directory that can be written, SQLite makes what it needs.
    guard let path = try? disk.resolveLinks(path), access(path.directoryPath, W_OK) != 0 else {
      self = .shared
      return
    }
    let log = try disk.status(at: path + "-wal")
    let hasIndex = try disk.status(at: path + "-shm") != nil
    // Without commits in a log, the file has everything.
    switch (log?.size, hasIndex) {
    case (nil, _), (0, false): self = .alone
    case (_, true): self = .shared
    case (_, false): self = .copy(try TemporaryCopy(of: path))
    }
  }

  /// The file to open instead of a store's.
  func path(for path: String) -> String {
    if case .copy(let copy) = self { copy.path } else { path }
  }

  /// Whether only the file is read, without its log.
  var isAlone: Bool { if case .alone = self { true } else { false } }

  /// A store's file and log in a temporary directory, which is removed with the last reference.
  final class TemporaryCopy: Sendable {
    private let directory: ScratchDirectory
    let path: String

    /// Copies a store's file and log. Costs reading and writing both.
    ///
    /// - Throws: `storageFailure`.
    init(of store: String) throws {
      do {
        // Nobody has the store open, or there would be an index, so the two files belong together.
        directory = try ScratchDirectory(prefix: StoreReading.directoryPrefix)
        path = directory.url.appendingPathComponent("copy.store").path
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: store + suffix, toPath: path + suffix)
          // A copy of a file that only its reader may read is writable for its index.
          chmod(path + suffix, 0o600)
        }
      } catch {
        throw SwiftDataError(
          .storageFailure,
          "The store's directory cannot be written and the store has a log, so it is read from a copy, which could not "
            + "be created in \(FileManager.default.temporaryDirectory.path). Free space there, or make the store's directory writable.",
          cause: error)
      }
    }
  }
}
