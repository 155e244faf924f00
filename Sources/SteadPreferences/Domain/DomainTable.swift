import Foundation
import SteadFormats

/// The keys and values of a domain, with keys compared by their UTF-8.
///
/// An open-addressing hash table with linear probing, made for look-ups: one touches two cache
/// lines, the slot and the entry. Swift's `Dictionary` hashes with SipHash and compares strings by
/// Unicode equality; both cost more than all of this, and two keys that differ only in
/// normalization would be one.
///
/// Keys up to ``DomainKey/inlineLimit`` bytes are stored in the entry; a longer one costs a third
/// access. A removed entry leaves a hole in `entries` until the next rebuild.
struct DomainTable: Sendable {
  /// 64 bytes, one cache line.
  private struct Entry {
    /// nil in a hole.
    var value: PropertyList?
    // Next to the value, so that an entry has 64 bytes: one cache line.
    var hash: UInt32
    var key: DomainKey
  }

  private var entries: [Entry] = []
  private var longKeys: [String] = []
  /// For each slot: the index in `entries` plus one in the lower bits, as many as the number of
  /// slots needs, and above them the same bits of the key's hash. 0 in a free slot.
  ///
  /// Fetching a wrong entry costs more than everything else, and the hash's bits rule out most of
  /// them.
  private var slots: [UInt32] = []
  private(set) var count = 0

  init() {}

  /// The value of a key; nil if it has none.
  subscript(key: String) -> PropertyList? {
    key.withBytes { bytes in
      // No copy of the key is made: Swift's native strings have contiguous UTF-8.
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
    // The hash is computed once for the look-up and the insertion.
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

// MARK: - Look-up and change

extension DomainTable {
  /// A load factor of one half: most look-ups end at the first slot.
  private static func hasRoom(for count: Int, in slotCount: Int) -> Bool {
    count * 2 <= slotCount
  }

  /// Finds a key for a change. Not inlined: in a mutating function the compiler would retain and
  /// release both arrays.
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

  /// Finds a key that is not stored inline.
  @inline(never)
  private func findLong(_ bytes: UnsafeRawBufferPointer) -> (hash: UInt32, index: Int?) {
    let hash = DomainKey.longHash(bytes)
    let index = find(hash: hash) { entry in
      entry.key.isLong && longKeys[entry.key.number].withBytes { $0.elementsEqual(bytes) }
    }
    return (hash, index)
  }

  /// Probes the slots from the hash's own to the first free one.
  @inline(__always)
  private func find(hash: UInt32, where isMatch: (borrowing Entry) -> Bool) -> Int? {
    entries.withUnsafeBufferPointer { entries in
      slots.withUnsafeBufferPointer { slots in
        guard !slots.isEmpty else { return nil }
        let mask = UInt32(truncatingIfNeeded: slots.count - 1)
        var position = Int(hash & mask)
        while slots[position] != 0 {
          let slot = slots[position]
          // The upper bits of slot and hash agree: very likely the entry.
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
      // The whole key stays here, and the entry has its index.
      key = DomainKey(longKey: longKeys.count)
      longKeys.append(text)
    } else {
      key = text.withBytes { DomainKey($0) }
    }
    // New entries are appended, so `entries` is in the order of insertion apart from holes.
    entries.append(Entry(value: value, hash: hash, key: key))
    count += 1
    link(entries.count - 1)
  }

  /// Puts an entry into the first free slot after its hash's own.
  private mutating func link(_ index: Int) {
    let mask = UInt32(truncatingIfNeeded: slots.count - 1)
    let hash = entries[index].hash
    var position = Int(hash & mask)
    while slots[position] != 0 { position = (position + 1) & Int(mask) }
    slots[position] = hash & ~mask | UInt32(index + 1)
  }

  /// Removes an entry by backward-shift deletion: entries behind it that were displaced move up. So
  /// there are no tombstones, and probe sequences do not grow with removals.
  private mutating func remove(at index: Int) -> PropertyList? {
    let mask = slots.count - 1
    func entry(in slot: UInt32) -> Int { (Int(slot) & mask) - 1 }
    var hole = Int(entries[index].hash) & mask
    while entry(in: slots[hole]) != index { hole = (hole + 1) & mask }
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = Int(entries[entry(in: slots[next])].hash) & mask
      // An entry may move to the hole if that is not before its own slot, counted around the end.
      if (next - home) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
    count -= 1
    // Releases the string; its index stays taken until the holes are closed.
    if entries[index].key.isLong { longKeys[entries[index].key.number] = "" }
    return exchange(&entries[index].value, with: nil)
  }

  /// Makes slots for at least `capacity` entries.
  private mutating func rebuild(capacity: Int) {
    if entries.count > count { closeHoles() }
    // Room for half as many again, so that a table whose keys come and go is not rebuilt for each.
    let capacity = max(capacity, count + count / 2)
    var size = 16
    while !Self.hasRoom(for: capacity, in: size) { size *= 2 }
    slots = [UInt32](repeating: 0, count: size)
    for index in entries.indices { link(index) }
  }

  /// Moves the entries together. Their slots must be made again.
  private mutating func closeHoles() {
    // Stable, so the entries stay in the order of insertion.
    entries.removeAll { $0.value == nil }
    let texts = longKeys
    longKeys = []
    for index in entries.indices where entries[index].key.isLong {
      longKeys.append(texts[entries[index].key.number])
      entries[index].key = DomainKey(longKey: longKeys.count - 1)
    }
  }

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
    // One rebuild instead of one per doubling.
    reserveCapacity(try decoder.rootCount())
    try decoder.visitRoot { key, value in replace(key, with: value) }
  }
}

/// Replaces a value and returns the old one.
@inline(__always)
private func exchange<Value>(_ stored: inout Value, with value: Value) -> Value {
  let old = stored
  stored = value
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

// MARK: - Keys

/// The UTF-8 of a key, stored inline: a string's own buffer would cost another cache miss, which
/// takes longer than the rest of a look-up.
///
/// Up to 40 bytes are stored in five words, padded with zeros, so that comparison is five XORs. For
/// a longer key the first word is its index in the table's list of long keys.
struct DomainKey: Sendable {
  static let inlineLimit = 40
  private static let longMark = UInt8.max

  private var words: (UInt64, UInt64, UInt64, UInt64, UInt64)
  private let mark: UInt8

  /// A key with at most ``inlineLimit`` bytes.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    // Overlapping loads: the last word is read so that it ends with the bytes, and shifted. No byte
    // beyond them is read.
    words =
      switch bytes.count {
      case ..<8: (bytes.shortWord, 0, 0, 0, 0)
      case ...16: (bytes.word(at: 0), bytes.lastWord(endingAt: 16), 0, 0, 0)
      case ...24: (bytes.word(at: 0), bytes.word(at: 8), bytes.lastWord(endingAt: 24), 0, 0)
      case ...32:
        (bytes.word(at: 0), bytes.word(at: 8), bytes.word(at: 16), bytes.lastWord(endingAt: 32), 0)
      default:
        (
          bytes.word(at: 0), bytes.word(at: 8), bytes.word(at: 16), bytes.word(at: 24),
          bytes.lastWord(endingAt: 40)
        )
      }
    mark = UInt8(truncatingIfNeeded: bytes.count)
  }

  init(longKey number: Int) {
    words = (UInt64(number), 0, 0, 0, 0)
    mark = Self.longMark
  }

  var isLong: Bool { mark == Self.longMark }

  /// The index in the list of long keys.
  var number: Int { Int(words.0) }

  /// The string of a key that is stored inline.
  var text: String {
    withUnsafeBytes(of: words) { bytes in
      String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<Int(mark)]), as: UTF8.self)
    }
  }

  @inline(__always)
  static func == (left: DomainKey, right: DomainKey) -> Bool {
    let difference =
      (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1)
      | (left.words.2 ^ right.words.2) | (left.words.3 ^ right.words.3)
      | (left.words.4 ^ right.words.4)
    return difference == 0 && left.mark == right.mark
  }
}

extension DomainKey {
  // Odd numbers without a pattern: the first digits of square roots of primes.
  private static let factors: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1,
    0x510E_527F_ADE6_82D1
  )
  private static let lastFactor: UInt64 = 0x9B05_688C_2B3E_6C1F

