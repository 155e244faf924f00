/// What a destination is to write for the items of a batch.
struct ElementBatch<Element> {
  /// What is written, in the source's order.
  var elements: [Element]
  /// What is not written, since what has its place is kept.
  var kept: [Kept] = []
  /// What becomes of elements whose places are taken.
  var rule: TransferOptions.ConflictRule

  /// An element that is not written.
  struct Kept {
    var element: Element
    var holder: PlaceHolder
  }

  init(_ elements: [Element], _ rule: TransferOptions.ConflictRule = .stop) {
    self.elements = elements
    self.rule = rule
  }
}

/// What has the place of an element.
enum PlaceHolder: Equatable {
  /// Something in the destination, by its place there.
  case stored(String)
  /// Another element of the batch, by its index.
  case element(Int)
}

/// An element whose place in the destination is taken.
struct PlaceConflict {
  var element: Int
  /// What has the place; nil where it cannot be kept instead of the element.
  var holder: PlaceHolder?
  var failure: TransferFailure
}

/// What a destination has written, before it is committed.
struct WrittenElements {
  /// Where each element, in order, has gone.
  var placements: [TransferPlacement]
  /// How many of the elements have replaced something.
  var replacedCount = 0
}
