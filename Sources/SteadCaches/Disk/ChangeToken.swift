/// A moment in the life of a cache's file, which stays the same until somebody else changes the file.
struct ChangeToken: Equatable, Sendable {
  let generation: Int64
  let count: UInt64
}
