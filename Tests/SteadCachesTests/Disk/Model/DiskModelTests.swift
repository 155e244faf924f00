import CachesTestSupport
import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Random calls against a cache and against a plain reference, from seeds that a failure prints.
@Suite(.hangLimit) struct DiskModelTests {
  private static let sequenceCount = Effort.times(300, long: 100_000)
  private static let length = 24
  private static let threadCount = 2

  @Test func `a cache is what its reference allows`() async throws {
    let fault = try await inOwnThread { try Self.firstFault() }
    #expect(fault == nil, "\(fault ?? "")")
  }

  private static func firstFault() throws -> String? {
    let failure = Mutex<UInt64?>(nil)
    let first = Effort.seed
    try inThreads(threadCount) { thread in
      for number in stride(from: thread, to: sequenceCount, by: threadCount) {
        let seed = first &+ UInt64(number)
        let isOver = failure.withLock { $0 != nil }
        if isOver { return }
        if try DiskSequence(seed: seed, length: length).divergence() != nil {
          failure.withLock { $0 = $0 ?? seed }
        }
      }
    }
    guard let seed = failure.withLock({ $0 }) else { return nil }
    let shortest = try DiskSequence(seed: seed, length: length).shrunk()
    return "seed \(seed): \(try shortest.divergence() ?? "none now")\n\(shortest)"
  }
}

/// A random sequence of calls, run against a cache and its reference.
struct DiskSequence: CustomStringConvertible {
  let profile: DiskProfile
  var steps: [DiskStep]

  init(seed: UInt64, length: Int) {
    var random = SplitMix(seed: seed)
    let profile = DiskProfile.all[Int(seed % UInt64(DiskProfile.all.count))]
    self.profile = profile
    steps = (0..<length).map { _ in DiskStep(profile, using: &random) }
  }

  var description: String { steps.map(\.description).joined(separator: "\n") }

  /// What differs between the cache and the reference first; nil when nothing does.
  func divergence() throws -> String? {
    var trial = try DiskTrial(profile)
    for (number, step) in steps.enumerated() {
      if let difference = try trial.run(step) { return "step \(number), \(step): \(difference)" }
    }
    return trial.checkAll()
  }

  /// The sequence without the steps that a divergence does not need.
  func shrunk() throws -> DiskSequence {
    var shorter = self
    var number = 0
    while number < shorter.steps.count {
      var attempt = shorter
      attempt.steps.remove(at: number)
      if try attempt.divergence() == nil { number += 1 } else { shorter = attempt }
    }
    return shorter
  }
}

/// A cache and its reference on their way through a sequence.
private struct DiskTrial {
  private var fixture: CacheFixture
  private var caches: [DiskCache]
  private var reference: DiskReference
  private let limits: DiskCache.Limits
  private var time = 0
  private var setCount: UInt64 = 0

  init(_ profile: DiskProfile) throws {
    fixture = try CacheFixture()
    limits = .init(totalSizeLimit: profile.limits.size, countLimit: profile.limits.count)
    caches = [fixture.cache(limits), fixture.cache(limits)]
    reference = DiskReference(profile.limits)
  }

  mutating func run(_ step: DiskStep) throws -> String? {
    reference.nextStep()
    if let difference = try act(step) { return difference }
    // One that has been opened again removes what has expired when it is first used.
    for cache in caches { _ = cache.count }
    let (size, count) = (caches[0].totalSize, caches[0].count)
    guard size <= limits.totalSizeLimit, count <= limits.countLimit else {
      return "exceeds a limit"
    }
    guard caches[1].totalSize == size, caches[1].count == count else { return "counts differ" }
    return nil
  }

  /// All that is there is what was set, and the counts are those of what is there.
  mutating func checkAll() -> String? {
    for key in 0..<DiskStep.keyCount { if let difference = get(0, key) { return difference } }
    caches[0].removeExpired()
    let found = (0..<DiskStep.keyCount).filter { caches[0].data(for: "\($0)") != nil }
    let size = found.reduce(0) { $0 + (reference.values[$1]?.size($1) ?? 0) }
    // What a clock that was set back has made invalid is counted all the same.
    let future = reference.values.filter { $0.value.stored > reference.now }
    let most = future.reduce(size) { $0 + $1.value.size($1.key) }
    guard size <= caches[0].totalSize, caches[0].totalSize <= most else { return "counts wrongly" }
    return fixture.valueNames.count <= caches[0].count ? nil : "leaves files"
  }

  private mutating func get(_ object: Int, _ key: Int) -> String? {
    let entry = caches[object].entry(for: "\(key)")
    return reference.check(key, found: entry?.data, metadata: entry?.metadata)
  }

  private mutating func value(_ size: Int) -> Data {
    setCount += 1
    return CacheFixture.bytes(size, seed: setCount)
  }

  private mutating func act(_ step: DiskStep) throws -> String? {
    switch step {
    case .set(let object, let key, let size, let seconds, let tag):
      let data = value(size)
      let isSet = caches[object].setData(
        data, for: "\(key)", timeToLive: seconds.map { .seconds($0) },
        tags: tag.map { ["\($0)"] } ?? [])
      return isSet == reference.set(key, data, seconds: seconds, tag: tag) ? nil : "set is \(isSet)"
    case .write(let object, let key, let size, let isCommitted):
      let data = value(size)
      let writer = caches[object].writer(for: "\(key)")
      writer.append(data.prefix(size / 2))
      writer.append(data.dropFirst(size / 2))
      guard isCommitted else { return nil }
      return writer.commit() == reference.set(key, data, seconds: nil, tag: nil)
        ? nil : "commit isn't what it should be"
    case .get(let object, let key): return get(object, key)
    case .setMetadata(let object, let key, let size):
      if let difference = get(object, key) { return difference }
      guard let entry = caches[object].entry(for: "\(key)") else { return nil }
      let data = value(size)
      let isSet = caches[object].setMetadata(data, for: "\(key)", ifStoredAs: entry.id)
      return isSet == reference.setMetadata(key, data) ? nil : "setting metadata is \(isSet)"
    default:
      try remove(step)
      return nil
    }
  }

  private mutating func remove(_ step: DiskStep) throws {
    switch step {
    case .remove(let object, let key):
      caches[object].removeValue(for: "\(key)")
      reference.remove { one, _ in one == key }
    case .removeTagged(let object, let tag):
      caches[object].removeValues(taggedWith: "\(tag)")
      reference.remove { $1.tag == tag }
    case .removeSince(let object, let seconds):
      caches[object].removeValues(storedSince: fixture.now - Double(seconds))
      let moment = reference.now - seconds
      reference.remove { $1.stored >= moment }
    case .removeExpired(let object): caches[object].removeExpired()
    case .removeAll(let object):
      caches[object].removeAll()
      reference.remove { _, _ in true }
    case .passTime(let seconds):
      fixture.now += Double(seconds)
      reference.pass(seconds)
    case .reopen(let object): caches[object] = fixture.cache(limits)
    case .kill:
      let copy = try CacheFixture()
      // The cache makes its directory when it is first used.
      if FileManager.default.fileExists(atPath: fixture.url.filePath) {
        try FileManager.default.copyItem(at: fixture.url, to: copy.url)
      }
      copy.now = fixture.now
      caches = [copy.cache(limits), copy.cache(limits)]
      fixture = copy
    default: break
    }
  }
}
