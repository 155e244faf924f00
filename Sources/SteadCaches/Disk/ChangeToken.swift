import CSteadFiles
import Foundation
import SteadFiles
import Synchronization

/// The number of changes by all processes: a word of memory that they map from one file
/// (`changes`).
///
/// Reading it costs a few nanoseconds, while asking SQLite costs a read of the file (`PRAGMA
/// data_version`). It is incremented after each commit, so a process that is killed in between
/// leaves others with outdated values until the next change.
// Sendable: the mapping is a constant that ends with the object, and its word is touched by atomic
// operations alone.
final class ChangeCounter: @unchecked Sendable {
  /// The size of the file: one word.
  static let size = 8

  private let base: UnsafeMutableRawPointer
  private let descriptor: Int32
  private let loss: UnsafePointer<UInt64>
  private let forks = forkGeneration
  private let path: String
  private let identity: FileStatus.Identity

  /// Maps the file at a path, creating it if it is missing; nil if it can't be mapped.
  init?(_ path: String, in directory: CacheDirectory) {
    let disk = directory.disk
    guard
      let descriptor = try? disk.open(
        path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
    else { return nil }
    // Filled before it is mapped: an access beyond the end of a file raises `SIGBUS`.
    guard let identity = try? Self.fill(descriptor, path, in: directory),
      let base = stead_map(descriptor, Self.size, 1)
    else {
      disk.close(descriptor)
      return nil
    }
    (self.path, self.identity) = (path, identity)
    self.base = base
    self.descriptor = descriptor
    loss = stead_map_loss(base)
  }

  deinit {
    stead_unmap(base, Self.size)
    // The child of a fork finds the descriptor closed, and the number may be another file's.
    if forks == forkGeneration { close(descriptor) }
  }

  /// Whether the path still leads to the mapped file, which other processes map.
  func isCurrentFile(in directory: CacheDirectory) -> Bool {
    (try? directory.disk.status(at: path))?.identity == identity
  }

  /// Writes a new file's bytes: storing to a hole of a mapped file on a full disk would raise
  /// `SIGBUS`.
  private static func fill(
    _ descriptor: Int32, _ path: String, in directory: CacheDirectory
  ) throws -> FileStatus.Identity {
    let status = try directory.disk.status(descriptor, path: path)
    guard status.kind == .file else {
      throw FileError(code: .notAFile, message: "Only a plain file can be shared.", path: path)
    }
    if status.size < size {
      let zeros = [UInt8](repeating: 0, count: size)
      _ = try zeros.withUnsafeBytes { try directory.disk.write(descriptor, from: $0, path: path) }
    }
    return status.identity
  }

  /// The number of changes; nil once the file was truncated by another program.
  var count: UInt64? {
    stead_admit_first_bus_errors()
    let count = stead_load_acquire(base)
    // After the load of the count: if the load itself has hit the lost page, the count is a zero
    // that must not be used.
    return stead_load_acquire(loss) == 0 ? count : nil
  }

  /// Counts a change; called after its commit.
  func add() {
    stead_admit_first_bus_errors()
    _ = stead_fetch_add(base, 1)
  }
}

// MARK: - Own changes

/// An object that makes changes through one cache on disk and updates its own memory itself, as
/// ``LayeredCache`` does.
///
/// It counts its changes, so that subtracting them from the shared count leaves those of others.
final class ChangeOrigin: Sendable {
  private let own = Mutex<UInt64>(0)

  /// Counts a change of this object, and announces it to others. Under one lock, so that nobody
  /// reads one of the two counts without the other.
  func add(_ announce: () -> Void) {
    own.withLock { own in
      own += 1
      announce()
    }
  }

  /// The number of changes by others; nil if the shared count can't be read.
  ///
  /// - Parameter countAll: Reads the shared count.
  func foreignCount(_ countAll: () -> UInt64?) -> UInt64? {
    // Wrapping: the shared count begins from 0 again with a new file, and may be smaller than the
    // object's own. The token has the opening as well.
    own.withLock { own in countAll().map { $0 &- own } }
  }
}

/// A version of a cache's file for one ``ChangeOrigin``: equal tokens mean that nobody else has
/// changed the cache in between.
struct ChangeToken: Equatable, Sendable {
  let generation: Int64
  /// Which opening of the file it was: a new file of counts begins from 0.
  let opening: UInt64
  let count: UInt64
}
