import Foundation
import SteadFiles

/// A copy of a store's files in a directory of this user's alone, which goes with it.
///
/// SQLite reads the copy, since it writes even if it only reads: an index of the log next to the file,
/// and the log's pages into it. The original is read, and nothing else.
final class CoreDataSnapshot: Sendable {
  /// The maximum number of copies that are started because a file changed meanwhile.
  static let attemptLimit = 20

  /// The copy.
  let store: URL
  /// What may be missing from it, as a sentence.
  let warning: String?
  private let workspace: CoreDataWorkspace

  /// - Parameter path: The store's path, without symbolic links.
  init(of path: String) throws {
    workspace = try CoreDataWorkspace()
    store = workspace.url.appending(path: "copy.store", directoryHint: .notDirectory)
    try Self.copy(path, to: store)
    warning = try CoreDataLogCheck.warning(
      about: store, logNamed: URL(filePath: path).lastPathComponent + "-wal")
  }

  private static func copy(_ path: String, to store: URL) throws {
    let copying = CoreDataCopying(store: store)
    for _ in 0..<attemptLimit {
      guard let before = try copying.stableState(of: path) else { continue }
      do {
        try copying.copy(path, before)
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
  /// Bytes that are copied at a time.
  private static let blockSize = 1 << 20

  let store: URL
  private let disk = POSIXDisk()

  init(store: URL) { self.store = store }

  /// The files' state, if their last change is so long ago that a further one would show.
  func stableState(of path: String) throws -> CoreDataState? {
    let state = try CoreDataState(of: path)
    guard let newest = state.files.compactMap({ $0?.changed }).max() else {
      throw TransferError(
        code: .unreadable, message: "No file exists at \(path). Give the URL of the store.")
    }
    if state.files.allSatisfy({ $0?.hasReliableTimestamp ?? true }) { return state }
    // A sleep, because there is no event to wait for: the clock must advance, so that a later change gets a later
    // time.
    Thread.sleep(
      forTimeInterval: max(0, FileStatus.settlingTime - Date().timeIntervalSince(newest)))
    return try CoreDataState(of: path) == state ? state : nil
  }

  func copy(_ path: String, _ state: CoreDataState) throws {
    for (suffix, status) in zip(CoreDataState.suffixes, state.files) {
      let copy = store.path + suffix
      guard let status else {
        if try disk.status(at: copy) != nil { try disk.remove(copy) }
        if suffix.isEmpty {
          throw TransferError(
            code: .unreadable, message: "No file exists at \(path). Give the URL of the store.")
        }
        continue
      }
      guard status.kind == .file else {
        throw TransferError(
          code: .unreadable, message: "\(path + suffix) is not a file. Give the URL of the store.")
      }
      try copyFile(path + suffix, to: copy)
    }
  }

  private func copyFile(_ path: String, to copy: String) throws {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { block.deallocate() }
    try disk.withDescriptor(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) { source in
      try disk.withDescriptor(copy, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600) { target in
        while true {
          let count = try disk.read(source, into: block, path: path)
          if count == 0 { return }
          var rest = UnsafeRawBufferPointer(block)[..<count]
          while !rest.isEmpty {
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
  var versionTag: String? {
    guard files[0]?.kind == .file, files.allSatisfy({ $0?.hasReliableTimestamp ?? true }) else {
      return nil
    }
    return files.map { $0?.versionTag ?? "none" }.joined(separator: ", ")
  }
}

// MARK: - Directory

/// A directory of this user's alone for the copy of a store, which goes with it.
///
/// It is locked while it is in use. So a directory of a process that was killed, which holds the user's
/// data, is known by its free lock, and the next import removes it.
final class CoreDataWorkspace: Sendable {
  /// The prefix of such directories' names.
  static let prefix = "stead-import-"
  /// How often a directory is made again because another import took it for one that was left.
  static let attemptLimit = 100

  let url: URL
  private let descriptor: Int32
  private static let disk = POSIXDisk()

  /// Makes a directory, and removes those that killed processes have left.
  ///
  /// - Parameter place: The directory to make it in.
  init(in directory: URL = FileManager.default.temporaryDirectory) throws {
    Self.removeStale(in: directory)
    for _ in 0..<Self.attemptLimit {
      let path = try Self.make(in: directory)
      // Another import may hold the lock to remove it, or have done so, until it is locked here.
      guard let descriptor = try Self.openIfPresent(path) else { continue }
      if try Self.disk.lock(descriptor, wait: true, path: path), Self.isSame(descriptor, path) {
        url = URL(filePath: path, directoryHint: .isDirectory)
        self.descriptor = descriptor
        return
      }
      Self.disk.close(descriptor)
    }
    throw TransferError(
      code: .failed,
      message:
        "No directory for a copy could be kept in \(directory.path). Set TMPDIR to another one.")
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
    Self.disk.close(descriptor)
  }

  private static func make(in directory: URL) throws -> String {
    // mkdtemp puts letters of its own instead of the six X at the end, which it requires.
    var template = Array(directory.appending(path: "\(prefix)XXXXXX").path.utf8CString)
    guard mkdtemp(&template) != nil else {
      throw FileError(errno: errno, doing: "make a directory for a copy in", path: directory.path)
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func openIfPresent(_ path: String) throws -> Int32? {
    do {
      return try disk.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }

  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var (open, named) = (stat(), stat())
    return fstat(descriptor, &open) == 0 && lstat(path, &named) == 0
      && open.st_ino == named.st_ino && open.st_dev == named.st_dev
  }

  /// Removes directories of this user whose process has ended.
  ///
  /// A directory that can't be removed is left: it doesn't disturb an import.
  private static func removeStale(in directory: URL) {
    for name in (try? disk.names(in: directory.path)) ?? [] where name.hasPrefix(prefix) {
      let path = directory.appending(path: name).path
      var status = stat()
      guard lstat(path, &status) == 0, status.st_uid == geteuid(),
        let descriptor = try? disk.open(
          path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, mode: 0)
      else { continue }
      defer { disk.close(descriptor) }
      guard (try? disk.lock(descriptor, wait: false, path: path)) == true,
        isSame(descriptor, path)
      else { continue }
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}

// MARK: - Write-ahead log

/// Finds out from a store's files whether its write-ahead log is missing or was cut off.
///
/// SQLite opens such a store without an error, as it was before the log's transactions.
enum CoreDataLogCheck {
  private static let headerSize = 32
  private static let frameHeaderSize = 24
  /// What both of a database's format versions are when it has a log.
  private static let logVersion: UInt8 = 2

  /// The problem as a sentence, or nil.
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

  /// Whether a log ends with a transaction.
  private static func isWhole(_ log: URL) throws -> Bool {
    let file = try FileHandle(forReadingFrom: log)
    defer { try? file.close() }
    let size = try file.seekToEnd()
    // Programs empty a log whose transactions are all in the store.
    if size == 0 { return true }
    try file.seek(toOffset: 0)
    guard let header = try file.read(upToCount: headerSize), header.count == headerSize else {
      return false
    }
    let pageSize = Int(header[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    guard pageSize >= 512, pageSize <= 65_536 else { return false }
    let salts = header[16..<24]
    let frameSize = frameHeaderSize + pageSize
    var offset = headerSize
    var endsWithCommit = true
    while offset < size {
      try file.seek(toOffset: UInt64(offset))
      guard let frame = try file.read(upToCount: frameHeaderSize), frame.count == frameHeaderSize
      else { return false }
      // The following frames belong to an earlier pass of the log.
      if frame[8..<16] != salts { break }
      guard UInt64(offset + frameSize) <= size else { return false }
      endsWithCommit = frame[4..<8].contains { $0 != 0 }
      offset += frameSize
    }
    return endsWithCommit
  }
}
