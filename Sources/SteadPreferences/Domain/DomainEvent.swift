import Foundation
import SteadFiles

/// The changes of one write, or of one look at the file.
struct DomainEvent: Sendable {
  /// The change of one key.
  struct Change: Sendable {
    var key: String
    var old: PropertyList?
    var new: PropertyList?
  }

  /// The event's number in its domain, from 1 on.
  var number: UInt64
  var changes: [Change]
  /// Whether this process wrote it.
  var isOwn: Bool
}
