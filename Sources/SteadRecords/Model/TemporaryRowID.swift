import Synchronization

/// Numbers for objects without a row yet: negative, and never reused in a process.
enum TemporaryRowID {
  private static let last = Atomic<Int64>(0)

  static func next() -> Int64 {
    last.subtract(1, ordering: .relaxed).newValue
  }
}
