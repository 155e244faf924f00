import Foundation
import SteadTestSupport

/// What a cache may hold, worked out slowly and plainly.
///
/// Of what was set, the cache may have removed only what it had to: a value whose own size, and the sizes of all that
/// were set after it or used, are together more than the limit. When a use counts is open, since the cache writes it
/// down later.
struct DiskReference {
  struct Value {
    var data: Data
    var metadata = Data()
    var stored: Int
    var expires: Int?
    var tag: Int?
    /// The step that set it.
    var setAt: Int
    var wasUsed = false
    var mayBeGone = false

    func size(_ key: Int) -> Int {
      "\(key)".utf8.count + data.count + metadata.count + (tag == nil ? 0 : 4 + 1)
    }

    func isValid(_ now: Int) -> Bool { stored <= now && expires.map { now < $0 } ?? true }
  }

  let limits: (size: Int, count: Int)
  private(set) var values: [Int: Value] = [:]
  private var step = 0
  private(set) var now = 0

  init(_ limits: (size: Int, count: Int)) { self.limits = limits }

  mutating func nextStep() { step += 1 }

  /// What has expired may be removed, and stays so when the clock is set back.
  mutating func pass(_ seconds: Int) {
    now += seconds
    for (key, value) in values where value.expires.map({ $0 <= now }) ?? false {
      values[key]?.mayBeGone = true
    }
  }

  /// Returns whether the value fits into the cache at all.
  mutating func set(_ key: Int, _ data: Data, seconds: Int?, tag: Int?) -> Bool {
    let value = Value(
      data: data, stored: now, expires: seconds.map { now + $0 }, tag: tag, setAt: step)
    guard value.size(key) <= limits.size else { return false }
    values[key] = nil
    press(adding: value.size(key), 1)
    values[key] = value
    return true
  }

  /// Marks what may have gone to make room.
  private mutating func press(adding size: Int, _ count: Int) {
    for (key, value) in values {
      let newer = values.filter {
        $0.key != key && ($0.value.wasUsed || $0.value.setAt > value.setAt)
      }
      let sum = newer.reduce(value.size(key) + size) { $0 + $1.value.size($1.key) }
      if sum > limits.size || newer.count + 1 + count > limits.count {
        values[key]?.mayBeGone = true
      }
    }
  }

  /// What is wrong with what a get found; nil when nothing is.
  mutating func check(_ key: Int, found: Data?, metadata: Data?) -> String? {
    guard let value = values[key], value.isValid(now) else {
      return found == nil ? nil : "found \(key), which was not there"
    }
    guard let found else {
      guard value.mayBeGone else { return "did not find \(key)" }
      values[key] = nil
      return nil
    }
    values[key]?.wasUsed = true
    return found == value.data && metadata == value.metadata ? nil : "found other bytes for \(key)"
  }

  mutating func setMetadata(_ key: Int, _ metadata: Data) -> Bool {
    guard var value = values[key] else { return false }
    value.metadata = metadata
    guard value.size(key) <= limits.size else { return false }
    // The entry becomes the newest, and others may have to go.
    value.setAt = step
    values[key] = nil
    press(adding: value.size(key), 1)
    values[key] = value
    return true
  }

  mutating func remove(where isOne: (Int, Value) -> Bool) {
    values = values.filter { !isOne($0.key, $0.value) }
  }

  /// The most that can be there.
  var size: Int { values.reduce(0) { $0 + $1.value.size($1.key) } }
}

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
