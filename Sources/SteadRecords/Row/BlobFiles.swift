import Foundation
import SteadEncoding
import SteadFiles
import Synchronization

/// The files next to a store that hold its large values.
///
/// A file is named by the SHA-256 of its content and never changes, so equal values share one. The
/// reference in a row is the name. Whether rows refer to a file is asked of the tables: nothing
/// here counts rows.
///
/// 1. A save writes the file, and then the row that names it: ``write(_:)``.
/// 2. After a commit it stays: ``keepWritten()``. After a rollback it is unused: ``dropWritten()``.
/// 3. When a row loses it, it is dropped: ``FileUses/drop(_:)``.
/// 4. In a later write transaction, `RecordStore.removeDroppedFiles` removes it if no row names it.
/// 5. What a killed process has left is found by ``sweep(keeping:keepsHeld:)``.
final class BlobFiles: Sendable {
  /// The files themselves.
  private let blobs: BlobStore
  /// References to the files that are not in rows.
  let uses: FileUses
  /// Files that the open transaction has written, or found.
  private let written = Mutex<Set<String>>([])

  /// The directory; it exists once a value was written.
  var directory: URL { blobs.directory }

  init(directory: URL) {
    blobs = BlobStore(directory: directory)
    uses = FileUses.of(directory)
  }

  /// Writes a file with the data, unless there is one. It is removed again if the transaction is rolled back.
  ///
  /// Costs a digest of the data. Unless the file exists, it is written, and it and its directory
  /// are synced.
  ///
  /// - Returns: The reference.
  /// - Throws: `FileError`, such as for a full disk.
  func write(_ data: Data) throws -> String {
    let reference = try blobs.write(data)
    written.withLock { _ = $0.insert(reference) }
    return reference
  }

  /// Enqueues what the transaction has written for removal, because it is rolled back. With a savepoint that is all of the
  /// transaction's: a file to which a row refers stays.
  func dropWritten() {
    let names = written.withLock { written in
      defer { written = [] }
      return written
    }
    if !names.isEmpty { uses.drop(names) }
  }

  /// Forgets what the transaction has written, because it was committed.
  func keepWritten() { written.withLock { $0 = [] } }

  /// The content of a file, compared with its name. It may have been unlinked since, and still be
  /// open here.
  ///
  /// - Throws: `FileError`: `notFound`, `damaged`, or `invalidName` for what is no reference.
  func read(_ reference: String) throws -> Data {
    do {
      return try blobs.read(reference)
    } catch let error as FileError where error.code == .notFound {
      // The descriptor's content is compared as well: another program may have written to the file.
      guard let data = try uses.read(reference), SHA256.hexadecimal(data) == reference else {
        throw error
      }
      return data
    }
  }

  /// Whether a file exists, without reading it.
  func contains(_ reference: String) throws -> Bool { try blobs.contains(reference) }

  /// As ``read(_:)``, by mapping the file: pages take memory once they are read.
  func map(_ reference: String) throws -> Data {
    do {
      return try blobs.map(reference)
    } catch let error as FileError where error.code == .notFound {
      // It may be unlinked, and still be open.
      return try read(reference)
    }
  }

  /// The names of all files.
  func references() throws -> Set<String> { try blobs.references() }

  /// Whether a sweep removes the file, if no row refers to it.
  func isRemovable(_ reference: String) throws -> Bool { try blobs.isRemovable(reference) }

  /// Removes the files that no row refers to; only while nothing else writes.
  ///
  /// - Parameter keepsHeld: Whether a file stays that something in this process refers to and that cannot be kept open.
  func sweep(keeping references: Set<String>, keepsHeld: Bool) throws {
    var kept = references
    // One by one, since those that something here refers to have to stay open.
    for reference in try blobs.references().subtracting(references) {
      if try !remove(reference), keepsHeld { kept.insert(reference) }
    }
    // The rest: files that could not be kept open and need not be, and what dead writers left.
    try blobs.sweep(keeping: kept)
  }

  /// How many bytes the files have.
  ///
  /// Costs a call of the system for each file.
  func size() throws -> Int64 {
    try references().reduce(0) {
      $0 + (try POSIXDisk().status(at: blobs.directory.appending(path: $1).path)?.size ?? 0)
    }
  }

  /// Removes a file that no row refers to. It stays readable here if something in this process refers to it.
  @discardableResult
  func remove(_ reference: String) throws -> Bool {
    let url = blobs.directory.appending(path: reference, directoryHint: .notDirectory)
    return try uses.remove(reference, at: url) { try blobs.remove(reference) }
  }

