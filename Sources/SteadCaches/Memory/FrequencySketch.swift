/// Estimates how often a hash was seen lately, in 64 counters of 4 bits for each entry of the cache.
///
/// A count-min sketch: a hash has four counters, all in one block of 64 bytes, and the least of them is the estimate.
/// It is never too low and seldom too high. After ``agingFactor`` times as many hashes as there are entries all
/// counters are halved, so that formerly popular entries do not stay forever.
///
/// Source: G. Einziger, R. Friedman, B. Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017.
struct FrequencySketch: ~Copyable {
  /// The greatest estimate: what 4 bits hold.
  static let greatestEstimate = 15
  /// How many hashes are recorded for each entry between two halvings.
  static let agingFactor = 6

  private static let wordsForEntry = 4
  private static let wordsInBlock = 8
  /// Fewer would be halved all the time.
  private static let leastWords = 64
  private static let counterMask: UInt64 = 0xF
  /// The low bit of every counter, and all bits but the highest of every counter.
  private static let lowBits: UInt64 = 0x1111_1111_1111_1111
  private static let halvedBits: UInt64 = 0x7777_7777_7777_7777

  private var words: UnsafeMutableBufferPointer<UInt64>
  /// How many entries the sketch is made for.
  var capacity: Int { words.count / Self.wordsForEntry }
  /// How many increments the counters hold, in hashes.
  private var recordedCount = 0

  init() {
    words = .allocate(capacity: Self.leastWords)
    words.initialize(repeating: 0)
  }

  deinit { words.deallocate() }

  /// Makes the sketch large enough for so many entries; estimates stay as they are.
  mutating func grow(to count: Int) {
    while capacity < count {
      let larger = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: words.count * 2)
      // A hash's block is in the lower half or, with one more bit of the hash, in the upper one.
      for place in words.indices {
        larger.initializeElement(at: place, to: words[place])
        larger.initializeElement(at: place + words.count, to: words[place])
      }
      words.deallocate()
      words = larger
    }
  }

  /// Sets all estimates to zero and frees the memory.
  mutating func removeAll() { self = FrequencySketch() }

  /// How often the hash was recorded lately, from 0 to ``greatestEstimate``.
  func estimate(_ hash: UInt64) -> Int {
    let place = Place(hash, blockCount: words.count / Self.wordsInBlock)
    var least = Self.counterMask
    for row in 0..<Place.rowCount {
      let (word, shift) = place.counter(row)
      least = min(least, (words[word] >> shift) & Self.counterMask)
    }
    return Int(least)
  }

  /// - Parameter uses: The number of uses to add at once.
  mutating func record(_ hash: UInt64, uses: Int = 1) {
    for _ in 0..<uses { recordOne(hash) }
  }

  private mutating func recordOne(_ hash: UInt64) {
    let place = Place(hash, blockCount: words.count / Self.wordsInBlock)
    var isRecorded = false
    for row in 0..<Place.rowCount {
      let (word, shift) = place.counter(row)
      if (words[word] >> shift) & Self.counterMask < Self.counterMask {
        words[word] &+= 1 << shift
        isRecorded = true
      }
    }
    guard isRecorded else { return }
    recordedCount += 1
    if recordedCount >= capacity * Self.agingFactor { halve() }
  }

  private mutating func halve() {
    var oddCount = 0
    for place in words.indices {
      oddCount += (words[place] & Self.lowBits).nonzeroBitCount
      words[place] = (words[place] >> 1) & Self.halvedBits
    }
    // The halves that odd counters lost are not in the sketch any more.
    recordedCount = max(0, recordedCount - oddCount / Place.rowCount) / 2
  }
}

extension FrequencySketch {
  /// The four counters of a hash.
  private struct Place {
    static let rowCount = 4

    private let firstWord: Int
    /// 8 bits for each row: which of its two words, and which of the word's 16 counters.
    private let choices: UInt64

    init(_ hash: UInt64, blockCount: Int) {
      // The table that holds the entry uses other bits of the hash; these are mixed once more.
      var mixed = (hash ^ (hash >> 32)) &* 0x9FB2_1C65_1E98_DF25
      mixed ^= mixed >> 29
      firstWord = Int(truncatingIfNeeded: mixed) & (blockCount - 1)
      choices = (mixed &* 0xD6E8_FEB8_6659_FD93) >> 32
    }

    func counter(_ row: Int) -> (word: Int, shift: UInt64) {
      let choice = choices >> UInt64(row * 8)
      let word = firstWord * wordsInBlock + row * 2 + Int(choice & 1)
      return (word, ((choice >> 1) & 0xF) * 4)
    }
  }
}
