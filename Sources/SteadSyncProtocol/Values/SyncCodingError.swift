/// The error of bytes that cannot be decoded.
///
/// Its message names the place and never a value.
package struct SyncCodingError: Error, Hashable, Sendable {
  /// The kind of error, to compare.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name { case malformed, unsupportedVersion, unexpected, limit }
    private let name: Name
    private init(_ name: Name) { self.name = name }

    /// The code's name, for logs and metrics.
    package var description: String { "\(name)" }

    /// The bytes aren't JSON in UTF-8.
    package static let malformed = Code(.malformed)
    /// The message has a later version than this code supports.
    package static let unsupportedVersion = Code(.unsupportedVersion)
    /// The JSON isn't the message that was expected.
    package static let unexpected = Code(.unexpected)
    /// A limit is exceeded.
    package static let limit = Code(.limit)
  }

  package var code: Code
  package var message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
