/// Keys and values of a domain, told apart by the keys' UTF-8.
///
/// A hash table by open addressing with linear probing: `slots` hold positions in `entries`, plus one.
/// Removed entries leave a hole in `entries` until the table is next rebuilt.
struct DomainTable: Sendable {
  private struct Entry {
    var key: String
    var hash: UInt64
    /// nil in a hole.
    var value: PropertyList?
  }

  private var entries: [Entry] = []
  private var slots: [UInt32] = []
  private(set) var count = 0

  init() {}

  subscript(key: String) -> PropertyList? {
    guard count > 0, let index = find(key, hash: Self.hash(key)) else { return nil }
    return entries[index].value
  }

  /// Sets a value, or with nil removes the key, and returns what was there.
  @discardableResult
  mutating func replace(_ key: String, with value: PropertyList?) -> PropertyList? {
    let hash = Self.hash(key)
    if count > 0, let index = find(key, hash: hash) {
      let old = entries[index].value
      if let value {
        entries[index].value = value
      } else {
        remove(at: index)
      }
      return old
    }
    if let value { insert(Entry(key: key, hash: hash, value: value)) }
    return nil
  }

  mutating func removeAll() { self = DomainTable() }

  mutating func reserveCapacity(_ capacity: Int) {
    entries.reserveCapacity(capacity)
    if slots.count < capacity * 2 { rebuild(capacity: capacity) }
  }

  /// All keys and values, in no order.
  func fields() -> [PropertyList.Fields.Field] {
    entries.compactMap { entry in entry.value.map { .init(entry.key, $0) } }
  }
}

extension DomainTable {
  /// FNV-1a over eight bytes at a time, with a last mix: keys come from the program, not from strangers.
  private static func hash(_ key: String) -> UInt64 {
    var key = key
    return key.withUTF8 { bytes in
      let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
      var hash = UInt64(truncatingIfNeeded: bytes.count) &* prime
      var rest = UnsafeRawBufferPointer(bytes)
      while rest.count >= 8 {
        hash = (hash ^ rest.loadUnaligned(as: UInt64.self)) &* prime
        hash ^= hash >> 29
        rest = UnsafeRawBufferPointer(rebasing: rest[8...])
      }
      var last: UInt64 = 0
      for byte in rest { last = last << 8 | UInt64(byte) }
      hash = (hash ^ last) &* prime
      return hash ^ (hash >> 32)
    }
  }

  private func find(_ key: String, hash: UInt64) -> Int? {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if entries[index].hash == hash, entries[index].key.isSameText(as: key) { return index }
      slot = (slot + 1) & mask
    }
    return nil
  }

  private mutating func insert(_ entry: Entry) {
    if (entries.count + 1) * 2 > slots.count { rebuild(capacity: (count + 1) * 2) }
    entries.append(entry)
    count += 1
    link(entries.count - 1)
  }

  private mutating func link(_ index: Int) {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: entries[index].hash) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = UInt32(index + 1)
  }

  /// Takes an entry out, and moves up those that were put behind it for want of room.
  private mutating func remove(at index: Int) {
    let mask = slots.count - 1
    var hole = Int(truncatingIfNeeded: entries[index].hash) & mask
    while Int(slots[hole]) - 1 != index { hole = (hole + 1) & mask }
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = Int(truncatingIfNeeded: entries[Int(slots[next]) - 1].hash) & mask
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
    entries[index] = Entry(key: "", hash: 0, value: nil)
    count -= 1
  }

  private mutating func rebuild(capacity: Int) {
    entries.removeAll { $0.value == nil }
    var size = 16
    while size < max(capacity, count + 1) * 2 { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    for index in entries.indices { link(index) }
  }
}
