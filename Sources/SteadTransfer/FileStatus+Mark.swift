import Foundation
import SteadFiles

extension FileStatus {
  /// Whether the last change is so long ago that a further one would have another time.
  var isSettled: Bool {
    let age = Date().timeIntervalSince(changed)
    // A time in the future proves nothing, and waiting for it would take too long.
    return age < 0 || age >= Self.settlingTime
  }

  /// A string that differs once a settled file has changed.
  var mark: String {
    let changed = changed.timeIntervalSinceReferenceDate
    return "\(identity.device).\(identity.file) \(size) \(modifiedNanoseconds) \(changed)"
  }
}
