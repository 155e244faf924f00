import Foundation

/// What a load has given, and the bytes that are stored of it.
struct LoadedValue: Sendable {
  let value: any Sendable
  /// Nil when the value was in the cache already, or can't be encoded.
  let bytes: Data?
  /// The number of the entry that was found and could not be used.
  var unusable: Int64?
}
