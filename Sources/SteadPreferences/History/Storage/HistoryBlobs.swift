import Foundation
import SteadFiles

/// The files of a history's large payloads, and the lock for adding and removing them.
///
/// A blob exists before the entry that refers to it, and is removed after the last such entry. The lock is
/// held over both steps, so that a blob is never removed between a writer's two. It ends with the process; an
/// opening sweeps what was left between the steps.
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

  /// Writes a payload's bytes durably: an entry may be on the disk before anybody flushes it. Requires the lock.
  func write(_ bytes: Data) throws { _ = try store.write(bytes) }

  /// Removes a blob that nothing refers to. Requires the lock.
  func remove(_ reference: String) throws { try store.remove(reference) }

  /// Whether blobs, or parts of some, may exist that nothing refers to.
  func hasLeftovers(keeping references: Set<String>) -> Bool {
    (try? store.hasLeftovers(keeping: references)) == true
  }

  /// Removes all blobs but these. Requires the lock.
  func sweep(keeping references: Set<String>) throws { try store.sweep(keeping: references) }
}
