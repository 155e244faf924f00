import CSteadSecrets
import Foundation

extension Data {
  /// Zeroes the bytes where they are, which is of use only while nobody else has a copy.
  package mutating func wipe() {
    withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      stead_wipe(start, bytes.count)
    }
  }
}
