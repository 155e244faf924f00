import Hummingbird
import Logging
import NIOCore

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
