import Foundation
import Testing

@testable import SteadFiles

/// A disk on which a test acts as another program at a certain call.
final class InterferingDisk: ForwardingDisk {
  /// The call at which the other program acts: before it opens or links, and after it has looked up a name.
  enum Call: Sendable { case open, link, status }

  private struct Plan {
    var call: Call
    var path: String
    var callsLeft: Int
    var body: @Sendable () throws -> Void
  }

  let real = POSIXDisk()
  private let plan = ForkSafeLock<Plan?>(nil)

  /// Whether the other program has acted.
  var hasActed: Bool { plan.withLock { $0 == nil } }

  /// Lets `body` act once, at the call with a number for a path.
  func act(
    at call: Call, _ path: String, number: Int = 1, _ body: @escaping @Sendable () throws -> Void
  ) {
    plan.withLock { $0 = Plan(call: call, path: path, callsLeft: number, body: body) }
  }

  private func reach(_ call: Call, _ path: String) {
    let body = plan.withLock { plan -> (@Sendable () throws -> Void)? in
      guard let found = plan, found.call == call, found.path == path else { return nil }
      plan?.callsLeft -= 1
      guard found.callsLeft == 1 else { return nil }
      plan = nil
      return found.body
    }
    do { try body?() } catch { Issue.record(error) }
  }

  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    reach(.open, path)
    return try real.open(path, flags, mode: mode)
  }

  func link(_ path: String, to newPath: String) throws {
    reach(.link, path)
    try real.link(path, to: newPath)
  }

  func status(at path: String) throws -> FileStatus? {
    let found = try real.status(at: path)
    reach(.status, path)
    return found
  }
}
