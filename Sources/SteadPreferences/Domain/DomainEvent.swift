import Foundation
import SteadFiles

/// What became of one key.
struct DomainChange: Sendable {
  var key: String
  var old: PropertyList?
  var new: PropertyList?
}

/// What one write, or a look at the file, has changed.
struct DomainEvent: Sendable {
  /// Which of its domain's events it is, from 1 on.
  var number: UInt64
  var changes: [DomainChange]
  /// Whether this process wrote it.
  var isOwn: Bool
}
