import Foundation

/// Content that can be stored as a secret: strings, as UTF-8, and bytes.
///
/// For other values, see ``Secrets/setValue(_:for:label:attributes:requirements:)`` and
/// ``SecretBytes/init(encoding:)``.
public protocol SecretContent {
  /// A copy of the bytes to store.
  var secretBytes: SecretBytes { get }
}

extension SecretBytes: SecretContent {
  /// The object itself.
  public var secretBytes: SecretBytes { self }
}

extension Data: SecretContent {
  /// A copy; this data's own memory isn't zeroed.
  public var secretBytes: SecretBytes { SecretBytes(self) }
}

extension String: SecretContent {
  /// The string as UTF-8; the string's own memory isn't zeroed.
  public var secretBytes: SecretBytes { SecretBytes(self) }
}

extension [UInt8]: SecretContent {
  /// A copy; this array's own memory isn't zeroed.
  public var secretBytes: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}
