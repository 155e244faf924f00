/// The keys and values of a part of a memory cache, by their hashes.
///
/// Entries are stored contiguously in memory. 64-bit words refer to them, at least twice as many as there are entries:
/// the upper half of a word is the upper half of the key's hash, the lower half the entry's index plus one, and 0 is a
/// word without an entry. A look-up begins at the word that the hash selects and continues until it finds the key or an
/// empty word.
@usableFromInline struct EntryTable<Key: Hashable, Value>: ~Copyable {
  @usableFromInline struct Entry {
    @usableFromInline let key: Key
    @usableFromInline var value: Value
    @usableFromInline var times: EntryTimes
    /// The entry's node in the policy.
    @usableFromInline let number: Int32
    @usableFromInline let tag: UInt32

    @inlinable init(key: Key, value: Value, times: EntryTimes, number: Int32, tag: UInt32) {
      (self.key, self.value) = (key, value)
      (self.times, self.number, self.tag) = (times, number, tag)
    }
  }

  /// Small, since a cache has a table for each of its many shelves.
  @inlinable static var firstCapacity: Int { 1 }

  @usableFromInline var words: UnsafeMutablePointer<UInt64>
  @usableFromInline var mask: Int
  @usableFromInline var entries: UnsafeMutablePointer<Entry>
  @usableFromInline var count = 0
  @usableFromInline var hits = 0
  @usableFromInline var misses = 0

  /// The capacity in entries.
  @inlinable var capacity: Int { (mask + 1) / 2 }

  @inlinable init() {
    mask = Self.firstCapacity * 2 - 1
    words = .allocate(capacity: mask + 1)
    words.initialize(repeating: 0, count: mask + 1)
    entries = .allocate(capacity: Self.firstCapacity)
  }

  @inlinable deinit {
    entries.deinitialize(count: count)
    entries.deallocate()
    words.deallocate()
  }

  @inlinable static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

  /// The place of a key's entry.
  @inlinable func find(_ key: Key, _ hash: UInt64) -> Int? {
    let tag = Self.tag(hash)
    var place = Int(tag) & mask
    while true {
      let word = words[place]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word >> 32) == tag {
        let entry = Int(word & 0xFFFF_FFFF) - 1
        if entries[entry].key == key { return entry }
      }
      place = (place + 1) & mask
    }
  }

  /// The value of a key, counted, with its use.
  ///
  /// - Parameters:
  ///   - idleTime: For how long a use lets the entry live; ``PolicyNode/never`` if that makes no difference.
  ///   - now: The time; asked only if the entry has a deadline.
  @inlinable mutating func read(
    _ key: Key, _ hash: UInt64, _ counters: UseCounters, idleTime: Int64, now: () -> Int64
  ) -> (value: Value?, isExpired: Bool) {
    guard let place = find(key, hash) else {
      misses += 1
      return (nil, false)
    }
    if entries[place].times.deadline != PolicyNode.never {
      let now = now()
      if entries[place].times.deadline <= now {
        misses += 1
        return (nil, true)
      }
      if idleTime != PolicyNode.never { entries[place].times.noteUse(at: now, idleTime: idleTime) }
    }
    hits += 1
    counters.countUse(entries[place].number)
    return (entries[place].value, false)
  }

  /// The value of a key, neither counted nor recorded.
  @inlinable func peek(_ key: Key, _ hash: UInt64, now: () -> Int64) -> Value? {
    guard let place = find(key, hash) else { return nil }
    let deadline = entries[place].times.deadline
    return deadline == PolicyNode.never || deadline > now() ? entries[place].value : nil
  }
}

// MARK: Changes

extension EntryTable {
  @inlinable mutating func add(_ entry: consuming Entry) {
    if count == capacity { resize(to: capacity * 2) }
    link(tag: entry.tag, to: count)
    (entries + count).initialize(to: entry)
    count += 1
  }

  /// Sets an entry's value and returns the old one.
  @inlinable mutating func replace(_ value: Value, times: EntryTimes, at place: Int) -> Value {
    var value = value
    swap(&entries[place].value, &value)
    entries[place].times = times
    return value
  }

  @inlinable mutating func remove(at place: Int) -> Entry {
    unlink(tag: entries[place].tag, from: place)
    let entry = (entries + place).move()
    count -= 1
    if place != count {
      // The last entry fills the gap.
      let word = word(tag: entries[count].tag, of: count)
      (entries + place).moveInitialize(from: entries + count, count: 1)
      words[word] = UInt64(entries[place].tag) << 32 | UInt64(place + 1)
    }
    return entry
  }

  /// The place of the entry with a number.
  @inlinable func find(number: Int32, _ hash: UInt64) -> Int? {
    let tag = Self.tag(hash)
    var place = Int(tag) & mask
    while words[place] != 0 {
      let entry = Int(words[place] & 0xFFFF_FFFF) - 1
      if entries[entry].number == number { return entry }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Frees memory that no entries need any more.
  @inlinable mutating func shrink() {
    var wanted = Self.firstCapacity
    while wanted < count { wanted *= 2 }
    if wanted < capacity { resize(to: wanted) }
  }

  @inlinable mutating func resize(to capacity: Int) {
    let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
    larger.moveInitialize(from: entries, count: count)
    entries.deallocate()
    entries = larger
    words.deallocate()
    mask = capacity * 2 - 1
    words = .allocate(capacity: mask + 1)
    words.initialize(repeating: 0, count: mask + 1)
    for place in 0..<count { link(tag: entries[place].tag, to: place) }
  }

  @inlinable func link(tag: UInt32, to entry: Int) {
    var place = Int(tag) & mask
    while words[place] != 0 { place = (place + 1) & mask }
    words[place] = UInt64(tag) << 32 | UInt64(entry + 1)
  }

  /// The word that leads to an entry.
  @inlinable func word(tag: UInt32, of entry: Int) -> Int {
    let wanted = UInt64(tag) << 32 | UInt64(entry + 1)
    var place = Int(tag) & mask
    while words[place] != wanted { place = (place + 1) & mask }
    return place
  }

  /// Clears an entry's word, and moves the words after it that would not be found any more.
  @inlinable func unlink(tag: UInt32, from entry: Int) {
    var gap = word(tag: tag, of: entry)
    var place = (gap + 1) & mask
    while words[place] != 0 {
      let start = Int(words[place] >> 32) & mask
      if (place - start) & mask >= (place - gap) & mask {
        words[gap] = words[place]
        gap = place
      }
      place = (place + 1) & mask
    }
    words[gap] = 0
  }
}
