import SteadTestSupport

/// One call of a random sequence. Two objects use the cache, as two programs would.
enum DiskStep: CustomStringConvertible {
  case set(Int, key: Int, size: Int, seconds: Int?, tag: Int?)
  case write(Int, key: Int, size: Int, isCommitted: Bool)
  case get(Int, key: Int)
  case setMetadata(Int, key: Int, size: Int)
  case remove(Int, key: Int)
  case removeTagged(Int, tag: Int)
  case removeSince(Int, seconds: Int)
  case removeExpired(Int)
  case removeAll(Int)
  case passTime(seconds: Int)
  case reopen(Int)
  /// The files as they would be after `kill -9`, and new objects on them.
  case kill

  static let keyCount = 8

  init(_ profile: DiskProfile, using random: inout SplitMix) {
    let object = Int.random(in: 0..<2, using: &random)
    let key = Int.random(in: 0..<Self.keyCount, using: &random)
    let size = profile.sizes.randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<14:
      self = .set(
        object, key: key, size: size,
        seconds: [nil, nil, nil, 5, 20].randomElement(using: &random) ?? nil,
        tag: [nil, nil, 0, 1].randomElement(using: &random) ?? nil)
    case 14..<17:
      self = .write(
        object, key: key, size: size, isCommitted: Int.random(in: 0..<4, using: &random) > 0)
    case 17..<28: self = .get(object, key: key)
    case 28..<30:
      self = .setMetadata(object, key: key, size: Int.random(in: 0..<200, using: &random))
    case 30..<32: self = .remove(object, key: key)
    case 32: self = .removeTagged(object, tag: Int.random(in: 0..<2, using: &random))
    case 33: self = .removeSince(object, seconds: Int.random(in: 0..<10, using: &random))
    case 34: self = .removeExpired(object)
    case 35..<38: self = .passTime(seconds: [1, 2, 5, 10, -3].randomElement(using: &random) ?? 1)
    case 38:
      self =
        Int.random(in: 0..<4, using: &random) == 0 ? .removeAll(object) : .get(object, key: key)
    default: self = Int.random(in: 0..<4, using: &random) == 0 ? .kill : .reopen(object)
    }
  }

  var description: String {
    switch self {
    case .set(let object, let key, let size, let seconds, let tag):
      "cache \(object): set \(key) to \(size) bytes for \(seconds.map { "\($0) s" } ?? "ever"), tag \(tag ?? -1)"
    case .write(let object, let key, let size, let isCommitted):
      "cache \(object): write \(size) bytes for \(key), \(isCommitted ? "commit" : "abandon")"
    case .get(let object, let key): "cache \(object): get \(key)"
    case .setMetadata(let object, let key, let size):
      "cache \(object): set \(size) bytes of metadata of \(key)"
    case .remove(let object, let key): "cache \(object): remove \(key)"
    case .removeTagged(let object, let tag): "cache \(object): remove tag \(tag)"
    case .removeSince(let object, let seconds):
      "cache \(object): remove those of the last \(seconds) s"
    case .removeExpired(let object): "cache \(object): remove expired"
    case .removeAll(let object): "cache \(object): remove all"
    case .passTime(let seconds): "pass \(seconds) s"
    case .reopen(let object): "cache \(object): reopen"
    case .kill: "kill"
    }
  }
}

/// What a sequence works with.
struct DiskProfile {
  let limits: (size: Int, count: Int)
  let sizes: [Int]

  static let all = [
    DiskProfile(limits: (100_000, 100), sizes: [0, 1, 100, 5_000]),
    DiskProfile(limits: (3_000, 100), sizes: [0, 1, 300, 900, 1_500, 4_000]),
    DiskProfile(limits: (100_000, 4), sizes: [10, 300]),
    DiskProfile(limits: (400_000, 100), sizes: [10, 5_000, 131_072, 150_000]),
  ]
}
