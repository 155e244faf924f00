/// An invariant that does not hold.
public struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
  /// I0 to I15, as SyncProtocol.md lists them.
  public var invariant: Int
  public var message: String

  init(_ invariant: Int, _ message: String) {
    self.invariant = invariant
    self.message = message
  }

  public var description: String { "I\(invariant): \(message)" }
}
