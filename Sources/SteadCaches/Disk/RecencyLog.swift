import Synchronization

/// Which entries were used since their last use was written down, in the order of use.
///
/// A get writes nothing. It notes the entry here, and each set writes down a few uses.
final class RecencyLog: Sendable {
  /// The fewest uses that are remembered; at twice as many the older half is forgotten. 24 bytes each.
  static let capacity = 16_384
  /// The most uses that one set writes down, at some 10 us each.
  static let usesPerSet = 16

  private let uses = Mutex(Uses())

  /// Notes that the entry with a stamp was used.
  func note(_ stamp: Int64) { uses.withLock { $0.note(stamp) } }

  /// Removes a stamp, and returns whether the entry was used.
  func remove(_ stamp: Int64) -> Bool { uses.withLock { $0.remove(stamp) } }

  /// Removes the oldest uses, and returns their stamps.
  func takeOldest(_ limit: Int = usesPerSet) -> [Int64] { uses.withLock { $0.takeOldest(limit) } }

  func removeAll() { uses.withLock { $0 = Uses() } }
}

private struct Uses {
  /// A stamp of an entry's last use, as the file has it, and where in `order` its newest use is.
  private var positions: [Int64: Int] = [:]
  /// Stamps in the order of use. An entry that was used again later appears twice, and its first position is void.
  private var order: [Int64] = []
  private var start = 0

  mutating func note(_ stamp: Int64) {
    if order.last == stamp { return }
    if order.count >= 2 * RecencyLog.capacity { compact() }
    positions[stamp] = order.count
    order.append(stamp)
  }

  mutating func remove(_ stamp: Int64) -> Bool { positions.removeValue(forKey: stamp) != nil }

  mutating func takeOldest(_ limit: Int) -> [Int64] {
    var taken: [Int64] = []
    while taken.count < limit, start < order.count {
      let stamp = order[start]
      if positions[stamp] == start {
        positions[stamp] = nil
        taken.append(stamp)
      }
      start += 1
    }
    if start == order.count {
      order.removeAll(keepingCapacity: true)
      start = 0
    }
    return taken
  }

  private mutating func compact() {
    let used = order.indices.dropFirst(start).filter { positions[order[$0]] == $0 }
    order = used.suffix(RecencyLog.capacity).map { order[$0] }
    start = 0
    positions = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
  }
}
