#if Server
import Crypto
import Foundation
import NIOCore
import NIOPosix
import SteadSyncProtocol
import Synchronization

/// The blobs of zones: the files `ZONE/SHA256` in a directory.
///
/// A file without the extension `.part` is complete, and was synced to the disk before it got its name. A blob exists
/// for clients once it has a row in the table `blobs`, which is inserted after that. So a crash leaves a file without
/// a row at worst, and never a row without its bytes.
///
/// Reading and writing run on NIO's thread pool, since they block and an event loop must not. Thread-safe; one
/// request at a time writes a blob.
final class BlobStore: Sendable {
  /// The maximum size of a blob, in bytes.
  static let maximumSize = Int64(SyncLimits().blobBytes)
  /// The number of bytes that are read at once.
  private static let chunk = 256 << 10

  /// The location of a blob.
  struct Name: Hashable, Sendable {
    var zone: String
    var sha256: String
  }

  private let directory: String
  /// The blobs that requests of this process are writing.
  private let uploads = Mutex<Set<Name>>([])

  init(directory: String) { self.directory = directory }

  /// The file of a complete blob.
  private func path(_ name: Name) -> String { "\(directory)/\(name.zone)/\(name.sha256)" }
  /// The file of an unfinished blob.
  private func part(_ name: Name) -> String { path(name) + ".part" }

  /// The size of a whole blob; nil if it doesn't exist.
  func size(_ name: Name) -> Int64? { Self.size(path(name)) }

  /// The number of bytes that the server has of an unfinished blob.
  func offset(_ name: Name) -> Int64 { Self.size(part(name)) ?? 0 }

  /// The size of a file; nil if it doesn't exist.
  private static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  // MARK: Writing

  /// Prevents other requests to this process from writing the same blob while a body runs. Two writers would mix
  /// their bytes in one `.part` file.
  ///
  /// - Throws: ``ServerError`` with the code `conflict` if another request writes it.
  func withUpload<Value>(_ name: Name, _ body: () async throws -> Value) async throws -> Value {
    guard uploads.withLock({ $0.insert(name).inserted }) else {
      throw ServerError(
        .conflict, "The blob is being sent already.",
        remedy: "Send HEAD to see how much has arrived.",
        retryAfter: 1)
    }
    defer { _ = uploads.withLock { $0.remove(name) } }
    return try await body()
  }

  /// Opens an unfinished blob for writing at an offset, and truncates it there. Call it within ``withUpload(_:_:)``.
  ///
  /// - Throws: ``ServerError``: `conflict` if the offset is beyond the bytes that the server has, which would leave
  ///   a hole, and `unavailable` if the file can't be opened.
  func open(_ name: Name, at offset: Int64) async throws -> FileHandle {
    try await NIOThreadPool.singleton.runIfActive { [self] in
      try ServerFolder.make("\(directory)/\(name.zone)")
      let known = self.offset(name)
      guard offset <= known else {
        throw ServerError(
          .conflict, "The range starts after the bytes that the server has.",
          remedy: "Continue at the offset.", figures: ["offset": known])
      }
      // Neither O_EXCL nor O_TRUNC: an unfinished upload goes on.
      let file = Foundation.open(part(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw Self.failure }
      let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
      // Also moves the position there, where the next bytes go.
      try handle.truncate(atOffset: UInt64(offset))
      return handle
    }
  }

  /// Writes bytes at the handle's position. They are on the disk only after ``finish(_:_:)``.
  func append(_ bytes: ByteBuffer, to handle: FileHandle) async throws {
    try await NIOThreadPool.singleton.runIfActive {
      do { try handle.write(contentsOf: Data(bytes.readableBytesView)) } catch {
        throw Self.failure
      }
    }
  }

  /// Gives an unfinished blob its final name if its contents have that hash; removes it otherwise.
  ///
  /// Invariant: a file has the final name only if its bytes have the hash and are on the disk, as is the name. The
  /// file is read again for the hash, because its parts may have come in several requests, with a restart between
  /// them. That costs a read of the whole blob.
  ///
  /// - Throws: ``ServerError``: `conflict` if the hash differs, and `unavailable` if the file can't get its name.
  func finish(_ name: Name, _ handle: FileHandle) async throws {
    try await NIOThreadPool.singleton.runIfActive { [self] in
      // The bytes before the name: after a loss of power a file with its final name must have all of them.
      try handle.synchronize()
      try handle.close()
      guard try Self.hash(of: part(name)) == name.sha256 else {
        // Otherwise the sender would go on at an offset within wrong bytes, and never get the right hash.
        unlink(part(name))
        throw ServerError(
          .conflict, "The bytes don't have the hash in the address.",
          remedy: "Send the blob again from the start.")
      }
      // Replaces an equal file that has no row, as a crash may have left it.
      guard rename(part(name), path(name)) == 0 else { throw Self.failure }
      try PrivateFile.synchronizeDirectory(of: path(name))
    }
  }

  private static func hash(of path: String) throws -> String {
    let handle = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? handle.close() }  // Only read from.
    var hash = SHA256()
    while let data = try handle.read(upToCount: chunk), !data.isEmpty { hash.update(data: data) }
    return Secret.hexadecimal(hash.finalize())
  }

