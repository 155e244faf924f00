import Foundation

/// What a piece of work did to a store, so that a later run can tell what is left to do.
package struct StoreReceipt: Sendable {
  /// One thing that was written, and where.
  package struct Item: Sendable, Equatable {
    /// Whether the work on the item is unfinished.
    package let isPending: Bool
    package let identity: String
    package let place: String
    package let digest: String

    package init(isPending: Bool, identity: String, place: String, digest: String) {
      self.isPending = isPending
      self.identity = identity
      self.place = place
      self.digest = digest
    }
  }

  let id: String
  package let version: Int
  package let state: String
  package let date: Date

  package init(id: String, version: Int, state: String, date: Date) {
    self.id = id
    self.version = version
    self.state = state
    self.date = date
  }
}
