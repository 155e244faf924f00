import Synchronization

/// The nodes of a policy in one array, referred to by index ("number") instead of by reference:
/// 32-bit links, no reference counting, and no allocation for an entry.
///
/// Grows by doubling, and is freed by ``removeAll()`` alone.
struct NodeStorage: ~Copyable {
  private static let firstCapacity = 16
  /// The maximum number of nodes, since links have 32 bits.
  static let limit = Int(Int32.max)

  private var nodes: UnsafeMutablePointer<PolicyNode>
  private var capacity: Int
  /// The number of initialized nodes, including free ones.
  private var usedCount = 0
  private var firstFree = PolicyNode.none

  init() {
    capacity = Self.firstCapacity
    nodes = .allocate(capacity: capacity)
  }

  // A node has nothing that needs to be deinitialized.
  deinit { nodes.deallocate() }

  subscript(number: Int32) -> PolicyNode {
    _read {
      assert(number >= 0 && number < usedCount, "no node has this number")
      yield nodes[Int(number)]
    }
    _modify {
      assert(number >= 0 && number < usedCount, "no node has this number")
      yield &nodes[Int(number)]
    }
  }

  /// Whether the number is that of a node in use. Numbers may be those of nodes that were freed
  /// since.
  func isInUse(_ number: Int32) -> Bool {
    number >= 0 && number < usedCount && self[number].queue != .none
  }

  /// Stores a node, and returns its number: that of a freed node, if there is one.
  mutating func add(_ node: PolicyNode) -> Int32 {
    if firstFree != PolicyNode.none {
      let number = firstFree
      firstFree = self[number].older
      self[number] = node
      return number
    }
    if usedCount == capacity { grow() }
    (nodes + usedCount).initialize(to: node)
    usedCount += 1
    return Int32(usedCount - 1)
  }

  /// Gives a node back, whose number a later entry gets.
  mutating func free(_ number: Int32) {
    self[number] = PolicyNode()
    self[number].older = firstFree
    firstFree = number
  }

  mutating func removeAll() { self = NodeStorage() }

  private mutating func grow() {
    // Doubled, so that adding costs constant time on average. Only the policy has the pointer,
    // under its lock.
    let larger = UnsafeMutablePointer<PolicyNode>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: nodes, count: usedCount)
    nodes.deallocate()
    (nodes, capacity) = (larger, capacity * 2)
  }
}

// MARK: - Nodes

/// The policy's data about an entry: its links in its queue and in the timer wheel, its cost, and
/// its deadline.
@usableFromInline struct PolicyNode {
  /// No node.
  @inlinable static var none: Int32 { -1 }
  /// The deadline of what never expires.
  @inlinable static var never: Int64 { Int64.max }

  enum Queue: UInt8 {
    case none, window, probation, protected
  }

  var hash: UInt64 = 0
  var cost = 0
  /// In nanoseconds of the cache's clock.
  var deadline = PolicyNode.never
  /// The neighbours in the queue; of a free node, `older` is the next free one.
  var newer = PolicyNode.none
  var older = PolicyNode.none
  /// The neighbours in the wheel's bucket.
  var next = PolicyNode.none
  var previous = PolicyNode.none
  var bucket = ExpiryWheel.noBucket
  /// `none` marks a free node.
  var queue = Queue.none
}

// MARK: - Queues

/// A doubly linked list of nodes, from the most to the least recently used.
struct NodeQueue {
  let name: PolicyNode.Queue
  private(set) var newest = PolicyNode.none
  private(set) var oldest = PolicyNode.none
  private(set) var count = 0
  /// The sum of the nodes' costs.
  private(set) var cost = 0

  init(_ name: PolicyNode.Queue) { self.name = name }

  mutating func addNewest(_ number: Int32, in nodes: inout NodeStorage) {
    nodes[number].queue = name
    linkNewest(number, in: &nodes)
    count += 1
    cost += nodes[number].cost
  }

  mutating func remove(_ number: Int32, in nodes: inout NodeStorage) {
    unlink(number, in: &nodes)
    nodes[number].queue = .none
    count -= 1
    cost -= nodes[number].cost
  }

