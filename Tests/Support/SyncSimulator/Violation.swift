/// An invariant that does not hold.
package struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
  /// I0 to I15, as SyncProtocol.md lists them.
  package var invariant: Int
  package var message: String

  init(_ invariant: Int, _ message: String) {
    self.invariant = invariant
    self.message = message
  }

  package var description: String { "I\(invariant): \(message)" }
}
