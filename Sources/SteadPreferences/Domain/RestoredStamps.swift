import Foundation
import SteadFiles

/// The stamps of values that are written again after a loss, in the record that restores them.
///
/// The record begins with the removal of a key that nobody sets, whose name has the stamps. Older versions remove
/// nothing, and read the rest as usual.
enum RestoredStamps {
  private static let prefix = "\0stead.stamps\0"

  /// The edit that a restoring record begins with.
  static func edit(_ stamps: [Journal.Stamp]) -> DomainEdit {
    let words = stamps.flatMap { [$0.generation, $0.offset] }
    return DomainEdit(
      key: prefix + words.map { String($0, radix: 16) }.joined(separator: " "), value: nil)
  }

  /// The stamps of the operations that follow; nil if the operation is an ordinary one.
  static func stamps(_ key: String, _ value: PropertyList?) -> [Journal.Stamp]? {
    guard value == nil, key.utf8.first == 0, key.hasPrefix(prefix) else { return nil }
    let words = key.dropFirst(prefix.count).split(separator: " ").map { UInt64($0, radix: 16) ?? 0 }
    return stride(from: 0, to: words.count - 1, by: 2).map {
      Journal.Stamp(generation: words[$0], offset: words[$0 + 1])
    }
  }
}
