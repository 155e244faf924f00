/// Entries that a change removed from a memory cache, to be processed once no lock is held.
@usableFromInline struct RemovedEntries<Key: Sendable, Value: Sendable>: Sendable {
  @usableFromInline struct Entry: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let value: Value
    @usableFromInline let reason: RemovalReason

    @inlinable init(key: Key, value: Value, reason: RemovalReason) {
      (self.key, self.value, self.reason) = (key, value, reason)
    }
  }

  // Most changes remove at most one entry, which needs no array.
  @usableFromInline var first: Entry?
  @usableFromInline var others: [Entry] = []
  /// Loads that can't be joined any more.
  @usableFromInline var forgotten: (any AnyObject & Sendable)?

  @inlinable init() {}

  @inlinable mutating func append(_ entry: Entry) {
    if first == nil { first = entry } else { others.append(entry) }
  }

  /// Moves all entries to the end of an array.
  @inlinable mutating func move(to array: inout [Entry]) {
    guard let entry = first else { return }
    array.append(entry)
    array += others
    first = nil
    others = []
  }
}
