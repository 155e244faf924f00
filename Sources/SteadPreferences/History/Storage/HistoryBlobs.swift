import Foundation
import SteadFiles

/// The files of a history's large payloads, and the lock under which they come and go.
///
/// A blob is there before the entry that refers to it, and is removed after the last one is gone. The
/// lock is held over both steps, by whoever takes them, so that a blob is never removed between a
/// writer's two; it goes with the process, and what was left between the steps is swept at an opening.
struct HistoryBlobs: Sendable {
  private let store: BlobStore
  private let lock: FileLock

  init(directory: URL) {
    store = BlobStore(directory: directory)
    lock = FileLock(directory.appendingPathExtension("lock"))
  }

  func read(_ reference: String) throws -> Data { try store.read(reference) }

  func withLock<Result>(_ body: () throws -> Result) throws -> Result {
    try lock.withLock(.exclusive, body)
  }

  /// Writes a payload's bytes, durably: an entry may be on the disk before anybody flushes it. Under the
  /// lock only.
  func write(_ bytes: Data) throws { _ = try store.write(bytes) }

  /// Removes a blob that nothing refers to. Under the lock only.
  func remove(_ reference: String) throws { try store.remove(reference) }

  /// Whether there may be blobs that nothing refers to, or parts of some.
  func hasLeftovers(keeping references: Set<String>) -> Bool {
    (try? store.hasLeftovers(keeping: references)) == true
  }

  /// Removes all blobs but these. Under the lock only.
  func sweep(keeping references: Set<String>) throws { try store.sweep(keeping: references) }
}
