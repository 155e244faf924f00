/// A version of a cache's file, which stays the same until someone else changes the file.
struct ChangeToken: Equatable, Sendable {
  let generation: Int64
  /// Which opening of the file it was: a new file of counts begins from 0.
  let opening: UInt64
  let count: UInt64
}
