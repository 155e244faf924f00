/// The time and the author of an edit. Stamps have a total order: time, counter, device, bump.
///
/// A device never makes two equal stamps for two edits.
package struct Stamp: Hashable, Sendable {
  /// Milliseconds since 1970 by the hybrid clock, 0 to 2^48 - 1.
  package var milliseconds: Int64
  /// Distinguishes edits within one millisecond.
  package var counter: UInt16
  /// The device that edited.
  package var device: DeviceID
  /// How often a server has repaired the value. A repaired value is above the original, and below any later edit.
  package var bump: UInt16

  /// The greatest time: the year 10889.
  package static let millisecondsLimit: Int64 = (1 << 48) - 1

  /// Makes a stamp. A time outside 48 bits is clamped.
  package init(milliseconds: Int64, counter: UInt16 = 0, device: DeviceID, bump: UInt16 = 0) {
    self.milliseconds = min(max(milliseconds, 0), Self.millisecondsLimit)
    self.counter = counter
    self.device = device
    self.bump = bump
  }

  /// The stamp of a repair of a value with this stamp.
  package var bumped: Stamp {
    var result = self
    if result.bump < .max { result.bump += 1 }
    return result
  }
}

extension Stamp: Comparable {
  package static func < (one: Stamp, other: Stamp) -> Bool {
    if one.milliseconds != other.milliseconds { return one.milliseconds < other.milliseconds }
    if one.counter != other.counter { return one.counter < other.counter }
    if one.device != other.device { return one.device < other.device }
    return one.bump < other.bump
  }
}
