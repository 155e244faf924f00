import Foundation
import SteadFormats

/// Keys and values of a domain, with keys distinguished by their UTF-8.
///
/// A hash table by open addressing with linear probing. A look-up touches two memory locations, its slot and
/// its entry; keys longer than ``DomainKey/inlineLimit`` bytes need a third. Removed entries leave a hole in
/// `entries` until the table is next rebuilt.
struct DomainTable: Sendable {
  private struct Entry {
    /// nil in a hole.
    var value: PropertyList?
    // Next to the value, so that an entry has 64 bytes: one cache line.
    var hash: UInt32
    var key: DomainKey
  }

  private var entries: [Entry] = []
  private var longKeys: [String] = []
  /// A position in `entries` plus one in the lower bits, as many as the number of slots needs; above them the
  /// same bits of the key's hash. 0 in a free slot.
  ///
  /// Checking a wrong entry costs more than everything else, and the hash's bits rule out most.
  private var slots: [UInt32] = []
  private(set) var count = 0

  init() {}

  subscript(key: String) -> PropertyList? {
    key.withBytes { bytes in
      guard let index = find(bytes).index else { return nil }
      return entries[index].value
    }
  }

  /// Sets a value, or with nil removes the key, and returns the previous value.
  @discardableResult
  mutating func replace(_ key: String, with value: PropertyList?) -> PropertyList? {
    let (hash, found) = locate(key)
    if let found {
      guard let value else { return remove(at: found) }
      return exchange(&entries[found].value, with: value)
    }
    if let value { insert(key, value, hash: hash) }
    return nil
  }

  mutating func removeAll() { self = DomainTable() }

  mutating func reserveCapacity(_ capacity: Int) {
    entries.reserveCapacity(capacity)
    if !Self.hasRoom(for: capacity, in: slots.count) { rebuild(capacity: capacity) }
  }

  /// All keys and values, in no particular order.
  func fields() -> [PropertyList.Fields.Field] {
    entries.compactMap { entry in
      entry.value.map { .init(entry.key.isLong ? longKeys[entry.key.number] : entry.key.text, $0) }
    }
  }
}

extension DomainTable {
  /// At most every second slot is occupied: most look-ups then end at the first.
  private static func hasRoom(for count: Int, in slotCount: Int) -> Bool {
    count * 2 <= slotCount
  }

  /// Not inlined: within a mutating function the compiler would count references to the arrays.
  @inline(never)
  private func locate(_ key: String) -> (hash: UInt32, index: Int?) {
    key.withBytes { bytes in find(bytes) }
  }

  @inline(__always)
  private func find(_ bytes: UnsafeRawBufferPointer) -> (hash: UInt32, index: Int?) {
    if bytes.count > DomainKey.inlineLimit { return findLong(bytes) }
    let key = DomainKey(bytes)
    let hash = key.hash
    return (hash, find(hash: hash) { entry in entry.key == key })
  }

  @inline(never)
  private func findLong(_ bytes: UnsafeRawBufferPointer) -> (hash: UInt32, index: Int?) {
    let hash = DomainKey.longHash(bytes)
    let index = find(hash: hash) { entry in
      entry.key.isLong && longKeys[entry.key.number].withBytes { $0.elementsEqual(bytes) }
    }
    return (hash, index)
  }

  @inline(__always)
  private func find(hash: UInt32, where isMatch: (borrowing Entry) -> Bool) -> Int? {
    entries.withUnsafeBufferPointer { entries in
      slots.withUnsafeBufferPointer { slots in
        guard !slots.isEmpty else { return nil }
        let mask = UInt32(truncatingIfNeeded: slots.count - 1)
        var position = Int(hash & mask)
        while slots[position] != 0 {
          let slot = slots[position]
          if (slot ^ hash) & ~mask == 0 {
            let index = Int(slot & mask) - 1
            if isMatch(entries[index]) { return index }
          }
          position = (position + 1) & Int(mask)
        }
        return nil
      }
    }
  }

  private mutating func insert(_ text: String, _ value: PropertyList, hash: UInt32) {
    if !Self.hasRoom(for: entries.count + 1, in: slots.count) { rebuild(capacity: count + 1) }
    let key: DomainKey
    if text.utf8.count > DomainKey.inlineLimit {
      key = DomainKey(longKey: longKeys.count)
      longKeys.append(text)
    } else {
      key = text.withBytes { DomainKey($0) }
    }
    entries.append(Entry(value: value, hash: hash, key: key))
    count += 1
    link(entries.count - 1)
  }

  private mutating func link(_ index: Int) {
    let mask = UInt32(truncatingIfNeeded: slots.count - 1)
    let hash = entries[index].hash
    var position = Int(hash & mask)
    while slots[position] != 0 { position = (position + 1) & Int(mask) }
    slots[position] = hash & ~mask | UInt32(index + 1)
  }

  /// Removes an entry, and moves up those that were displaced by it.
  private mutating func remove(at index: Int) -> PropertyList? {
    let mask = slots.count - 1
    func entry(in slot: UInt32) -> Int { (Int(slot) & mask) - 1 }
    var hole = Int(entries[index].hash) & mask
    while entry(in: slots[hole]) != index { hole = (hole + 1) & mask }
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = Int(entries[entry(in: slots[next])].hash) & mask
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
    count -= 1
    if entries[index].key.isLong { longKeys[entries[index].key.number] = "" }
    return exchange(&entries[index].value, with: nil)
  }

  private mutating func rebuild(capacity: Int) {
    if entries.count > count { closeHoles() }
    // Room for half as many again, so that a table whose keys come and go isn't rebuilt for each.
    let capacity = max(capacity, count + count / 2)
    var size = 16
    while !Self.hasRoom(for: capacity, in: size) { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    for index in entries.indices { link(index) }
  }

  private mutating func closeHoles() {
    entries.removeAll { $0.value == nil }
    let texts = longKeys
    longKeys = []
    for index in entries.indices where entries[index].key.isLong {
      longKeys.append(texts[entries[index].key.number])
      entries[index].key = DomainKey(longKey: longKeys.count - 1)
    }
  }
}

extension DomainTable {
  init(_ fields: PropertyList.Fields) {
    self.init()
    for field in fields { replace(field.key, with: field.value) }
  }

  /// The keys and values of a binary property list.
  init(propertyList bytes: Data) throws {
    self = try bytes.withUnsafeBytes { try DomainTable(propertyList: $0) }
  }

  /// The keys and values of a binary property list.
  ///
  /// - Throws: ``PropertyListError`` when it is damaged or isn't a dictionary.
  init(propertyList bytes: UnsafeRawBufferPointer) throws {
    self.init()
    var decoder = try BinaryPropertyListDecoder(bytes)
    reserveCapacity(try decoder.rootCount())
    try decoder.visitRoot { key, value in replace(key, with: value) }
  }
}

/// Replaces a value and returns the old one.
@inline(__always)
private func exchange<Value>(_ place: inout Value, with value: Value) -> Value {
  let old = place
  place = value
  return old
}

extension String {
  /// The UTF-8, in place if possible.
  @inline(__always)
  fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
      return result
    }
    var copy = self
    return copy.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}
