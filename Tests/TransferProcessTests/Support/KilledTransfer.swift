import Foundation
import Testing

/// A transfer that is killed again and again, with new items between the kills, and what must be where.
struct KilledTransfer {
  /// How many kills happened while the source alone, both, or the destination alone had the new items.
  struct Places {
    var source = 0
    var both = 0
    var destination = 0
  }

  private(set) var places = Places()
  /// The phase that was last heard of before each kill.
  private(set) var phases: [String: Int] = [:]

  private let place: TransferPlace
  private var random: SplitMix
  /// All texts that were ever put into the source, as often as they were.
  private var expected: [String: Int] = [:]
  private var number = 0
  /// How many times progress was told by the last run that came to its end.
  private var lastCount = 40

  init(_ workload: String, seed: UInt64) throws {
    place = try TransferPlace(workload)
    random = SplitMix(seed: seed)
  }

  /// Adds items, kills a run at a random point, and looks; lets the next come to its end, and looks again.
  mutating func killAndFinish() throws {
    let new = try addItems()
    try kill()
    try checkNothingIsLost(new)
    try finish()
    try checkEverythingIsThereOnce()
  }

  /// Some are equal to others, which must not be taken for one.
  private mutating func addItems() throws -> Set<String> {
    var new: Set<String> = []
    var drafts: [String] = []
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      number += 1
      let text = Int.random(in: 0..<4, using: &random) == 0 ? "twin \(number)" : "draft \(number)"
      let copies = text.hasPrefix("twin") ? 2 : 1
      for _ in 0..<copies { drafts.append(text) }
      expected[text, default: 0] += copies
      new.insert(text)
    }
    try place.add(drafts)
    return new
  }

  /// Half of the kills come when the run tells of a step, the others at any moment.
  private mutating func kill() throws {
    let isAtStep = Bool.random(using: &random)
    let step = Int.random(in: 1...lastCount, using: &random)
    let worker = try isAtStep ? place.worker("run", "\(step)") : place.worker("run")
    var last = "opening"
    if !isAtStep {
      for _ in 0..<step {
        guard let line = worker.line() else { break }
        last = String(line.split(separator: " ")[0])
      }
      // Another moment each time, without waiting for a clock.
      for _ in 0..<Int.random(in: 0..<20_000, using: &random) { _ = random.next() }
      worker.end()
    }
    for line in worker.rest() {
      last = String(line.split(separator: " ")[0])
      if last == "error" { Issue.record("\(line)") }
    }
    worker.finish()
    phases[last, default: 0] += 1
  }

  private mutating func finish() throws {
    let worker = try place.worker("run")
    let lines = worker.rest()
    #expect(worker.finish() == 0, "\(lines.suffix(2))")
    lastCount = max(1, lines.count)
  }

  private mutating func checkNothingIsLost(_ new: Set<String>) throws {
    let left = place.left
    let moved = try place.moved()
    let counts = Self.counts(left + moved)
    for (text, count) in expected where counts[text, default: 0] < count {
      Issue.record("\(text) is lost: \(counts[text, default: 0]) of \(count)")
    }
    switch (new.isSubset(of: left), new.isSubset(of: moved)) {
    case (true, true): places.both += 1
    case (true, false): places.source += 1
    case (false, true): places.destination += 1
    case (false, false): Issue.record("the source was emptied in parts, or written in parts")
    }
  }

  private func checkEverythingIsThereOnce() throws {
    #expect(place.left.isEmpty)
    let counts = Self.counts(try place.moved())
    for (text, count) in expected where counts[text] != count {
      Issue.record("\(text) is there \(counts[text, default: 0]) times, not \(count)")
    }
    #expect(counts.count == expected.count)
  }

  private static func counts(_ texts: [String]) -> [String: Int] {
    texts.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }
}
