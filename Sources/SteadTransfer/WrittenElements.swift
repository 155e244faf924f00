/// The elements that a destination has written, before the commit.
struct WrittenElements {
  /// The place of each element, in order.
  var placements: [TransferPlacement]
  /// How many of the elements have replaced something.
  var replacedCount = 0
}
