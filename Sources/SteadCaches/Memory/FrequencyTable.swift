/// The recent frequencies of hashes: TinyLFU's admission filter.
///
/// A hash table with linear probing and slots of 64 bits: 60 bits of a hash, and a counter of 4
/// bits. After ``agingFactor`` times as many records as there are entries in the cache all counters
/// are halved, so that formerly popular entries do not stay forever, and the slots of those that
/// are zero then become empty.
///
/// It takes 64 bytes for each entry. The count-min sketch of the papers on TinyLFU needs half of
/// that, but overestimates hashes that share counters. Which of them do differs between runs, since
/// Swift's hashes do. In loops, and where the window has to be learned, a few wrong decisions lead
/// to others, and the hit ratios of ten runs over the same requests differed by up to 17 points.
/// These counts are exact, unless 60 bits of two hashes are equal.
///
/// Every call costs constant time, but halving and growing cost it for each slot.
struct FrequencyTable: ~Copyable {
  /// The greatest count: what 4 bits hold.
  static let greatestCount = 15
  /// How many hashes are recorded for each entry between two halvings.
  static let agingFactor = 6

  // The sum of all counters is at most `agingFactor` (6) for each entry, so at most three quarters
  // of the slots have one, and searches end at an empty slot.
  private static let slotsForEntry = 8
  /// A smaller table would be halved all the time.
  private static let leastCapacity = 16
  private static let countMask: UInt64 = 0xF

  /// The hash's upper 60 bits, and its count in the lower 4. An empty slot is zero: others have a
  /// count.
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
    // Inserted again from their hashes: a slot's home depends on the number of slots.
    slots = Self.emptySlots(capacity: capacity)
    for slot in old where slot != 0 { insert(slot) }
    old.deallocate()
  }

  /// Sets all counts to zero and frees the memory.
  mutating func removeAll() { self = FrequencyTable() }

  /// How often the hash was recorded lately, from 0 to ``greatestCount``.
  func count(_ hash: UInt64) -> Int { Int(slots[slotIndex(hash)] & Self.countMask) }

  /// Counts a hash, and halves all counts when ``agingFactor`` says so.
  ///
  /// - Parameter uses: The number of uses to add at once.
  mutating func record(_ hash: UInt64, uses: Int = 1) {
    for _ in 0..<uses { recordOne(hash) }
  }

  private mutating func recordOne(_ hash: UInt64) {
    let index = slotIndex(hash)
    let count = slots[index] & Self.countMask
    // At the limit nothing is added to the sum either: a single popular hash must not age all
    // others.
    guard count < Self.countMask else { return }
    slots[index] = hash & ~Self.countMask | (count + 1)
    sum += 1
    if sum >= capacity * Self.agingFactor { halve() }
  }

  private mutating func halve() {
    // A slot that becomes empty would end searches for those behind it. So each slot, from the
    // start of its run on, is inserted again at the first empty index from its home on, which is
    // its old one or one before it. The walk begins behind an empty slot, so that it doesn't begin
    // in the middle of a run.
    guard let start = slots.firstIndex(of: 0) else { return }
    var index = next(start)
    while index != start {
      let slot = slots[index]
      if slot != 0 {
        let count = slot & Self.countMask
        slots[index] = 0
        // The sum of the halved counters, rounded down like each of them.
        sum -= Int(count - count / 2)
        if count > 1 { insert(slot & ~Self.countMask | count / 2) }
      }
      index = next(index)
    }
  }

  /// Writes a slot at the first empty index from its home on.
  private func insert(_ slot: UInt64) {
    var index = homeIndex(slot)
    while slots[index] != 0 { index = next(index) }
    slots[index] = slot
  }

  /// The index of a hash's slot, or the empty one where it would be inserted.
  private func slotIndex(_ hash: UInt64) -> Int {
    var index = homeIndex(hash)
    while slots[index] != 0, (slots[index] ^ hash) & ~Self.countMask != 0 { index = next(index) }
    return index
  }

  /// The index at which the search for a hash begins: the hash, scaled to the number of slots,
  /// which needn't be a power of 2.
  private func homeIndex(_ hash: UInt64) -> Int {
    Int((hash & ~Self.countMask).multipliedFullWidth(by: UInt64(slots.count)).high)
  }

  private func next(_ index: Int) -> Int { index + 1 == slots.count ? 0 : index + 1 }
}
