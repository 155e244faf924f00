import CSteadFiles
import Foundation
import SteadFiles
import Synchronization

// Sendable: the mapping is a constant that ends with the object, and its word is touched by atomic operations alone.
/// How often all processes have changed a cache, as a word of memory that they share.
///
/// Reading it costs a few nanoseconds, while asking SQLite costs a read of the file. A process that is killed between its
/// commit and counting it leaves others with outdated knowledge until the next change.
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

  /// Whether the file is still the one that other processes open.
  func isInPlace(in directory: CacheDirectory) -> Bool {
    (try? directory.disk.status(at: path))?.identity == identity
  }

  /// Writes a new file's bytes, since a hole in a file could not be written to on a full disk.
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

  /// How many changes were made; nil once the file has been truncated.
  var count: UInt64? {
    stead_admit_first_bus_errors()
    let count = stead_load_acquire(base)
    return stead_load_acquire(loss) == 0 ? count : nil
  }

  func add() {
    stead_admit_first_bus_errors()
    _ = stead_fetch_add(base, 1)
  }
}

// MARK: - Own changes

/// An object that knows its own changes, and counts them so that only others' changes count.
final class ChangeOrigin: Sendable {
  private let own = Mutex<UInt64>(0)

  /// Counts a change of its own, and announces it with a body. Nobody reads one of the two counts without the other.
  func add(_ tellOthers: () -> Void) {
    own.withLock { own in
      own += 1
      tellOthers()
    }
  }

  /// How many of all changes others have made; nil if that can't be determined.
  ///
  /// - Parameter countAll: Counts all changes.
  func countOfOthers(_ countAll: () -> UInt64?) -> UInt64? {
    own.withLock { own in countAll().map { $0 &- own } }
  }
}

/// A version of a cache's file, which stays the same until someone else changes the file.
struct ChangeToken: Equatable, Sendable {
  let generation: Int64
  /// Which opening of the file it was: a new file of counts begins from 0.
  let opening: UInt64
  let count: UInt64
}
