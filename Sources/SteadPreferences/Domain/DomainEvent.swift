import Foundation
import SteadFiles

/// What one write, or a look at the file, has changed.
struct DomainEvent: Sendable {
  /// What became of one key.
  struct Change: Sendable {
    var key: String
    var old: PropertyList?
    var new: PropertyList?
  }

  /// Which of its domain's events it is, from 1 on.
  var number: UInt64
  var changes: [Change]
  /// Whether this process wrote it.
  var isOwn: Bool
}
