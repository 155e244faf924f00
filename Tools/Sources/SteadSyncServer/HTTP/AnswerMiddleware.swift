import Hummingbird
import Logging

/// Turns errors into answers, counts requests and writes the log. The log has the route, never the requested address
/// or a value.
struct AnswerMiddleware: RouterMiddleware {
  let metrics: Metrics

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
