import Synchronization

/// A token bucket for each device or address.
final class RateLimiter: Sendable {
  /// The maximum number of buckets. Full ones are dropped first, which changes nothing.
  static let maximumBuckets = 100_000

  private struct Bucket {
    var tokens: Double
    var filled: Int64
  }

  private let rate: Double
  private let burst: Double
  private let buckets = Mutex<[String: Bucket]>([:])

  /// A limiter that allows a number of requests per second on average, and a number at once.
  init(perSecond rate: Double, burst: Double) {
    self.rate = rate
    self.burst = burst
  }

  /// Takes one token. If none is left, returns the seconds until the next one.
  func take(_ name: String, now: Int64) -> Int? {
    buckets.withLock { buckets in
      if buckets.count >= Self.maximumBuckets, buckets[name] == nil { prune(&buckets, now: now) }
      var bucket = buckets[name] ?? Bucket(tokens: burst, filled: now)
      bucket.tokens = level(of: bucket, now: now)
      bucket.filled = max(now, bucket.filled)
      defer { buckets[name] = bucket }
      guard bucket.tokens >= 1 else {
        return max(1, Int(((1 - bucket.tokens) / rate).rounded(.up)))
      }
      bucket.tokens -= 1
      return nil
    }
  }

  private func level(of bucket: Bucket, now: Int64) -> Double {
    min(burst, bucket.tokens + Double(max(0, now - bucket.filled)) / 1_000 * rate)
  }

  private func prune(_ buckets: inout [String: Bucket], now: Int64) {
    buckets = buckets.filter { level(of: $0.value, now: now) < burst }
    // All are in use. Without them, each device and address starts with a full bucket again.
    if buckets.count >= Self.maximumBuckets { buckets.removeAll(keepingCapacity: true) }
  }
}
