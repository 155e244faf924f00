import Synchronization

/// Whether a disk holds data that should have been removed and could not be.
///
/// Such a disk is not used before it has been emptied: its data may be an earlier user's.
final class DiskTrust: Sendable {
  /// How often a removal has failed, and how many of these failures an emptying has made good.
  private let failures = Mutex((count: 0, mended: 0))

  /// Whether the disk may be used.
  var isWhole: Bool { failures.withLock { $0.count == $0.mended } }

  /// Notes that a removal has failed.
  func lose() { failures.withLock { $0.count += 1 } }

  /// Empties the disk if needed, and returns whether it may be used.
  ///
  /// - Parameter empty: Returns whether the disk is empty.
  func mend(_ empty: () -> Bool) -> Bool {
    let failed = failures.withLock { $0.count == $0.mended ? nil : $0.count }
    guard let failed else { return true }
    guard empty() else { return false }
    // A removal that has failed in the meantime needs another emptying.
    return failures.withLock { failures in
      failures.mended = max(failures.mended, failed)
      return failures.count == failures.mended
    }
  }
}
