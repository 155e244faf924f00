/// One pair of rows, and the position of each in the other's list.
package struct RowPair: Hashable, Sendable {
  package let owner: Int64
  package let target: Int64
  /// The target's position in the owner's list; nil for the order of insertion.
  package let ownerOrder: Int64?
  /// The owner's position in the target's list; nil for the order of insertion.
  package let targetOrder: Int64?

  package init(owner: Int64, target: Int64, ownerOrder: Int64?, targetOrder: Int64?) {
    self.owner = owner
    self.target = target
    self.ownerOrder = ownerOrder
    self.targetOrder = targetOrder
  }
}
