/// What other policies make of a trace, in slow and obvious lines.
package enum PlainPolicy: String, CaseIterable, Sendable {
  /// The entry goes that came first.
  case fifo
  /// The entry goes that was used longest ago.
  case lru
  /// The entry goes that is used again last, as nobody can know: no cache has more hits.
  case optimal

  /// The share of the requests that the policy's cache answers.
  package func hitRatio(_ trace: Trace) -> Double {
    let hits =
      switch self {
      case .fifo: Self.hits(trace, movesOnHit: false)
      case .lru: Self.hits(trace, movesOnHit: true)
      case .optimal: Self.optimalHits(trace)
      }
    return Double(hits) / Double(trace.requests.count)
  }

  private static func hits(_ trace: Trace, movesOnHit: Bool) -> Int {
    // Each key's last place in the queue; earlier ones do not count any more.
    var places: [Int: Int] = [:]
    var queue: [Int] = []
    var (first, hits) = (0, 0)
    for key in trace.requests {
      if places[key] != nil {
        hits += 1
        if !movesOnHit { continue }
      } else {
        while places.count == trace.cacheSize {
          if places[queue[first]] == first { places[queue[first]] = nil }
          first += 1
        }
      }
      places[key] = queue.count
      queue.append(key)
    }
    return hits
  }

  private static func optimalHits(_ trace: Trace) -> Int {
    let uses = nextUses(trace.requests)
    // The next use of each key in the cache, and all of these, the last one first. Old ones stay in the heap.
    var next: [Int: Int] = [:]
    var heap = Heap()
    var hits = 0
    for (place, key) in trace.requests.enumerated() {
      if next[key] != nil {
        hits += 1
      } else if next.count == trace.cacheSize {
        while let last = heap.removeLast() {
          guard next[last.key] == last.use else { continue }
          next[last.key] = nil
          break
        }
      }
      next[key] = uses[place]
      heap.add((uses[place], key))
    }
    return hits
  }

  /// Where each request's key comes again.
  private static func nextUses(_ requests: [Int]) -> [Int] {
    var seen: [Int: Int] = [:]
    var uses = [Int](repeating: 0, count: requests.count)
    for place in requests.indices.reversed() {
      // Keys that never come again differ, or one could be taken for another's old entry.
      uses[place] = seen[requests[place]] ?? requests.count + place
      seen[requests[place]] = place
    }
    return uses
  }
}

/// A binary heap with the latest use at the top.
private struct Heap {
  private var entries: [(use: Int, key: Int)] = []

  mutating func add(_ entry: (use: Int, key: Int)) {
    entries.append(entry)
    var place = entries.count - 1
    while place > 0, entries[(place - 1) / 2].use < entries[place].use {
      entries.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  mutating func removeLast() -> (use: Int, key: Int)? {
    guard let top = entries.first else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var place = 0
    while true {
      var largest = place
      for child in [place * 2 + 1, place * 2 + 2] where child < entries.count {
        if entries[child].use > entries[largest].use { largest = child }
      }
      if largest == place { return top }
      entries.swapAt(place, largest)
      place = largest
    }
  }
}
