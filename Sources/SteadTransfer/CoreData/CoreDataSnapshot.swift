import Foundation
import SteadFiles

/// A consistent copy of a store's files in a private directory, which is deleted with this object.
///
/// SQLite gets the copy, since it writes even when it only reads: a `-shm` next to the file, and
/// the log's pages into it. The original is only read.
///
/// There is no lock to hold against the program that owns the store: taking SQLite's would write to
/// it. So the copy is optimistic. It counts if identities, sizes and times of all three files were
/// the same before and after.
final class CoreDataSnapshot: Sendable {
  /// The maximum number of attempts to copy files that change meanwhile.
  static let attemptLimit = 20
  /// What the names of copies' directories begin with.
  static let directoryPrefix = "stead-import-"

  /// The copy.
  let store: URL
  /// What may be missing from the copy, as a sentence.
  let warning: String?
  private let directory: ScratchDirectory

  /// Copies a store.
  ///
  /// - Parameter path: The store's path, without symbolic links.
  /// - Throws: ``TransferError/Code/changed`` if the files changed during each attempt.
  init(of path: String) throws {
    directory = try ScratchDirectory(prefix: Self.directoryPrefix)
    store = directory.url.appending(path: "copy.store", directoryHint: .notDirectory)
    try Self.copy(path, to: store)
    // About the copy: the original may have changed since.
    warning = try CoreDataLogCheck.warning(
      about: store, logNamed: URL(filePath: path).lastPathComponent + "-wal")
  }

  /// Copies until the files' state is the same before and after.
  private static func copy(_ path: String, to store: URL) throws {
    let copying = CoreDataCopying(store: store)
    for _ in 0..<attemptLimit {
      guard let before = try copying.stableState(of: path) else { continue }
      do {
        try copying.copy(path, before)
        // The copy is consistent only if nothing was written while it was made.
        if try CoreDataState(of: path) == before { return }
      } catch let error as FileError where error.code == .notFound {
        // A writer has removed its journal meanwhile.
        continue
      }
    }
    throw TransferError(
      code: .changed,
      message:
        "Another program is writing to \(path). End the program that has it open, then import again."
    )
  }
}

/// Copies a store's files once.
private struct CoreDataCopying {
  /// The number of bytes that are copied at once.
  private static let blockSize = 1 << 20

  /// Where the copy of the store itself goes; the others are next to it.
  let store: URL
  private let disk = POSIXDisk()

  init(store: URL) { self.store = store }

  /// The files' state, if a further change would show in it; nil if they changed while this waited.
  func stableState(of path: String) throws -> CoreDataState? {
    let state = try CoreDataState(of: path)
    // None of the three files exists.
    guard let newest = state.files.compactMap({ $0?.changed }).max() else {
      throw TransferError(
        code: .unreadable, message: "No file exists at \(path). Give the URL of the store.")
    }
    if state.files.allSatisfy({ $0?.hasReliableTimestamp ?? true }) { return state }
    // There is no event to wait for: the file system's clock has to advance, so that a later change
    // gets a later time.
    Thread.sleep(
      forTimeInterval: max(0, FileStatus.settlingTime - Date().timeIntervalSince(newest)))
    return try CoreDataState(of: path) == state ? state : nil
  }

  /// Copies the files that exist, and removes copies of an earlier attempt of those that don't.
  func copy(_ path: String, _ state: CoreDataState) throws {
    for (suffix, status) in zip(CoreDataState.suffixes, state.files) {
      let copy = store.path + suffix
      guard let status else {
        // Left by an earlier attempt, when the file still existed.
        if try disk.status(at: copy) != nil { try disk.remove(copy) }
        if suffix.isEmpty {
          throw TransferError(
            code: .unreadable, message: "No file exists at \(path). Give the URL of the store.")
        }
        continue
      }
      // A directory or device can't be copied, and a FIFO would block.
      guard status.kind == .file else {
        throw TransferError(
          code: .unreadable, message: "\(path + suffix) is not a file. Give the URL of the store.")
      }
      try copyFile(path + suffix, to: copy)
    }
  }

