import Foundation

/// What a piece of work did to a store, so that a later run can tell what is left to do.
package struct StoreReceipt: Sendable {
  package let id: String
  /// The name of what the work was done on, if it has one.
  package let source: String?
  package let version: Int
  package let state: String
  package let date: Date
  /// Increases with each change.
  package let revision: Int
  /// How many entries are of finished work.
  package let moved: Int
  /// How many further entries are of unfinished work.
  package let pending: Int
  /// What the source was, and how many items it held, when nothing was left to do.
  package var mark: (text: String, count: Int)?

  package init(
    id: String, source: String?, version: Int, state: String, date: Date, revision: Int, moved: Int,
    pending: Int,
    mark: (text: String, count: Int)? = nil
  ) {
    self.id = id
    self.source = source
    self.version = version
    self.state = state
    self.date = date
    self.revision = revision
    self.moved = moved
    self.pending = pending
    self.mark = mark
  }
}
