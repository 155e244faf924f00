/// Keys and values of a domain, told apart by the keys' UTF-8.
///
/// A hash table by open addressing with linear probing. A look-up whose key is at most 15 bytes long
/// touches two places of memory, its slot and its entry; a longer key's text is a third. Removed
/// entries leave a hole in `entries` until the table is next rebuilt.
struct DomainTable: Sendable {
  private struct Entry {
    var key: String
    /// nil in a hole.
    var value: PropertyList?
    var hash: UInt32
  }

  private var entries: [Entry] = []
  /// A key's hash in the upper half, its position in `entries` plus one in the lower; 0 where it is free.
  ///
  /// The hash is here, too, since an entry that is looked at in vain costs more than all the rest.
  private var slots: [UInt64] = []
  private(set) var count = 0

  init() {}

  subscript(key: String) -> PropertyList? {
    key.withBytes { key in
      guard let index = find(key, hash: Self.hash(key)) else { return nil }
      return entries[index].value
    }
  }

  /// Sets a value, or with nil removes the key, and returns what was there.
  @discardableResult
  mutating func replace(_ key: String, with value: PropertyList?) -> PropertyList? {
    let (hash, found) = locate(key)
    if let found {
      guard let value else { return remove(at: found) }
      return exchange(&entries[found].value, with: value)
    }
    if let value { insert(Entry(key: key, value: value, hash: hash)) }
    return nil
  }

  mutating func removeAll() { self = DomainTable() }

  mutating func reserveCapacity(_ capacity: Int) {
    entries.reserveCapacity(capacity)
    if !Self.hasRoom(for: capacity, in: slots.count) { rebuild(capacity: capacity) }
  }

  /// All keys and values, in no order.
  func fields() -> [PropertyList.Fields.Field] {
    entries.compactMap { entry in entry.value.map { .init(entry.key, $0) } }
  }
}

extension DomainTable {
  /// At most three slots of four are taken: half of the memory of a table half empty, and the slots of
  /// a hundred thousand keys stay in a processor's own cache.
  private static func hasRoom(for count: Int, in slotCount: Int) -> Bool {
    count * 4 <= slotCount * 3
  }

  /// Eight bytes at a time by multiplication: keys come from the program, not from strangers.
  @inline(__always)
  private static func hash(_ key: UnsafeRawBufferPointer) -> UInt32 {
    let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
    var hash = UInt64(truncatingIfNeeded: key.count) &* prime
    key.forEachWord { word in
      hash = (hash ^ word) &* prime
      hash ^= hash >> 32
      return true
    }
    hash = hash &* prime
    return UInt32(truncatingIfNeeded: hash >> 32)
  }

  /// Not inlined: within a mutating function the compiler would count references to the arrays.
  @inline(never)
  private func locate(_ key: String) -> (hash: UInt32, index: Int?) {
    key.withBytes { key in
      let hash = Self.hash(key)
      return (hash, find(key, hash: hash))
    }
  }

  @inline(__always)
  private func find(_ key: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
    entries.withUnsafeBufferPointer { entries in
      slots.withUnsafeBufferPointer { slots in
        guard !slots.isEmpty else { return nil }
        let mask = slots.count - 1
        var position = Int(hash) & mask
        while slots[position] != 0 {
          let slot = slots[position]
          if UInt32(truncatingIfNeeded: slot >> 32) == hash {
            let index = Int(truncatingIfNeeded: slot & 0xFFFF_FFFF) - 1
            if entries[index].key.withBytes({ $0.hasSameBytes(as: key) }) { return index }
          }
          position = (position + 1) & mask
        }
        return nil
      }
    }
  }

  private mutating func insert(_ entry: Entry) {
    if !Self.hasRoom(for: entries.count + 1, in: slots.count) { rebuild(capacity: count + 1) }
    entries.append(entry)
    count += 1
    link(entries.count - 1)
  }

  private mutating func link(_ index: Int) {
    let mask = slots.count - 1
    let hash = entries[index].hash
    var position = Int(hash) & mask
    while slots[position] != 0 { position = (position + 1) & mask }
    slots[position] = UInt64(hash) << 32 | UInt64(index + 1)
  }

  /// Takes an entry out, and moves up those that were put behind it for want of room.
  private mutating func remove(at index: Int) -> PropertyList? {
    let mask = slots.count - 1
    var hole = Int(entries[index].hash) & mask
    while Int(slots[hole] & 0xFFFF_FFFF) - 1 != index { hole = (hole + 1) & mask }
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = Int(slots[next] >> 32) & mask
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
    count -= 1
    entries[index].key = ""
    return exchange(&entries[index].value, with: nil)
  }

  private mutating func rebuild(capacity: Int) {
    if entries.count > count { entries.removeAll { $0.value == nil } }
    // Room for half as much again: a table that keys come and go in is not rebuilt for each.
    let capacity = max(capacity, count + count / 2)
    var size = 16
    while !Self.hasRoom(for: capacity, in: size) { size *= 2 }
    slots = [UInt64](repeating: 0, count: size)
    for index in entries.indices { link(index) }
  }
}

/// Puts a value in another's place and returns that.
@inline(__always)
private func exchange<Value>(_ place: inout Value, with value: Value) -> Value {
  let old = place
  place = value
  return old
}

extension String {
  /// The UTF-8, in place where that is possible.
  @inline(__always)
  fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
      return result
    }
    var copy = self
    return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes eight at a time; the last eight may overlap those before, fewer than eight are filled up
  /// with zeros. Stops at false, and says whether it came to the end.
  @inline(__always)
  @discardableResult
  fileprivate func forEachWord(_ body: (UInt64) -> Bool) -> Bool {
    guard count >= 8 else {
      var word: UInt64 = 0
      for byte in self { word = word << 8 | UInt64(byte) }
      return body(word)
    }
    var offset = 0
    while offset < count - 8 {
      guard body(loadUnaligned(fromByteOffset: offset, as: UInt64.self)) else { return false }
      offset += 8
    }
    return body(loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
  }

  @inline(__always)
  fileprivate func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count >= 8 else { return elementsEqual(other) }
    var offset = 0
    while offset < count - 8 {
      guard
        loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      else { return false }
      offset += 8
    }
    return loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      == other.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
  }
}
