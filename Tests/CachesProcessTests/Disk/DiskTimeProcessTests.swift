import Foundation
import SteadTestSupport
import Testing

/// How long the values of two processes live, and when they are loaded again, in memory, on disk, or where the disk took
/// none.
@Suite(.hangLimit, .serialized) struct DiskTimeProcessTests {
  /// What the two processes have.
  static let pairs = [["layered", "layered"], ["layered", "disk"], ["disk", "disk"]]
  private static let steps = [0, 0, 0, 1, 1, 3, 7, 13, 15, 16, 20]

  @Test(arguments: pairs, 0..<UInt64(Effort.times(2)))
  func `a value lives as long as any process uses it`(pair: [String], seed: UInt64) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let path = directory.url.file("cache").filePath
    let workers = try pair.map {
      try WorkerProcess([WorkerProcess.program("CachesWorker"), "disk-times", path, $0])
    }
    for worker in workers { try #require(worker.line() == "ready") }
    var random = SplitMix(seed: seed)
    var reference = TimesReference()
    var story: [String] = []
    for number in 0..<200 {
      reference.now += Self.steps[Int.random(in: 0..<Self.steps.count, using: &random)]
      let process = Int.random(in: 0..<2, using: &random)
      let key = Bool.random(using: &random) ? "a" : "b"
      let isLarge = pair[process] == "layered" && Bool.random(using: &random)
      let call: TimesReference.Call =
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6: .get
        case 6..<8: .set(isLarge ? "L\(number)" : "\(number)")
        case 8..<11: .load("\(number)")
        default: .remove
        }
      let line = reference.line(call, key)
      workers[process].send(line)
      let answer = try #require(workers[process].line())
      story.append("\(process): \(line) -> \(answer)")
      if let fault = reference.fault(process, key, call, answer) {
        return #expect(Bool(false), "\(fault)\n\(story.suffix(40).joined(separator: "\n"))")
      }
    }
    for worker in workers {
      worker.endInput()
      #expect(worker.rest() == [] && worker.finish() == 0)
    }
  }
}

/// What a cache on disk and each process's memory above it have, with dictionaries.
private struct TimesReference {
  enum Call {
    case get, remove
    case set(String)
    case load(String)
  }

  private struct Value {
    let name: String
    let storedAt: Int
    var usedAt: Int
    /// Whether nothing but time has happened that a value in memory alone may be dropped for.
    var isCertain = true
  }

  // Those of TimesWorker.
  private static let (timeToLive, timeToIdle, refreshAfter) = (100, 16, 40)
  /// A use is written down if the last one that was is an eighth of the time ago.
  private static let idleStep = timeToIdle / 8

  var now = 0
  private var disk: [String: Value] = [:]
  /// What the disk didn't take, for each process.
  private var memory: [[String: Value]] = [[:], [:]]

  func line(_ call: Call, _ key: String) -> String {
    switch call {
    case .get: return "get \(now) \(key)"
    case .remove: return "remove \(now) \(key)"
    case .set(let name): return "set \(now) \(key) \(name)"
    case .load(let name):
      let old = ([disk[key]] + memory.map { $0[key] }).compactMap(\.self).filter(isOld)
      return (["load \(now) \(key) \(name)"] + old.map(\.name)).joined(separator: " ")
    }
  }

  private func isOld(_ value: Value) -> Bool { now - value.storedAt >= Self.refreshAfter }

  /// What is wrong with an answer; nil if nothing is.
  mutating func fault(_ process: Int, _ key: String, _ call: Call, _ answer: String) -> String? {
    // Whatever a process does may write to the disk, if only that a value was used.
    for name in memory[1 - process].keys { memory[1 - process][name]?.isCertain = false }
    switch call {
    case .get: return lookUp(process, key, answer)
    case .remove:
      (disk[key], memory[process][key]) = (nil, nil)
      return answer == "true" ? nil : "not removed"
    case .set(let name):
      let isLarge = name.hasPrefix("L")
      set(process, key, name, isLarge: isLarge)
      return answer == "\(!isLarge)" ? nil : "set says \(answer)"
    case .load(let name):
      let words = answer.split(separator: " ").map(String.init)
      guard words.count == 2 else { return "load says \(answer)" }
      let found = memory[process][key].flatMap { $0.name == words[0] ? $0 : nil } ?? disk[key]
      if let fault = lookUp(process, key, words[0] == name ? "none" : words[0]) { return fault }
      let isLoaded = words[0] == name || found.map(isOld) == true
      if isLoaded { set(process, key, name, isLarge: false) }
      return words[1] == (isLoaded ? "1" : "0") ? nil : "\(words[1]) loads"
    }
  }

  private mutating func set(_ process: Int, _ key: String, _ name: String, isLarge: Bool) {
    let value = Value(name: name, storedAt: now, usedAt: now)
    disk[key] = isLarge ? nil : value
    memory[process][key] = isLarge ? value : nil
    // The disk has changed, so that the other one looks there.
    if !isLarge { memory[1 - process][key] = nil }
  }

  private mutating func lookUp(_ process: Int, _ key: String, _ answer: String) -> String? {
    if let value = memory[process][key] {
      if value.name == answer {
        memory[process][key]?.usedAt = now
      } else {
        memory[process][key] = nil
      }
      if value.name == answer || isCertain(value) { return fault(value, answer) }
    }
    guard let value = disk[key] else { return answer == "none" ? nil : "\(answer) is nowhere" }
    if value.name == answer { disk[key]?.usedAt = now } else { disk[key] = nil }
    return fault(value, answer)
  }

  private func isCertain(_ value: Value) -> Bool {
    value.isCertain && now - value.storedAt < Self.timeToLive
      && now - value.usedAt < Self.timeToIdle - Self.idleStep
  }

  private func fault(_ value: Value, _ answer: String) -> String? {
    let isOver =
      now - value.storedAt >= Self.timeToLive || now - value.usedAt >= Self.timeToIdle
    if answer == value.name { return isOver ? "\(answer) has expired" : nil }
    if answer != "none" { return "\(answer) is not \(value.name)" }
    return isCertain(value) ? "\(value.name) is gone" : nil
  }
}