  /// Copies a file. Symbolic links are not followed, and a FIFO doesn't block.
  private func copyFile(_ path: String, to copy: String) throws {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { block.deallocate() }
    try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) { source in
      // Truncated, since an earlier attempt may have left a longer copy.
      try disk.withDescriptor(copy, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600) { target in
        while true {
          let count = try disk.read(source, into: block, path: path)
          if count == 0 { return }
          var rest = UnsafeRawBufferPointer(block)[..<count]
          while !rest.isEmpty {
            // A write may be partial, as on a disk that is almost full.
            let written = try disk.write(
              target, from: UnsafeRawBufferPointer(rebasing: rest), path: copy)
            rest = rest.dropFirst(written)
          }
        }
      }
    }
  }
}

// MARK: - State of the files

/// The state of a store's files, from their metadata alone.
struct CoreDataState: Equatable {
  /// The store itself, its write-ahead log, and the rollback journal of a writer that was killed.
  static let suffixes = ["", "-wal", "-journal"]

  /// The status of each file, by suffix; nil if it doesn't exist.
  let files: [FileStatus?]

  init(of path: String) throws {
    files = try Self.suffixes.map { try POSIXDisk().status(at: path + $0) }
  }

  /// Whether the file may contain uncommitted pages of a writer that was killed.
  var hasJournal: Bool { files[2].map { $0.size > 0 } ?? false }

  /// A string that differs after a change to one of the files; nil if a change might not show, or
  /// if the store doesn't exist.
  var versionTag: String? {
    guard files[0]?.kind == .file, files.allSatisfy({ $0?.hasReliableTimestamp ?? true }) else {
      return nil
    }
    return files.map { $0?.versionTag ?? "none" }.joined(separator: ", ")
  }
}

// MARK: - Write-ahead log

/// Finds out whether a store's write-ahead log is missing or truncated.
///
/// SQLite opens such a store without an error, in the state before the transactions of the log.
/// Somebody who copies a store from a device easily forgets the log.
///
/// A log is a header of 32 bytes (page size at offset 8, two salts at 16), then frames: a header of
/// 24 bytes (size of the database after a commit, else 0, at offset 4; the salts at 8), and a page.
/// All integers are big endian (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
enum CoreDataLogCheck {
  private static let headerSize = 32
  private static let frameHeaderSize = 24
  /// The read and write version of a database in WAL mode, at offsets 18 and 19 of its header.
  private static let logVersion: UInt8 = 2

  /// What may be missing, as a sentence; nil if nothing is.
  ///
  /// - Parameters:
  ///   - store: The file of the store, or a copy.
  ///   - name: The log's name as the user sees it.
  static func warning(about store: URL, logNamed name: String) throws -> String? {
    let file = try FileHandle(forReadingFrom: store)
    defer { try? file.close() }
    guard let header = try file.read(upToCount: 20), header.count == 20,
      header[18] == logVersion
    else { return nil }
    let log = store.path + "-wal"
    guard FileManager.default.fileExists(atPath: log) else {
      return
        "The store is written with a log, and \(name) is not next to it. If the file was copied "
        + "from a device, what was saved last may be missing: bring the log along."
    }
    guard try isWhole(URL(filePath: log)) else {
      return
        "\(name) is cut off, so what was saved last may be missing. Copy it again, with the "
        + "program that writes it ended."
    }
    return nil
  }

  /// Whether a log ends with a commit.
  private static func isWhole(_ log: URL) throws -> Bool {
    let file = try FileHandle(forReadingFrom: log)
    defer { try? file.close() }
    let size = try file.seekToEnd()
    // A log that was checkpointed completely may be truncated.
    if size == 0 { return true }
    try file.seek(toOffset: 0)
    guard let header = try file.read(upToCount: headerSize), header.count == headerSize else {
      return false
    }
    let pageSize = Int(header[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    // Bounds of SQLite's page sizes. A page size of 0 would make this loop forever.
    guard pageSize >= 512, pageSize <= 65_536 else { return false }
    let salts = header[16..<24]
    let frameSize = frameHeaderSize + pageSize
    var offset = headerSize
    // A log without a valid frame lacks nothing.
    var endsWithCommit = true
    while offset < size {
      try file.seek(toOffset: UInt64(offset))
      guard let frame = try file.read(upToCount: frameHeaderSize), frame.count == frameHeaderSize
      else { return false }
      // Frames with other salts are left over from before the log was restarted.
      if frame[8..<16] != salts { break }
      // The last frame is cut off.
      guard UInt64(offset + frameSize) <= size else { return false }
      endsWithCommit = frame[4..<8].contains { $0 != 0 }
      offset += frameSize
    }
    return endsWithCommit
  }
}
