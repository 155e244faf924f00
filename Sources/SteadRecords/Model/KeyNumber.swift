import Synchronization

/// Numbers for what has none of its own in a store of another kind: never twice in a process, and greater than
/// that of any row.
enum KeyNumber {
  static let first: Int64 = 1 << 62
  private static let last = Atomic<Int64>(first - 1)

  static func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}
