import Synchronization

/// How often each entry was used since the policy looked at it last, up to a limit.
///
/// The counters of entries are bytes in pieces of memory that never move: the first has ``firstCount`` of them,
/// each further one twice as many as the one before. So readers count while other threads add entries.
///
/// A reader holds the lock of the entry's shelf, the policy that of the cache's control. They may touch a byte at the
/// same time; then a use may be lost, but nothing else.
// Sendable: bytes are touched with atomic operations alone, and pieces are added before an entry of theirs
// is on a shelf.
@usableFromInline struct UseCounters: @unchecked Sendable {
  /// The greatest count: as much as the policy can tell apart.
  @inlinable static var limit: UInt8 { 15 }
  @inlinable static var firstBits: Int { 6 }
  @inlinable static var firstCount: Int { 1 << firstBits }
  @usableFromInline static var pieceLimit: Int { 32 - firstBits }

  @usableFromInline let pieces: UnsafeMutablePointer<UnsafeMutablePointer<Atomic<UInt8>>?>

  init() {
    pieces = .allocate(capacity: Self.pieceLimit)
    pieces.initialize(repeating: nil, count: Self.pieceLimit)
  }

  /// Called once nobody reads any more.
  func deallocate() {
    for piece in 0..<Self.pieceLimit { pieces[piece]?.deallocate() }
    pieces.deallocate()
  }

  /// Makes a counter, which is zero.
  func add(_ number: Int32) {
    let (piece, place) = Self.place(number)
    if pieces[piece] == nil {
      let count = Self.firstCount << piece
      let counters = UnsafeMutablePointer<Atomic<UInt8>>.allocate(capacity: count)
      for number in 0..<count { (counters + number).initialize(to: Atomic(0)) }
      pieces[piece] = counters
    }
    pieces[piece]?[place].store(0, ordering: .relaxed)
  }

  @inlinable func countUse(_ number: Int32) {
    let (piece, place) = Self.place(number)
    guard let counters = pieces[piece] else { return }
    let count = counters[place].load(ordering: .relaxed)
    if count < Self.limit { counters[place].store(count + 1, ordering: .relaxed) }
  }

  func uses(_ number: Int32) -> Int {
    let (piece, place) = Self.place(number)
    return Int(pieces[piece]?[place].load(ordering: .relaxed) ?? 0)
  }

  func reset(_ number: Int32) {
    let (piece, place) = Self.place(number)
    pieces[piece]?[place].store(0, ordering: .relaxed)
  }

  @inlinable static func place(_ number: Int32) -> (piece: Int, place: Int) {
    let shifted = UInt32(bitPattern: number) + UInt32(firstCount)
    let piece = 31 - shifted.leadingZeroBitCount - firstBits
    return (piece, Int(shifted) - firstCount << piece)
  }
}
