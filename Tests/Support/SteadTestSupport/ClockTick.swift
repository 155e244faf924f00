import Foundation

/// Waits until the system's clock shows another millisecond, which is what edits are stamped with.
///
/// A pause of a few milliseconds is no guarantee: the clock may be set back meanwhile.
package func nextMillisecond() async {
  func milliseconds() -> Int64 { Int64(Date.now.timeIntervalSince1970 * 1000) }
  let start = milliseconds()
  while milliseconds() == start { await Task.yield() }
}
