import BenchmarkHarness
import Foundation
import SteadCaches

/// `MemoryCache`, full, beside a dictionary behind a lock and Foundation's `NSCache`.
enum MemoryMeasures {
  private static let entryCount = 10_000
  private static let callCount = 1_000_000
  private static let threadCount = 8
  private static let batch = 64

  static var comparisons: [Comparison] {
    [get, getText, getThreads, mixedThreads, getNSCache, set, load]
  }

  /// Keys in a random order, each as often as the others; every one is in the cache.
  private static let order: [Int] = {
    var random = SystemRandomNumberGenerator()
    return (0..<callCount).map { _ in Int.random(in: 0..<entryCount, using: &random) }
  }()

  private static func filledCache<Key>(_ key: (Int) -> Key) -> MemoryCache<Key, Int> {
    let cache = MemoryCache<Key, Int>(countLimit: entryCount)
    for number in 0..<entryCount { cache.setValue(number, for: key(number)) }
    return cache
  }

  private static func filledDictionary<Key>(_ key: (Int) -> Key) -> LockedDictionary<Key, Int> {
    let dictionary = LockedDictionary<Key, Int>()
    for number in 0..<entryCount { dictionary.setValue(number, for: key(number)) }
    return dictionary
  }

  /// Nanoseconds for each key.
  private static func time<Key>(_ keys: [Key], _ value: (Key) -> Int?) -> Double {
    let time = timed {
      var sum = 0
      for key in keys { sum &+= value(key) ?? 0 }
      return sum
    }
    return time / Double(keys.count)
  }

  private static var get: Comparison {
    Comparison(
      name: "memory-get", title: "get, Int keys, one thread: Stead / dictionary behind a lock",
      limit: .ratio(1.5)
    ) { _ in
      let (cache, dictionary) = (filledCache { $0 }, filledDictionary { $0 })
      return [
        .init(name: "Stead") { time(order) { cache.value(for: $0) } },
        .init(name: "dictionary") { time(order) { dictionary.value(for: $0) } },
      ]
    }
  }

  private static func text(_ number: Int) -> String { "https://example.com/images/\(number).png" }

  private static var getText: Comparison {
    Comparison(
      name: "memory-get-text",
      title: "get, String keys, one thread: Stead / dictionary behind a lock", limit: .ratio(1.5)
    ) { _ in
      let keys = order.map(text)
      let (cache, dictionary) = (filledCache(text), filledDictionary(text))
      return [
        .init(name: "Stead") { time(keys) { cache.value(for: $0) } },
        .init(name: "dictionary") { time(keys) { dictionary.value(for: $0) } },
      ]
    }
  }

  /// Nanoseconds for each call of all threads; each takes keys in another order.
  private static func timeOfCrowd(_ body: @escaping @Sendable (Int) -> Int?) -> Double {
    let order = order
    return Crowd.timeOfCall(threads: threadCount) { _ in
      let start = Int.random(in: 0..<order.count - batch)
      var sum = 0
      for key in order[start..<start + batch] { sum &+= body(key) ?? 0 }
      keep(sum)
      return batch
    }
  }

  private static var getThreads: Comparison {
    Comparison(
      name: "memory-get-threads", title: "get, 8 threads: Stead / dictionary behind a lock",
      limit: .ratio(1)
    ) { _ in
      let (cache, dictionary) = (filledCache { $0 }, filledDictionary { $0 })
      return [
        .init(name: "Stead") { timeOfCrowd { cache.value(for: $0) } },
        .init(name: "dictionary") { timeOfCrowd { dictionary.value(for: $0) } },
      ]
    }
  }

  private static var mixedThreads: Comparison {
    Comparison(
      name: "memory-mixed-threads",
      title: "8 threads, one set of a present key in 16 calls: Stead / dictionary behind a lock"
    ) { _ in
      let (cache, dictionary) = (filledCache { $0 }, filledDictionary { $0 })
      return [
        .init(name: "Stead") {
          timeOfCrowd { key in
            if key & 15 == 0 { cache.setValue(key, for: key) }
            return cache.value(for: key)
          }
        },
        .init(name: "dictionary") {
          timeOfCrowd { key in
            if key & 15 == 0 { dictionary.setValue(key, for: key) }
            return dictionary.value(for: key)
          }
        },
      ]
    }
  }

  private static var getNSCache: Comparison {
    Comparison(
      name: "memory-get-nscache", title: "get, objects as keys: Stead's ObjectCache / NSCache",
      limit: .ratio(1)
    ) { _ in
      let objects = (0..<entryCount).map { NSNumber(value: $0) }
      let keys = order.map { objects[$0] }
      let cache = ObjectCache<NSNumber, NSNumber>()
      let foundation = NSCache<NSNumber, NSNumber>()
      for object in objects {
        cache.setObject(object, forKey: object)
        foundation.setObject(object, forKey: object)
      }
      return [
        .init(name: "Stead") { time(keys) { cache.object(forKey: $0) === nil ? 0 : 1 } },
        .init(name: "NSCache") { time(keys) { foundation.object(forKey: $0) === nil ? 0 : 1 } },
      ]
    }
  }

  private static var set: Comparison {
    Comparison(
      name: "memory-set", title: "set a new key, full, one goes each time: Stead / NSCache",
      limit: .ratio(1)
    ) { _ in
      let cache = filledCache { $0 }
      let foundation = NSCache<NSNumber, NSNumber>()
      foundation.countLimit = entryCount
      let objects = (0..<callCount / 10).map { NSNumber(value: $0) }
      var next = entryCount
      return [
        .init(name: "Stead") {
          let first = next
          next += objects.count
          return timed {
            for number in 0..<objects.count { cache.setValue(number, for: first + number) }
          } / Double(objects.count)
        },
        .init(name: "NSCache") {
          timed { for object in objects { foundation.setObject(object, forKey: object) } }
            / Double(objects.count)
        },
      ]
    }
  }

  private static var load: Comparison {
    Comparison(
      name: "memory-load", title: "a value that is there, with a loader, 10 us",
      limit: .time(10_000)
    ) { _ in
      let cache = filledCache { $0 }
      return [
        .init(name: "Stead") {
          let end = DispatchSemaphore(value: 0)
          let time = timed {
            Task {
              for key in order.prefix(callCount / 10) {
                _ = try await cache.value(for: key, orLoad: { 0 })
              }
              end.signal()
            }
            end.wait()
          }
          return time / Double(callCount / 10)
        }
      ]
    }
  }
}
