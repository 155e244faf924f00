import Hummingbird
import Logging
import NIOCore

/// What belongs to one request.
struct ServerContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The address at the other end of the connection.
  let connection: String
  /// Who sends the request; nil where no token is needed.
  var token: AccessToken?

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    connection = source.channel.remoteAddress?.ipAddress ?? "unknown"
  }

  /// Who sends the request. Throws ``ServerError`` where the route has no authentication.
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
