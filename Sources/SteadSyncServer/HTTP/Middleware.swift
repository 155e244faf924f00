#if Server
import Foundation
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Admits requests with a valid access token, within the device's rate limit. It doesn't read the database: each
/// route checks in its own transaction whether the device was revoked.
struct AccessMiddleware: RouterMiddleware {
  let tokens: VerifiedTokens
  let clock: ServerClock
  let limiter: RateLimiter

  /// Verifies the token, counts the request for its device, and passes it on with the token in its context.
  ///
  /// - Throws: ``ServerError``: `unauthorized`, and `tooMany` beyond the device's rate limit.
  func handle(
    _ request: Request, context: ServerContext,
    next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    let header = request.headers[.authorization] ?? ""
    guard header.hasPrefix("Bearer ") else {
      // Throws the error for a missing token.
      _ = try context.caller
      return try await next(request, context)
    }
    // The token is verified before the limiter counts the request. Otherwise a stranger could use up the limit of a
    // device by its name.
    let token = try tokens.token(String(header.dropFirst(7)))
    try limiter.admit("device:" + token.device, clock: clock)
    context.token = token
    return try await next(request, context)
  }
}

extension RateLimiter {
  /// Throws ``ServerError`` with the seconds to wait if the rate limit is reached.
  func admit(_ name: String, clock: ServerClock) throws {
    guard let seconds = take(name, now: clock.now) else { return }
    throw ServerError(
      .tooMany, "Too many requests.", remedy: "Wait as long as Retry-After says.",
      retryAfter: seconds)
  }
}

/// Turns errors into answers, counts requests and writes the log. The log has the route, never the requested address
/// or a value.
///
/// It is the outermost middleware: an error of another one is answered and counted, too.
struct AnswerMiddleware: RouterMiddleware {
  let metrics: Metrics

  /// Answers a request and counts it. Never throws: an error that left it would become an answer of Hummingbird's,
  /// without a remedy and perhaps with a value.
  func handle(
    _ request: Request, context: ServerContext,
    next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    var response: Response
    var failure: ServerError?
    var cause: (any Error)?
    do {
      response = try await next(request, context)
    } catch {
      let known = Answer.error(for: error)
      failure = known
      cause = error
      response = Answer.failure(known)
    }
    let duration = start.duration(to: .now)
    let seconds =
      Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    // The pattern of the route: the address itself names a zone.
    let route = context.endpointPath ?? "none"
    metrics.count(
      method: request.method.rawValue, route: route, status: response.status.code, seconds: seconds)
    var fields: Logger.Metadata = [
      "method": "\(request.method.rawValue)", "route": "\(route)",
      "status": "\(response.status.code)", "ms": "\((seconds * 100_000).rounded() / 100)",
    ]
    if let failure { fields["error"] = "\(failure.code)" }
    // The engine's codes, which contain no values.
    if let cause = cause as? EngineError { fields["cause"] = "\(cause.message)" }
    // A full quota isn't the server's fault.
    let isFault = response.status.code >= 500 && failure?.code != .quota
    let level: Logger.Level = isFault ? .error : .info
    context.logger.log(level: level, "request", metadata: fields)
    return response
  }
}

/// The context of one request.
struct ServerContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The address at the other end of the connection.
  let connection: String
  /// The sender of the request; nil if the route needs no token.
  var token: AccessToken?

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    connection = source.channel.remoteAddress?.ipAddress ?? "unknown"
  }

  /// The sender of the request. Throws ``ServerError`` if the route has no authentication.
  var caller: AccessToken {
    get throws {
      guard let token else {
        throw ServerError(
          .unauthorized, "The request has no access token.",
          remedy: "Send one in the header Authorization, after the word Bearer.")
      }
      return token
    }
  }
}

/// A token bucket for each device or address: a request takes a token, and tokens come back at a steady rate up to
/// the burst. Thread-safe; a mutex is held for a few operations, and over all buckets once they are
/// ``maximumBuckets``.
final class RateLimiter: Sendable {
  /// The maximum number of buckets. Full ones are dropped first, which changes nothing.
  static let maximumBuckets = 100_000

  /// The tokens of a device or an address, and the time for which they were counted, in
  /// milliseconds.
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

  /// Takes one token. If none is left, returns the seconds until the next one, at least 1.
  ///
  /// Invariant: a bucket never has more tokens than the burst, and its time never goes back. If the clock was set
  /// back, tokens come again once it has caught up.
  func take(_ name: String, now: Int64) -> Int? {
    buckets.withLock { buckets in
      // Only for a new name: one that is known needs no room.
      if buckets.count >= Self.maximumBuckets, buckets[name] == nil { prune(&buckets, now: now) }
      var bucket = buckets[name] ?? Bucket(tokens: burst, filled: now)
      bucket.tokens = level(of: bucket, now: now)
      bucket.filled = max(now, bucket.filled)
      // Also if the request is refused: the level and its time have changed.
      defer { buckets[name] = bucket }
      guard bucket.tokens >= 1 else {
        // Rounded up, so that a client that waits as long finds a token.
        return max(1, Int(((1 - bucket.tokens) / rate).rounded(.up)))
      }
      bucket.tokens -= 1
      return nil
    }
  }

  /// The tokens of a bucket now. They are computed when they are needed, so no timer fills buckets.
  private func level(of bucket: Bucket, now: Int64) -> Double {
    min(burst, bucket.tokens + Double(max(0, now - bucket.filled)) / 1_000 * rate)
  }

  /// Drops full buckets, which are like new ones. Costs a pass over all buckets.
  private func prune(_ buckets: inout [String: Bucket], now: Int64) {
    buckets = buckets.filter { level(of: $0.value, now: now) < burst }
    // All are in use. Without them, each device and address starts with a full bucket again.
    if buckets.count >= Self.maximumBuckets { buckets.removeAll(keepingCapacity: true) }
  }
}
#endif
