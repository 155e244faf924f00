/// How often hashes were recorded lately.
///
/// A hash table with linear probing and slots of 64 bits: 60 bits of a hash, and a counter of 4 bits. After
/// ``agingFactor`` times as many records as there are entries in the cache all counters are halved, so that formerly
/// popular entries do not stay forever, and the slots of those that are zero then become empty.
///
/// It takes 64 bytes for each entry. The count-min sketch of the papers on TinyLFU needs half of that, but its estimates
/// are too high where hashes share counters. Which of them do differs between runs, since hashes do. In loops, and where
/// the window has to be learned, a few wrong decisions lead to others, and hit ratios for the same requests differed by
/// up to 17 points. These counts are exact, unless 60 bits of two hashes are the same.
///
/// Every call costs constant time, but halving and growing cost it for each slot.
struct FrequencyTable: ~Copyable {
  /// The greatest count: what 4 bits hold.
  static let greatestCount = 15
  /// How many hashes are recorded for each entry between two halvings.
  static let agingFactor = 6

  // The sum of all counters is at most `agingFactor` for each entry, so a quarter of the slots is always empty. There
  // searches end.
  private static let slotsForEntry = 8
  /// Fewer would be halved all the time.
  private static let leastCapacity = 16
  private static let countMask: UInt64 = 0xF

  /// Zero is an empty slot: others have a count.
  private var slots: UnsafeMutableBufferPointer<UInt64>
  /// The sum of all counters.
  private var sum = 0

  /// How many entries the table is made for.
  var capacity: Int { slots.count / Self.slotsForEntry }

  init() { slots = Self.emptySlots(capacity: Self.leastCapacity) }

  deinit { slots.deallocate() }

  private static func emptySlots(capacity: Int) -> UnsafeMutableBufferPointer<UInt64> {
    let slots = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: capacity * slotsForEntry)
    slots.initialize(repeating: 0)
    return slots
  }

  /// Makes the table large enough for so many entries; counts stay as they are.
  mutating func grow(to capacity: Int) {
    guard capacity > self.capacity else { return }
    let old = slots
    slots = Self.emptySlots(capacity: capacity)
    for slot in old where slot != 0 { insert(slot) }
    old.deallocate()
  }

  /// Sets all counts to zero and frees the memory.
  mutating func removeAll() { self = FrequencyTable() }

  /// How often the hash was recorded lately, from 0 to ``greatestCount``.
  func count(_ hash: UInt64) -> Int { Int(slots[place(hash)] & Self.countMask) }

  /// - Parameter uses: The number of uses to add at once.
  mutating func record(_ hash: UInt64, uses: Int = 1) {
    for _ in 0..<uses { recordOne(hash) }
  }

  private mutating func recordOne(_ hash: UInt64) {
    let place = place(hash)
    let count = slots[place] & Self.countMask
    guard count < Self.countMask else { return }
    slots[place] = hash & ~Self.countMask | (count + 1)
    sum += 1
    if sum >= capacity * Self.agingFactor { halve() }
  }

  private mutating func halve() {
    // A slot that becomes empty ends searches for those behind it. So each slot, from the start of its run on, is put
    // back into the first empty place from its home on. That is its old place, or one before it.
    guard let start = slots.firstIndex(of: 0) else { return }
    var place = next(start)
    while place != start {
      let slot = slots[place]
      if slot != 0 {
        let count = slot & Self.countMask
        slots[place] = 0
        sum -= Int(count - count / 2)
        if count > 1 { insert(slot & ~Self.countMask | count / 2) }
      }
      place = next(place)
    }
  }

  /// Puts a slot into the first empty place from its home on.
  private func insert(_ slot: UInt64) {
    var place = home(slot)
    while slots[place] != 0 { place = next(place) }
    slots[place] = slot
  }

  /// Where a hash's slot is, or the empty place where it would be.
  private func place(_ hash: UInt64) -> Int {
    var place = home(hash)
    while slots[place] != 0, (slots[place] ^ hash) & ~Self.countMask != 0 { place = next(place) }
    return place
  }

  /// Where the search for a slot, or for a hash, begins: at its share of all hashes.
  private func home(_ hash: UInt64) -> Int {
    Int((hash & ~Self.countMask).multipliedFullWidth(by: UInt64(slots.count)).high)
  }

  private func next(_ place: Int) -> Int { place + 1 == slots.count ? 0 : place + 1 }
}
