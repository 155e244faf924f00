import Foundation

/// What can be kept as a secret: text, as UTF-8, and bytes.
///
/// For other values, see ``Secrets/setValue(_:for:label:attributes:requirements:)`` and
/// ``SecretBytes/init(encoding:)``.
public protocol SecretContent {
  /// A copy of the bytes to keep.
  var secretBytes: SecretBytes { get }
}

extension SecretBytes: SecretContent {
  /// The object itself.
  public var secretBytes: SecretBytes { self }
}

extension Data: SecretContent {
  /// A copy; this data's own memory is not zeroed.
  public var secretBytes: SecretBytes { SecretBytes(self) }
}

extension String: SecretContent {
  /// The text as UTF-8; this text's own memory is not zeroed.
  public var secretBytes: SecretBytes { SecretBytes(self) }
}

extension [UInt8]: SecretContent {
  /// A copy; this array's own memory is not zeroed.
  public var secretBytes: SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}
