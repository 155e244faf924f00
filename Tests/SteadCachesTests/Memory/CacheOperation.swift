import SteadTestSupport

/// One call of a random sequence. Keys are few, so that calls meet.
enum CacheOperation {
  case set(key: Int, cost: Int, timeToLive: Duration?)
  case get(key: Int)
  case remove(key: Int)
  case removeAll
  case removeExpired
  case advance(Duration)
  case countLimit(Int)
  case totalCostLimit(Int)
  case pressure(isCritical: Bool)

  static let keyCount = 12

  static func random(using random: inout SplitMix) -> CacheOperation {
    let key = Int.random(in: 0..<keyCount, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<45:
      let isMortal = Int.random(in: 0..<3, using: &random) == 0
      let cost = Int.random(in: 0..<20, using: &random) == 0 ? 60 : key % 5
      return .set(
        key: key, cost: cost,
        timeToLive: isMortal ? .milliseconds(Int.random(in: 0...2_000, using: &random)) : nil)
    case 45..<70: return .get(key: key)
    case 70..<77: return .remove(key: key)
    case 77..<78: return .removeAll
    case 78..<82: return .removeExpired
    case 82..<92: return .advance(.milliseconds(Int.random(in: 0...900, using: &random)))
    case 92..<95:
      return .countLimit([0, 1, 2, 5, 10, .max].randomElement(using: &random) ?? 1)
    case 95..<98:
      return .totalCostLimit([0, 1, 8, 20, 40, .max].randomElement(using: &random) ?? 1)
    default: return .pressure(isCritical: Bool.random(using: &random))
    }
  }
}
