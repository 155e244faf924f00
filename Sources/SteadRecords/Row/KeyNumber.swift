import Synchronization

/// Numbers for rows without one in a store of another kind: never reused in a process, and greater than any row's.
enum KeyNumber {
  static let first: Int64 = 1 << 62
  private static let last = Atomic<Int64>(first - 1)

  static func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}