  mutating func moveToNewest(_ number: Int32, in nodes: inout NodeStorage) {
    guard number != newest else { return }
    unlink(number, in: &nodes)
    linkNewest(number, in: &nodes)
  }

  mutating func setCost(_ cost: Int, of number: Int32, in nodes: inout NodeStorage) {
    // The difference first: the sum of costs may be near the greatest integer.
    self.cost += cost - nodes[number].cost
    nodes[number].cost = cost
  }

  private mutating func linkNewest(_ number: Int32, in nodes: inout NodeStorage) {
    nodes[number].newer = PolicyNode.none
    nodes[number].older = newest
    if newest == PolicyNode.none { oldest = number } else { nodes[newest].newer = number }
    newest = number
  }

  private mutating func unlink(_ number: Int32, in nodes: inout NodeStorage) {
    let (newer, older) = (nodes[number].newer, nodes[number].older)
    if newer == PolicyNode.none { newest = older } else { nodes[newer].older = older }
    if older == PolicyNode.none { oldest = newer } else { nodes[older].newer = newer }
  }
}

// MARK: - Use counters

/// The number of uses of each entry since the policy looked at it last, up to ``limit``.
///
/// Counters are bytes in segments that never move: the first has ``firstCount`` of them, each
/// further one twice as many as the one before. So readers count while other threads add entries.
///
/// A reader holds the lock of the entry's shard, the policy that of the cache's control. They may
/// touch a byte at the same time, and then a use may be lost. An atomic addition would lose none,
/// but make every read slower.
// Sendable: bytes are touched with atomic operations alone, and a segment is added before an entry
// of it is in a shard.
@usableFromInline struct UseCounters: @unchecked Sendable {
  /// The maximum count, that of the frequency table.
  @inlinable static var limit: UInt8 { 15 }
  @inlinable static var firstBits: Int { 6 }
  @inlinable static var firstCount: Int { 1 << firstBits }
  @usableFromInline static var segmentLimit: Int { 32 - firstBits }

  @usableFromInline let segments: UnsafeMutablePointer<UnsafeMutablePointer<Atomic<UInt8>>?>

  init() {
    segments = .allocate(capacity: Self.segmentLimit)
    segments.initialize(repeating: nil, count: Self.segmentLimit)
  }

  /// Frees the memory; called once nobody reads any more. Not a `deinit`, since copies share it.
  func deallocate() {
    for segment in 0..<Self.segmentLimit { segments[segment]?.deallocate() }
    segments.deallocate()
  }

  /// Makes a counter of zero.
  func add(_ number: Int32) {
    let (segment, offset) = Self.position(number)
    if segments[segment] == nil {
      let count = Self.firstCount << segment
      let counters = UnsafeMutablePointer<Atomic<UInt8>>.allocate(capacity: count)
      for number in 0..<count { (counters + number).initialize(to: Atomic(0)) }
      // Readers see the pointer by the shard's lock: the entry gets there after this.
      segments[segment] = counters
    }
    segments[segment]?[offset].store(0, ordering: .relaxed)
  }

  @inlinable func countUse(_ number: Int32) {
    let (segment, offset) = Self.position(number)
    guard let counters = segments[segment] else { return }
    let count = counters[offset].load(ordering: .relaxed)
    if count < Self.limit { counters[offset].store(count + 1, ordering: .relaxed) }
  }

  func uses(_ number: Int32) -> Int {
    let (segment, offset) = Self.position(number)
    return Int(segments[segment]?[offset].load(ordering: .relaxed) ?? 0)
  }

  func reset(_ number: Int32) {
    let (segment, offset) = Self.position(number)
    segments[segment]?[offset].store(0, ordering: .relaxed)
  }

  @inlinable static func position(_ number: Int32) -> (segment: Int, offset: Int) {
    // The highest bit of the number plus the first segment's size is the segment, the bits below it
    // the offset. So neither a search nor a table is needed.
    let shifted = UInt32(bitPattern: number) + UInt32(firstCount)
    let segment = 31 - shifted.leadingZeroBitCount - firstBits
    return (segment, Int(shifted) - firstCount << segment)
  }
}