  /// The error for a file that can't be written. It passes once there is room.
  static let failure = ServerError(
    .unavailable, "The blob can't be written.",
    remedy: "Check the free space and the owner of the data directory.",
    retryAfter: ServerError.secondsForRepair)

  // MARK: Reading and removing

  /// Opens a complete blob at an offset. If it is swept meanwhile, the handle still reads all of it.
  func read(_ name: Name, from offset: Int64) async throws -> FileHandle {
    try await NIOThreadPool.singleton.runIfActive { [self] in
      let handle = try FileHandle(forReadingFrom: URL(filePath: path(name)))
      try handle.seek(toOffset: UInt64(offset))
      return handle
    }
  }

  /// The next bytes; nil at the end.
  static func next(_ handle: FileHandle) async throws -> ByteBuffer? {
    try await NIOThreadPool.singleton.runIfActive {
      guard let data = try handle.read(upToCount: chunk), !data.isEmpty else { return nil }
      return ByteBuffer(bytes: data)
    }
  }

  /// Removes a complete blob that has no row. Nothing happens if the file doesn't exist.
  func remove(_ name: Name) { unlink(path(name)) }

  /// Removes all files of a zone, unfinished ones too, after the zone's rows were deleted.
  func removeAll(of zone: String) async throws {
    try await NIOThreadPool.singleton.runIfActive { [self] in
      let path = "\(directory)/\(zone)"
      if FileManager.default.fileExists(atPath: path) {
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }
}

/// The range of a blob that a request contains: `Content-Range: bytes 0-99/200`.
struct BlobRange: Sendable, Equatable {
  /// The position of the first byte.
  var start: Int64
  /// The position after the last byte; nil without a header, when the body is the whole blob.
  var end: Int64?
  /// The size of the blob; nil without a header.
  var total: Int64?

  static let whole = BlobRange(start: 0)

  /// Reads a header. The form is that of RFC 9110, section 14.4, without `*` for an unknown size.
  ///
  /// - Throws: ``ServerError`` with the code `malformed` unless it is a range within a blob.
  init(_ header: String?) throws {
    guard let header else {
      self = .whole
      return
    }
    // Without the six bytes of `bytes `, which the guard checks.
    let numbers = header.dropFirst(6).split(
      omittingEmptySubsequences: false, whereSeparator: { $0 == "-" || $0 == "/" }
    ).map { Int64($0) }
    guard header.hasPrefix("bytes "), numbers.count == 3, let start = numbers[0],
      let last = numbers[1], let total = numbers[2], 0 <= start, start <= last, last < total
    else {
      throw ServerError(
        .malformed, "The header Content-Range isn't a range.",
        remedy: "Write it like `bytes 0-99/200`.")
    }
    self.init(start: start, end: last + 1, total: total)
  }

  private init(start: Int64, end: Int64? = nil, total: Int64? = nil) {
    self.start = start
    self.end = end
    self.total = total
  }
}
#endif
