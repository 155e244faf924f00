import Hummingbird

/// Admits requests with a valid access token, within the device's rate limit.
struct AccessMiddleware: RouterMiddleware {
  let tokens: VerifiedTokens
  let clock: ServerClock
  let limiter: RateLimiter

  func handle(
    _ request: Request, context: ServerContext,
    next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    let header = request.headers[.authorization] ?? ""
    guard header.hasPrefix("Bearer ") else {
      _ = try context.caller
      return try await next(request, context)
    }
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
