/// An item that was not moved, and why.
public struct TransferFailure: Sendable, CustomStringConvertible {
  /// The item's place in the source: an index, a key, a line. It never contains the item's value.
  public var item: String
  /// Why the item stays in the source.
  public var reason: String
  /// The error underneath.
  public var cause: (any Error)?

  /// A failure.
  public init(item: String, reason: String, cause: (any Error)? = nil) {
    self.item = item
    self.reason = reason
    self.cause = cause
  }

  /// Item and reason.
  public var description: String { "\(item): \(reason)" }
}
