/// A failure of the database.
///
/// The message holds the engine's code, never its own text: PostgreSQL quotes values there.
struct EngineError: Error, Sendable, Equatable {
  enum Code: Sendable {
    /// Another transaction conflicted; the same work may succeed if it is run again.
    case retry
    /// The connection was lost. A commit in progress may have succeeded.
    case disconnected
    /// The disk is full or failed.
    case storage
    /// Too much work is waiting.
    case overloaded
    /// The engine was closed.
    case closed
    case other
  }

  var code: Code
  var message: String

  static let unexpectedType = EngineError(
    code: .other, message: "A column has a value of an unexpected type; check the database.")
  static let closed = EngineError(
    code: .closed, message: "The server is shutting down; send the request again.")
  static let overloaded = EngineError(
    code: .overloaded, message: "Too much work is waiting for the database; try again.")
}