  /// A multiplicative hash. The multiplications are independent, so the processor runs them in
  /// parallel. It is not seeded, since keys come from the program, and not from an attacker.
  @inline(__always)
  var hash: UInt32 {
    let sum =
      words.0 &* Self.factors.0 &+ words.1 &* Self.factors.1 &+ words.2 &* Self.factors.2
      &+ words.3 &* Self.factors.3 &+ words.4 &* Self.factors.4
    return Self.mix(sum &+ UInt64(mark))
  }

  /// The hash of a key longer than ``inlineLimit``, word by word.
  static func longHash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var state = UInt64(truncatingIfNeeded: bytes.count)
    for offset in stride(from: 0, to: bytes.count - 8, by: 8) {
      state = (state ^ bytes.word(at: offset)) &* factors.0
      state ^= state >> 32
    }
    state = (state ^ bytes.word(at: bytes.count - 8)) &* factors.0
    return mix(state)
  }

  @inline(__always)
  private static func mix(_ sum: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: ((sum ^ (sum >> 29)) &* lastFactor) >> 32)
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  fileprivate func word(at offset: Int) -> UInt64 {
    loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  /// The word that ends at `end`, at most 8 bytes after the bytes' end, padded with zeros. Requires
  /// at least eight bytes.
  @inline(__always)
  fileprivate func lastWord(endingAt end: Int) -> UInt64 {
    (UInt64(littleEndian: word(at: count - 8)) >> UInt64(8 * (end - count))).littleEndian
  }

  /// All of up to seven bytes, padded with zeros. A byte that is read twice is the same both times.
  @inline(__always)
  fileprivate var shortWord: UInt64 {
    if count >= 4 {
      let first = UInt32(littleEndian: loadUnaligned(as: UInt32.self))
      let last = UInt32(littleEndian: loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
      return (UInt64(first) | UInt64(last) << UInt64(8 * (count - 4))).littleEndian
    }
    guard count > 0 else { return 0 }
    let (middle, last) = (count / 2, count - 1)
    let word =
      UInt64(self[0]) | UInt64(self[middle]) << UInt64(8 * middle)
      | UInt64(self[last]) << UInt64(8 * last)
    return word.littleEndian
  }
}