  /// Whether a file's name is a reference, and not one of a file that is being written.
  ///
  /// That is 64 lower-case hexadecimal digits, as of a SHA-256.
  static func isReference(_ name: String) -> Bool {
    name.utf8.count == 64
      && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

// MARK: - Values not read yet

/// Data of a property with external storage, read from its file when it is first asked for.
///
/// As long as it exists, the file stays readable here, unless another process removes it: see
/// ``FileUses``.
final class ExternalData: Sendable {
  /// The size in bytes from which data is kept in a separate file.
  ///
  /// Smaller values are faster in the database: see <https://sqlite.org/intern-v-extern-blob.html>.
  static let fileThreshold = 128 * 1024

  /// The file's name.
  let reference: String
  /// The files of the store that the row was read from.
  let blobs: BlobFiles

  /// Counts as a reference until the object ends, so that the file stays readable.
  init(reference: String, blobs: BlobFiles) {
    self.reference = reference
    self.blobs = blobs
    blobs.uses.hold(reference)
  }

  deinit { blobs.uses.release(reference) }
}

// MARK: - Files that this process still needs

/// References to a store's files of large values that are not in rows: of steps of undo, and of objects that have not read
/// their value yet, deleted ones and those of a context that has not seen the newest commit.
///
/// When a referenced file loses its last row, it is opened and unlinked, and stays open until its last reference is gone.
/// So an undo restores the content, and a process that ends, in whichever way, leaves no file behind. All containers of
/// one store share one object.
///
/// Invariant: a file that is in `open` is in `counts`, and is closed with its last reference.
final class FileUses: Sendable {
  /// How many unlinked files of one store are kept open. A further one stays in its directory until its last reference is
  /// gone, and is removed by a save after that.
  static let openLimit = 64

  /// What is known of the files, guarded by one lock.
  private struct Content {
    /// The number of references to each file, by its name.
    var counts: [String: Int] = [:]
    /// The descriptors of unlinked files.
    var open: [String: Int32] = [:]
    /// Files that have lost a row. Whether other rows refer to them is asked before they are removed.
    var dropped: Set<String> = []
  }

  private let content = Mutex(Content())

  deinit {
    let open = content.withLock { $0.open }
    for descriptor in open.values { close(descriptor) }
  }

  // MARK: Values

  /// Adds a reference to a file.
  ///
  /// Each call needs one of ``release(_:)``.
  func hold(_ reference: String) {
    content.withLock { $0.counts[reference, default: 0] += 1 }
  }

  /// Removes a reference. The last one closes a file that was unlinked.
  func release(_ reference: String) {
    content.withLock { content in
      let count = (content.counts[reference] ?? 0) - 1
      content.counts[reference] = count > 0 ? count : nil
      // Closing it frees the space of the unlinked file.
      if count <= 0, let descriptor = content.open.removeValue(forKey: reference) {
        close(descriptor)
      }
    }
  }

  /// The content of an unlinked file; nil if it isn't kept open.
  ///
  /// - Throws: A POSIX error if it cannot be read.
  func read(_ reference: String) throws -> Data? {
    // Under the lock, so that nobody closes the descriptor meanwhile.
    try content.withLock { content in
      try content.open[reference].map(Self.contents)
    }
  }

  /// Reads a whole file, by `pread`: the descriptor's own position is where the last read has left it.
  private static func contents(of descriptor: Int32) throws -> Data {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.lastError }
    var data = Data(count: Int(status.st_size))
    let count = data.count
    var offset = 0
    while offset < count {
      let read = data.withUnsafeMutableBytes { bytes in
        pread(descriptor, bytes.baseAddress?.advanced(by: offset), count - offset, off_t(offset))
      }
      if read < 0, errno == EINTR { continue }
      // An end before the size of `fstat` means that the file was cut short.
      guard read > 0 else { throw Self.lastError }
      offset += read
    }
    return data
  }

  /// The error of the last call of the system.
  private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  // MARK: Files

  /// Enqueues files that a row has stopped referring to, for removal.
  func drop(_ references: some Sequence<String>) {
    content.withLock { $0.dropped.formUnion(references) }
  }

  /// The dropped files that may be removed now.
  var removable: [String] {
    content.withLock { content in
      if content.dropped.isEmpty { return [] }
      let free = Self.openLimit - content.open.count
      // A file that came back by an undo, and has lost its row again, is still open.
      let unopened = content.dropped.filter {
        content.counts[$0] != nil && content.open[$0] == nil
      }
      return content.dropped.subtracting(unopened).sorted()
        + unopened.sorted().prefix(max(0, free))
    }
  }

  /// Takes a dropped file off the queue: a row refers to it after all.
  ///
  /// A further row that stops referring to it puts it back.
  func keep(_ reference: String) {
    content.withLock { _ = $0.dropped.remove(reference) }
  }

  /// Unlinks a file that no row refers to, after opening it if it is referenced here.
  ///
  /// - Returns: Whether the file was removed; it wasn't if it would have to be kept open and cannot be.
  @discardableResult
  func remove(_ reference: String, at url: URL, _ unlink: () throws -> Void) throws -> Bool {
    try content.withLock { content in
      // Before it is unlinked: afterwards no path leads to it.
      if content.counts[reference] != nil, content.open[reference] == nil {
        guard content.open.count < Self.openLimit else { return false }
        // Another program may have put a link or a FIFO in its place: follow no link, and do not block.
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor >= 0 {
          content.open[reference] = descriptor
        } else if errno != ENOENT, errno != ELOOP {
          // It could not be kept open, so it stays. A missing file, or a link, is no value to keep.
          return false
        }
      }
      try unlink()
      content.dropped.remove(reference)
      return true
    }
  }

  // MARK: All stores

  /// The uses of a store that is open. They end with its last container.
  private struct WeakUses: Sendable { weak var uses: FileUses? }
  /// By the path of the directory.
  private static let all = Mutex<[String: WeakUses]>([:])

  /// The uses of the files in a directory, one for all containers.
  static func of(_ directory: URL) -> FileUses {
    // The directory itself may not exist yet.
    // Links are resolved, so that two paths to a store share its uses.
    let parent = directory.deletingLastPathComponent().resolvingSymlinksInPath().path
    let name = "\(parent)/\(directory.lastPathComponent)"
    return all.withLock { all in
      if let uses = all[name]?.uses { return uses }
      all = all.filter { $0.value.uses != nil }
      let uses = FileUses()
      all[name] = WeakUses(uses: uses)
      return uses
    }
  }
}
