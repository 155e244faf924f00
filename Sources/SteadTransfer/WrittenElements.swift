/// What a destination has written, before it is committed.
struct WrittenElements {
  /// Where each element, in order, has gone.
  var placements: [TransferPlacement]
  /// How many of the elements have replaced something.
  var replacedCount = 0
}
