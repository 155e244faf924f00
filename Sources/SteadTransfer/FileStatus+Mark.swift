import Foundation
import SteadFiles

extension FileStatus {
  /// Whether the last change is so long ago that a further one would have another time.
  var isSettled: Bool {
    let age = Date().timeIntervalSince(changed)
    // A time in the future says nothing, and would be waited for in vain.
    return age < 0 || age >= Self.settlingTime
  }

  /// What is another text once a settled file has changed.
  var mark: String {
    let changed = changed.timeIntervalSinceReferenceDate
    return "\(identity.device).\(identity.file) \(size) \(modifiedNanoseconds) \(changed)"
  }
}
