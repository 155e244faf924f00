import Synchronization

/// Numbers for objects that have no row yet: negative, and never twice in a process.
enum TemporaryRowID {
  private static let last = Atomic<Int64>(0)

  static func next() -> Int64 {
    last.subtract(1, ordering: .relaxed).newValue
  }
}
