import Foundation

/// Why one entry does not decode.
struct UndecodableCause: Error, Sendable {
  var reason: UndecodablePayload.Reason
  var message: String
  var cause: (any Error)?
}

extension UndecodableCause {
  /// Wraps an error of a payload's own decoding. Descriptions of such errors may contain values; field names do not.
  init(decoding error: any Error) {
    self.init(
      reason: .doesNotDecode, message: Self.message(for: error), cause: error)
  }

  static func newerVersion(_ version: Int) -> UndecodableCause {
    UndecodableCause(
      reason: .newerVersion,
      message: "It has version \(version), which is newer than this program supports; update.")
  }

  private static func message(for error: any Error) -> String {
    switch error as? DecodingError {
    case .keyNotFound(let key, let context)?:
      "The field \(path(context.codingPath + [key])) is missing."
    case .valueNotFound(_, let context)?:
      "The field \(path(context.codingPath)) is null."
    case .typeMismatch(_, let context)?:
      "The field \(path(context.codingPath)) has another type."
    case .dataCorrupted(let context)? where !context.codingPath.isEmpty:
      "The field \(path(context.codingPath)) has a value that its type does not allow."
    case .dataCorrupted?: "It isn't JSON."
    default: "It could not be decoded."
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}
