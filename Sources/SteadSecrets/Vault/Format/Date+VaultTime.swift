import Foundation

extension Date {
  /// A time in microseconds since 1970.
  init(vaultTime: UInt64) { self.init(timeIntervalSince1970: Double(vaultTime) / 1e6) }

  /// The time in microseconds since 1970; times before that count as 1970.
  var vaultTime: UInt64 {
    UInt64(exactly: (max(timeIntervalSince1970, 0) * 1e6).rounded()) ?? 0
  }
}
