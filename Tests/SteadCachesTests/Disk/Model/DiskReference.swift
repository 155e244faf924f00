import Foundation

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
