import CForkSupport
import Foundation

/// A child of a fork.
///
/// Swift hides `fork`, since a program with threads may do little in the child; programs do it anyway. The
/// child has the thread that forked and no other, so it may not use Dispatch, nor wait for a task. A test
/// forks in an exit test, so that what its process holds is not doubled.
package struct ForkedChild {
  /// A child that hangs ends after so many seconds: it does not inherit its parent's alarm.
  private static let timeLimit: UInt32 = 240

  package let id: pid_t

  /// - Parameter body: Runs in the child, which ends with 0 afterwards, or with 1 when this throws.
  package init(_ body: () throws -> Void) throws {
    id = stead_test_fork()
    if id == 0 {
      alarm(Self.timeLimit)
      do {
        try body()
      } catch {
        say("error in a child: \(error)")
        stead_test_exit(1)
      }
      // What `exit` would run belongs to the parent.
      stead_test_exit(0)
    }
    guard id > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EAGAIN) }
  }

  /// Waits for its end: the exit status, or minus the number of the signal that ended it.
  package func finish() -> Int32 { stead_test_wait(id) }

  /// Waits for the end of all, and says which of them failed.
  package static func finish(_ children: [ForkedChild]) {
    for child in children {
      let status = child.finish()
      if status != 0 { say("error a child ended with \(status)") }
    }
  }
}
